from typing import Any

import pytest

from autogen_nb.core.ports import ModelRequest, Reading
from autogen_nb.messages import Usage
from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.models.remote.remote_model import Prompt
from autogen_nb.models.remote.server_errors import Server
from autogen_nb.testing import FakeOpenAI, FakeReply
from tests.models.asking import ask

TABLE = "id       name          value\n" + "17       Gentoo        4,218\n" * 2_000


def request(text: str) -> ModelRequest:
    return ModelRequest(({"role": "user", "content": text},))


def ollama(usage: dict[str, Any] | None = None) -> FakeOpenAI:
    return FakeOpenAI([FakeReply("Yes.", usage=usage or {"prompt_tokens": 4_096, "completion_tokens": 2})])


def test_prompt_that_the_server_cut_is_noted() -> None:
    with ollama() as server:
        model = OpenAIModel(model="qwen4", base_url=server.base_url)

        completion = ask(model, *request(TABLE).messages).completion

    assert "read only 4,096 of about 8,000 tokens" in completion.note
    assert "OLLAMA_CONTEXT_LENGTH" in completion.note
    assert "--ctx-size" in completion.note


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("word " * 3_000, 4_096), (" " * 90_000, 4_096), (TABLE, 40_000), (TABLE, 12), (TABLE, 0)],
    ids=["short", "white space", "whole", "only what is new", "no count"],
)
def test_prompt_that_may_be_whole_is_not_noted(text: str, tokens: int) -> None:
    with ollama({"prompt_tokens": tokens, "completion_tokens": 2}) as server:
        model = OpenAIModel(model="qwen4", base_url=server.base_url)

        assert ask(model, *request(text).messages).completion.note == ""


def test_setting_is_that_of_the_server_at_the_port() -> None:
    prompt = Prompt.of(request(TABLE), Server("m", "http://127.0.0.1:1234/v1"))

    note = prompt.note_on(Usage(4_096))
    assert "LM Studio" in note
    assert "OLLAMA" not in note


@pytest.mark.parametrize(("text", "tokens"), [(TABLE, [14_500]), ("Hi", [])], ids=["long", "short"])
def test_server_of_ones_own_is_said_to_read_a_long_prompt(text: str, tokens: list[int]) -> None:
    with ollama() as server:
        model = OpenAIModel(model="qwen4", base_url=server.base_url)
        pieces = ask(model, *request(text).messages).pieces

    assert [part.tokens for part in pieces if isinstance(part, Reading)] == tokens


def test_provider_is_not_said_to_read() -> None:
    assert not Prompt.of(request(TABLE), Server("m", "https://api.openai.com/v1")).is_long
