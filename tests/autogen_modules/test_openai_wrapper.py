from pathlib import Path
from typing import Any

import pytest

from autogen_nb import Cache, OpenAIWrapper
from autogen_nb.errors import ModelError
from autogen_nb.testing import FakeOpenAI, FakeReply

HELLO = [{"role": "user", "content": "Hello?"}]
FAILURE = FakeReply(status=400)


def entry(server: FakeOpenAI, **more: Any) -> dict[str, Any]:
    return {"model": "fake", "base_url": server.base_url, "api_key": "k", "price": [1, 2], **more}


def test_a_reply_has_openais_form() -> None:
    call = {"name": "add", "arguments": "{}", "id": "c"}
    with FakeOpenAI(["Two words", FakeReply(tool_calls=[call])]) as server:
        client = OpenAIWrapper(config_list=[entry(server)])
        text, calls = client.create(messages=HELLO), client.create(prompt="Hello?")

    assert (text.choices[0].message.content, text.model, text.config_id) == ("Two words", "fake", 0)
    assert text.usage is not None
    assert (text.usage.total_tokens, text.cost) == (3, 0.005)
    assert client.extract_text_or_completion_object(text) == ["Two words"]
    assert client.extract_text_or_completion_object(calls)[0].tool_calls[0].function.name == "add"
    assert [request.body["messages"] for request in server.requests] == [HELLO, HELLO]


def test_the_next_entry_replies_if_one_fails_or_is_not_accepted() -> None:
    with FakeOpenAI([FAILURE, "no", "yes"]) as server:
        client = OpenAIWrapper(config_list=[entry(server, max_retries=0)] * 3)
        response = client.create(
            messages=HELLO,
            context={"good": "yes"},
            filter_func=lambda context, response: context["good"] in str(response),
        )

    assert (response.config_id, response.pass_filter) == (2, True)


def test_the_last_entrys_error_is_raised() -> None:
    with FakeOpenAI([FAILURE, FAILURE]) as server, pytest.raises(ModelError):
        OpenAIWrapper(config_list=[entry(server)] * 2).create(messages=HELLO)


def test_contents_are_templates_of_the_context() -> None:
    with FakeOpenAI(["ok", "ok", "ok"]) as server:
        client = OpenAIWrapper(config_list=[entry(server)])
        message = {"role": "user", "content": "for {who}"}
        for content, allowed in (("for {who}", True), ("for {who}", False), (lambda context: context["who"], False)):
            client.create(
                messages=[{**message, "content": content}], context={"who": "you"}, allow_format_str_template=allowed
            )

    assert [request.body["messages"][0]["content"] for request in server.requests] == ["for you", "for {who}", "you"]


def test_usage_counts_cached_replies_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FakeOpenAI(["Two words"]) as server:
        client = OpenAIWrapper(config_list=[entry(server)])
        assert (client.total_usage_summary, client.actual_usage_summary) == (None, None)
        for _ in range(2):
            client.create(messages=HELLO, cache=Cache.disk(1, tmp_path))
    total, actual = client.total_usage_summary, client.actual_usage_summary
    client.print_usage_summary()
    client.clear_usage_summary()

    assert total is not None
    assert actual is not None
    assert (total["total_cost"], actual["total_cost"]) == (0.01, 0.005)
    assert total["fake"] == {"cost": 0.01, "prompt_tokens": 2, "completion_tokens": 4, "total_tokens": 6}
    assert "without cached replies: $0.00500" in capsys.readouterr().out
    assert client.total_usage_summary is None


def test_a_request_has_messages_or_a_prompt() -> None:
    client = OpenAIWrapper(config_list=[{"model": "offline"}])

    for arguments in ({}, {"messages": HELLO, "prompt": "Hello?"}):
        with pytest.raises(ValueError, match="either messages or a prompt"):
            client.create(**arguments)
