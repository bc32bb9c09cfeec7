"""Plays the scenarios with one module, and keeps what its models were asked; or records what AutoGen 0.2 makes of them.

To record, in an environment of its own with ``autogen-agentchat==0.2.40``, ``lazy_loader`` and ``markdown-it-py``, from
the project's folder::

    python -m tests.parity.playing
"""

import json
import re
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from autogen_nb.testing.fake_openai import FakeOpenAI, Received
from tests.parity.scenarios import SCENARIOS, Record, Stage

RECORD = Path(__file__).with_name("autogen_0_2_40.json")
_COMPARED = ("role", "content", "name", "tool_calls", "tool_call_id", "function_call")
_INTRODUCED = "I am alice."
"""What stands in an introduction to a group."""
_OWN_WORDS = ("Error: ", "USER INTERRUPTED", "The user interrupted", "Read the above conversation.", "Who of [")


def played(autogen: Any, name: str) -> Record:
    def answer(received: Received) -> Any:
        model = str(received.body["model"])
        messages = [{key: each[key] for key in _COMPARED if each.get(key)} for each in received.body["messages"]]
        stage.requests.append((model, messages))
        return stage.replies[model].pop(0)

    with FakeOpenAI(answer) as server, TemporaryDirectory() as folder, chdir(folder):
        stage = Stage(autogen, server.base_url)
        with patch("builtins.input", stage.input):
            record = SCENARIOS[name](stage)
    asked: dict[str, list[Any]] = {}
    for model, messages in _alike(stage.requests):
        asked.setdefault(model, []).append(messages)
    record = _alike(json.loads(json.dumps(record, default=str)))
    if "histories" in record:
        record["histories"] = without_mirrors(record["histories"])
    if stage.questions:
        record["questions"] = stage.questions
    return {**record, "asked": {model: _without_repetition(requests) for model, requests in asked.items()}}


def _alike(value: Any) -> Any:
    """Leaves out what each library words for itself, and the space before a code's output."""
    match value:
        case str() if _INTRODUCED in value:
            return "..."
        case str():
            parts = re.sub(r"Code output:\s*", "Code output: ", value).rstrip().split("\n\n")
            return "\n\n".join("..." if part.startswith(_OWN_WORDS) else part for part in parts)
        case {"role": "system", "name": _, "content": content}:
            return {"role": "system", "content": _alike(content)}
        case list() | tuple():
            return [_alike(each) for each in value]
        case dict():
            return {key: _alike(each) for key, each in value.items()}
    return value


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


def main() -> None:
    import autogen  # type: ignore[import-not-found]  # it is not installed where this project is

    record = {name: played(autogen, name) for name in SCENARIOS}
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
