"""Default cells on the models that OpenAI has now."""

from collections.abc import Iterator
from functools import partial

import pytest

from autogen_nb.testing import FakeOpenAI
from tests.models.openai_world import openai
from tests.notebook.front_end import FrontEnd

QUESTION = {"name": "ask_person", "arguments": {"question": "Which colour?", "choices": ["red", "blue"]}, "id": "c1"}

# This machine is `api.openai.com`, as a resolver may say.
RESOLVER = """\
import os, socket
if "real" not in globals():
    real = socket.getaddrinfo
def resolve(name, *args, **kwargs):
    plain = name.decode() if isinstance(name, bytes) else name
    return real("127.0.0.1" if plain == "api.openai.com" else name, *args, **kwargs)
socket.getaddrinfo = resolve
os.environ.update(OPENAI_BASE_URL={url!r}, OPENAI_API_KEY="sk-a-key-of-a-person", AUTOGEN_NB_MODEL="")
os.environ["no_proxy"] = "api.openai.com"
"""


@pytest.fixture
def server(fresh: FrontEnd) -> Iterator[FakeOpenAI]:
    with FakeOpenAI(partial(openai, calls=[QUESTION], text="Red it is. TERMINATE")) as fake:
        url = fake.base_url.replace("127.0.0.1", "api.openai.com")
        assert fresh.run(RESOLVER.format(url=url), "resolver").status == "ok"
        yield fake
    fresh.run("socket.getaddrinfo = real", "resolver")


@pytest.mark.parametrize("name", ["gpt-5.6", "gpt-5.3-codex"])
def test_default_cell_with_a_question(name: str, fresh: FrontEnd, server: FakeOpenAI) -> None:
    cell = fresh.start(f"%%autogen --new -m {name}\nPaint it.")
    fresh.click("blue")
    fresh.finish(cell)

    assert cell.status == "ok", cell.error
    assert {received.path for received in server.requests} == {"/v1/responses"}
    assert cell.about("message")[-1].splitlines()[-1] == "Red it is."
    assert "Let me think." in cell.html()


def test_setting_that_the_model_refuses_is_named_once(fresh: FrontEnd, server: FakeOpenAI) -> None:
    fresh.run(
        "import json; os.environ['OAI_CONFIG_LIST'] = json.dumps([dict(model='gpt-6-sol', temperature=0, "
        "base_url=os.environ['OPENAI_BASE_URL'])])",
        "list",
    )

    cell = fresh.start("%%autogen --new\nPaint it.")
    fresh.click("blue")
    fresh.finish(cell)

    assert cell.status == "ok", cell.error
    assert cell.text.count("does not accept `temperature`, which was left out") == 1
