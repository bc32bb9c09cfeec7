"""Plays the scenarios with one module, and keeps what its models were asked."""

from typing import Any

from autogen_nb.testing.fake_openai import FakeOpenAI, Received
from tests.parity.scenarios import INTRODUCED, SCENARIOS, Record, Stage

_COMPARED = ("role", "content", "name", "tool_calls", "tool_call_id", "function_call")


def played(autogen: Any, name: str) -> Record:
    replies: dict[str, list[Any]] = {}
    asked: dict[str, list[Any]] = {}

    def answer(received: Received) -> Any:
        model = str(received.body["model"])
        asked.setdefault(model, []).append([_kept(message) for message in received.body["messages"]])
        return replies[model].pop(0)

    with FakeOpenAI(answer) as server:
        record = SCENARIOS[name](Stage(autogen, server.base_url, replies))
    return {**record, "asked": asked}


def _kept(message: dict[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    # What tells of an error, of an interruption, or of the members of a group, is worded by each library.
    if message.get("role") == "tool" or str(content).startswith("Error: ") or INTRODUCED in str(content):
        message = {**message, "content": "..."}
    return {key: message[key] for key in _COMPARED if message.get(key) is not None}
