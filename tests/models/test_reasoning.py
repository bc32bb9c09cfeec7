import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from autogen_nb import AssistantAgent, UserProxyAgent
from autogen_nb.core.ports import Model
from autogen_nb.event_json import from_json, to_json
from autogen_nb.events import CodeAsked, ModelReplied
from autogen_nb.messages import Completion, Reasoning
from autogen_nb.models.client_types import UserMessage
from autogen_nb.models.model_clients import OpenAIChatCompletionClient
from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.testing import FakeOpenAI, FakeReply, Received
from tests.models.asking import HELLO, TOOL, ask, pair

USAGE = {"prompt_tokens": 3, "completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 7}}
THOUGHT = "Is it safe?\n```python\nprint('thought')\n```\n"
ANSWER = "It is.\n```python\nprint('answered')\n```"


def parts(model: Model) -> tuple[str, str, Completion]:
    pieces, completion = ask(model)
    thought = "".join(piece.text for piece in pieces if isinstance(piece, Reasoning))
    return thought, "".join(piece for piece in pieces if isinstance(piece, str)), completion


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("text", "thought", "answer"),
    [
        (f"<think>{THOUGHT}", THOUGHT.strip(), ""),
        (f"{THOUGHT}</think>\n\n{ANSWER}", THOUGHT.strip(), ANSWER),
        ("In HTML:\n```html\n<think>x</think>\n```", None, "In HTML:\n```html\n<think>x</think>\n```"),
        ("<thi", None, "<thi"),
    ],
    ids=["unclosed", "unopened", "in a fence", "no tag"],
)
def test_tags_that_are_not_a_pair(
    server: FakeOpenAI, model: OpenAIModel, stream: bool, text: str, thought: str | None, answer: str
) -> None:
    body = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    server.add(
        FakeReply(text) if stream else FakeReply(body=json.dumps(body).encode(), content_type="application/json")
    )

    completion = parts(model)[2]

    assert (completion.reasoning.text if completion.reasoning else None) == thought
    assert completion.message.content == answer


@pytest.mark.slow
def test_only_the_code_of_the_answer_runs(server: FakeOpenAI, tmp_path: Path) -> None:
    server.add(f"<think>\n{THOUGHT}</think>\n{ANSWER}", FakeReply("TERMINATE", reasoning="That was all."))
    assistant = AssistantAgent(
        "assistant", llm_config={"model": "thinker", "base_url": server.base_url, "cache_seed": None}
    )
    user = UserProxyAgent(
        "user", human_input_mode="NEVER", code_execution_config={"work_dir": str(tmp_path), "use_docker": False}
    )

    result = user.initiate_chat(assistant, message="Is it?", silent=True)

    ran = [block.code for event in result.log if isinstance(event, CodeAsked) for block in event.blocks]
    replies = [event.completion for event in result.log if isinstance(event, ModelReplied)]
    thoughts = [reply.reasoning.text for reply in replies if reply.reasoning]
    sent = json.dumps([request.body for request in server.requests])
    assert ran == ["print('answered')"]
    assert thoughts == [THOUGHT.strip(), "That was all."]
    assert "Is it safe" not in sent + str(result.chat_history)
    assert "Is it?" in sent
    assert [from_json(to_json(event)) for event in result.log] == list(result.log)


def test_opaque_reasoning_is_sent_back_with_its_calls(server: FakeOpenAI, model: OpenAIModel) -> None:
    first = {"type": "reasoning.text", "index": 0, "text": "Add"}
    rest = {"type": "reasoning.text", "index": 0, "text": " them.", "signature": "s1g"}
    sealed = {"type": "reasoning.encrypted", "index": 1, "data": "c2VhbGVk"}
    signed = {"google": {"thought_signature": "c2lnbmVk"}}
    call = {"name": "add", "arguments": {"a": 1}, "id": "c1", "extra_content": signed}
    reply = FakeReply(None, tool_calls=[call], reasoning="Add them.", more={"reasoning_details": [first, rest, sealed]})
    server.add(reply, "2")
    assistant, user = pair({"model": "thinker", "base_url": server.base_url}, max_consecutive_auto_reply=1)

    user.initiate_chat(assistant, message="Add.", silent=True)

    asked = server.requests[1].body["messages"][-2]
    assert asked["reasoning_details"] == [{**first, **rest, "text": "Add them."}, sealed]
    assert asked["tool_calls"][0]["extra_content"] == signed
    assert not {"reasoning", "reasoning_content"} & set(asked)
    assert asked.get("content") is None


def deepseek(received: Received) -> FakeReply:
    """DeepSeek since V4: with tools, each of the assistant's messages needs its reasoning."""
    body = received.body
    lacks = [each for each in body["messages"] if each["role"] == "assistant" and "reasoning_content" not in each]
    if body.get("tools") and lacks:
        message = "The `reasoning_content` in the thinking mode must be passed back to the API."
        return FakeReply(status=400, error={"message": message, "type": "invalid_request_error", "param": None})
    if body["messages"][-1]["role"] == "tool":
        return FakeReply("It is 2.", reasoning="It returned 2.")
    return FakeReply(tool_calls=[{"name": "add", "arguments": {"a": 1}}], reasoning="Add them.")


def test_reasoning_content_goes_back_with_tools() -> None:
    with FakeOpenAI(deepseek) as server:
        assistant, user = pair({"model": "deepseek-v4", "base_url": server.base_url}, default_auto_reply="More.")

        result = user.initiate_chat(assistant, message="Add.", max_turns=4, silent=True)

        thoughts = [each.get("reasoning_content") for each in server.requests[-1].body["messages"]]
        assert list(filter(None, thoughts)) == ["Add them.", "It returned 2.", "Add them."]
        assert [event.completion.note for event in result.log if isinstance(event, ModelReplied)] == [""] * 4


def test_reasoning_content_does_not_go_to_another_host() -> None:
    with FakeOpenAI(deepseek) as server, FakeOpenAI(["Yes."]) as other:
        first = ask(OpenAIModel(model="v4", base_url=server.base_url), HELLO, tools=(TOOL,)).completion
        messages = (HELLO, first.message.history_entry("assistant", own=True))

        ask(OpenAIModel(model="v4", base_url=other.base_url), *messages, tools=(TOOL,))

        assert first.message.reasoning_details
        assert "Add them" not in json.dumps(other.requests[0].body)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning_details"])
def test_server_that_refuses_reasoning_is_asked_without(field: str) -> None:
    def strict(received: Received) -> FakeReply:
        if any(field in message for message in received.body["messages"]):
            return FakeReply(status=400, error=f"'messages.1' : property '{field}' is unsupported")
        return FakeReply("Yes.", more={"reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]})

    with FakeOpenAI(strict) as server:
        model = OpenAIModel(model="m", base_url=server.base_url)
        host = server.base_url.split("/")[2]
        kept = {
            "reasoning_content": {"type": "reasoning_content", "text": "Hm."},
            "reasoning_details": {"type": "reasoning.text", "text": "Hm."},
        }
        earlier = {"role": "assistant", "content": "So.", "reasoning_details": [{**kept[field], "host": host}]}

        completion = ask(model, HELLO, earlier, HELLO, tools=(TOOL,)).completion

        assert completion.message.text == "Yes."
        assert "does not accept the reasoning" in completion.note


def test_message_of_another_model_gets_empty_reasoning() -> None:
    with FakeOpenAI(deepseek) as server:
        model = OpenAIModel(model="deepseek-v4", base_url=server.base_url)

        completion = ask(model, HELLO, {"role": "assistant", "content": "So."}, HELLO, tools=(TOOL,)).completion

        assert completion.message.calls
        assert server.requests[1].body["messages"][1]["reasoning_content"] == ""


def test_a_client_tells_it_as_the_thought(server: FakeOpenAI) -> None:
    server.add(FakeReply("Yes.", reasoning="Hm."), "<think>Hm.</think>Yes.")
    client = OpenAIChatCompletionClient(model="thinker", base_url=server.base_url)

    async def asked() -> tuple[Any, list[Any]]:
        question = [UserMessage(content="?", source="user")]
        return await client.create(question), [part async for part in client.create_stream(question)]

    created, streamed = asyncio.run(asked())

    assert (created.content, created.thought) == ("Yes.", "Hm.")
    assert ("".join(streamed[:-1]), streamed[-1].content, streamed[-1].thought) == ("Yes.", "Yes.", "Hm.")
