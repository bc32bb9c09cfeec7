"""Plays the scenarios with one module, and keeps what its models were asked; or records what AutoGen 0.2 makes of them.

To record, in an environment of its own with ``autogen-agentchat==0.2.40`` and ``markdown-it-py``, from the project's
folder::

    python -m tests.parity.playing
"""

import json
from pathlib import Path
from typing import Any

from autogen_nb.testing.fake_openai import FakeOpenAI, Received
from tests.parity.scenarios import INTRODUCED, SCENARIOS, Record, Stage

RECORD = Path(__file__).with_name("autogen_0_2_40.json")
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
    if "histories" in record:
        record["histories"] = without_mirrors(record["histories"])
    return {**record, "asked": {model: _without_repetition(requests) for model, requests in asked.items()}}


def without_mirrors(histories: dict[str, dict[str, list[Any]]]) -> dict[str, dict[str, Any]]:
    """Replaces the second record of a conversation by "mirrored" where it differs only by the roles."""
    exchanged = {"user": "assistant", "assistant": "user"}
    written: dict[str, dict[str, Any]] = {}
    for agent, conversations in sorted(histories.items()):
        written[agent] = {}
        for peer, messages in sorted(conversations.items()):
            mirror = [{**message, "role": exchanged.get(message["role"], message["role"])} for message in messages]
            written[agent][peer] = "mirrored" if written.get(peer, {}).get(agent) == mirror else messages
    return written


def _without_repetition(requests: list[list[Any]]) -> list[Any]:
    """Lists the messages of each request below its number; messages that begin the request before, too, are counted."""
    written, before = [], list[Any]()
    for number, request in enumerate(requests, 1):
        same = [old == new for old, new in zip(before, request, strict=False)]
        repeated = (*same, False).index(False)
        again = f": messages 1 to {repeated} again" if repeated else ""
        written += [f"request {number}{again}", *request[repeated:]]
        before = request
    return written


def _kept(message: dict[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    # What tells of an error, of an interruption, or of the members of a group, is worded by each library.
    if message.get("role") == "tool" or str(content).startswith("Error: ") or INTRODUCED in str(content):
        message = {**message, "content": "..."}
    return {key: message[key] for key in _COMPARED if message.get(key) is not None}


def main() -> None:
    import autogen  # type: ignore[import-not-found]  # it is not installed where this project is

    record = json.loads(json.dumps({name: played(autogen, name) for name in SCENARIOS}, default=str))
    RECORD.write_text(readable(record) + "\n", encoding="utf-8")


def readable(value: Any, indent: str = "") -> str:
    """Returns JSON with at most one message on each line."""
    line = json.dumps(value, sort_keys=True)
    if not isinstance(value, dict | list) or "content" in value or (len(line) < 110 and line.count('"content"') < 2):
        return line
    inner = indent + " "
    if isinstance(value, list):
        return "[\n" + ",\n".join(inner + readable(item, inner) for item in value) + f"\n{indent}]"
    rows = (f"{inner}{json.dumps(key)}: {readable(item, inner)}" for key, item in sorted(value.items()))
    return "{\n" + ",\n".join(rows) + f"\n{indent}}}"


if __name__ == "__main__":
    main()
