"""The fake server, and a model that is on it."""

from collections.abc import Iterator

import pytest

from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.testing import FakeOpenAI

KEY = "sk-verysecretkey-of-mine"


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


@pytest.fixture
def model(server: FakeOpenAI) -> OpenAIModel:
    return OpenAIModel(model="gpt-x", base_url=server.base_url, api_key=KEY)
