import re
import sys
from importlib import import_module
from types import SimpleNamespace
from typing import Any, cast

import pytest

from autogen_nb import AssistantAgent, UserProxyAgent
from autogen_nb.agents.message_transforms import (
    MessageHistoryLimiter,
    MessageTokenLimiter,
    TextMessageContentName,
    TransformMessages,
)
from autogen_nb.testing import ScriptedModel


@pytest.fixture
def _words(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tokenizer by words, in place of the package tiktoken, which downloads its tokenizers."""
    words = SimpleNamespace(encode=re.compile(r"\s?\w+|\W").findall, decode="".join)
    tiktoken = SimpleNamespace(encoding_for_model=lambda _: words)
    monkeypatch.setitem(sys.modules, "tiktoken", cast("Any", tiktoken))


TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "hello"},
    {"role": "assistant", "content": [{"type": "text", "text": "are you doing?"}, {"type": "image_url"}]},
    {"role": "tool", "content": None},
    {"role": "user", "name": "ann", "content": "one two three four five"},
]
PARTS = [{"type": "text", "text": "are you"}, {"type": "image_url"}]


@pytest.mark.parametrize(
    ("transform", "contents"),
    [
        (MessageHistoryLimiter(), ["hello", TALK[1]["content"], None, "one two three four five"]),
        (MessageHistoryLimiter(1), ["one two three four five"]),
        (MessageHistoryLimiter(2), ["one two three four five"]),
        (MessageHistoryLimiter(2, keep_first_message=True), ["hello", "one two three four five"]),
        (MessageTokenLimiter(2), ["hello", PARTS, None, "one two"]),
        (MessageTokenLimiter(2, min_tokens=50), ["hello", TALK[1]["content"], None, "one two three four five"]),
        (
            MessageTokenLimiter(2, max_tokens=3),
            [[{"type": "text", "text": "are"}, {"type": "image_url"}], None, "one two"],
        ),
        (MessageTokenLimiter(2, filter_dict={"role": ["user"]}), ["hello", PARTS, None, "one two three four five"]),
        (
            MessageTokenLimiter(2, filter_dict={"name": "ann"}, exclude_filter=False),
            [*(m["content"] for m in TALK[:3]), "one two"],
        ),
        (TextMessageContentName(), ["hello", TALK[1]["content"], None, "ann:\none two three four five"]),
        (
            TextMessageContentName("end", " ({name})"),
            ["hello", TALK[1]["content"], None, "one two three four five (ann)"],
        ),
    ],
)
@pytest.mark.usefixtures("_words")
def test_a_transform_leaves_these_contents(transform: Any, contents: list[Any]) -> None:
    changed = transform.apply_transform(TALK)

    assert [message["content"] for message in changed] == contents
    assert transform.get_logs(TALK, changed)[1] == (contents != [message["content"] for message in TALK])


@pytest.mark.parametrize(
    "settings", [{"max_tokens": -1}, {"min_tokens": 9, "max_tokens": 1}, {"max_tokens_per_message": -1}]
)
def test_impossible_limits_are_errors(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="tokens"):
        MessageTokenLimiter(**settings)
    with pytest.raises(ValueError, match="max_messages"):
        MessageHistoryLimiter(0)


def test_the_model_gets_the_transformed_messages(capsys: pytest.CaptureFixture[str]) -> None:
    model = ScriptedModel(["first", "second"])
    assistant = AssistantAgent("assistant", llm_config=model, silent=True)
    TransformMessages(transforms=[MessageHistoryLimiter(1), TextMessageContentName()]).add_to_agent(assistant)
    user = UserProxyAgent("user", human_input_mode="NEVER", code_execution_config=False, default_auto_reply="go on")

    user.initiate_chat(assistant, message="begin", max_turns=2, silent=True)

    assert [[m["content"] for m in request.messages[1:]] for request in model.requests] == [
        ["user:\nbegin"],
        ["user:\ngo on"],
    ]
    assert len(user.chat_messages[assistant]) == 4
    assert "Left out 2 messages: 1 of 3 remain." in capsys.readouterr().out


@pytest.mark.usefixtures("_words")
def test_tokens_are_counted() -> None:
    tokens = import_module("autogen_nb.token_count_utils")

    assert tokens.count_token("very very long") == 3
    assert tokens.count_token([{"role": "user", "content": "very long"}]) == 9
    assert (tokens.get_max_token_limit("gpt-35-turbo"), tokens.get_max_token_limit("gpt-4o")) == (16385, 128000)
    assert tokens.token_left("very long", "gpt-4") == 8190
    with pytest.raises(KeyError):
        tokens.get_max_token_limit("llama")


def test_a_limit_without_tiktoken_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", None)

    with pytest.raises(ValueError, match="pip install tiktoken"):
        MessageTokenLimiter(2).apply_transform(TALK)


@pytest.mark.usefixtures("_words")
def test_a_limit_is_at_most_the_models_window() -> None:
    text = [{"role": "user", "content": "a " * 5000}]

    shortened = MessageTokenLimiter(max_tokens=9000).apply_transform(text)

    assert import_module("autogen_nb.token_count_utils").count_token(shortened[0]["content"]) == 4096
