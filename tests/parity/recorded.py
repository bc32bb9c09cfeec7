"""Plays programs for an original package with this one, and compares them with what the original made of them.

A program has `SCRIPT`, the replies of the model with the API key "sk-NAME" by NAME, and `main`, which may be async. It
may have `ANSWERS`, a person's inputs, and `OWN`, the sentences that each package words in its own way; of these, only
the words in `MARKS` are compared. To record the programs of a folder, in an environment with the original package,
lazy_loader and markdown-it-py::

    python -m tests.parity.recorded tests/parity/ag2

The records are those of ``autogen==0.14.1``, and of ``autogen-agentchat`` and ``autogen-ext[openai]`` 0.7.5.
"""

import asyncio
import builtins
import importlib.util
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from autogen_nb.testing.fake_openai import FakeOpenAI, Received


def programs(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")


def record_of(folder: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    return record


def played(path: Path, *flags: str) -> Any:
    """What the program makes, in a process of its own."""
    command = [sys.executable, "-m", "tests.parity.recorded", str(path), *flags]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def like(record: Any, made: Any) -> Any:
    """Returns `made`, with the record in place of a sentence of our own that has the record's words."""
    if isinstance(record, dict) and isinstance(made, str) and "words" in record:
        return record if all(word in made for word in record["words"]) else made
    if isinstance(record, dict) and isinstance(made, dict):
        return {key: like(record.get(key), value) for key, value in made.items()}
    if isinstance(record, list) and isinstance(made, list):
        return [like(old, new) for old, new in zip([*record, *made[len(record) :]], made, strict=False)]
    return made


def calls(*each: tuple[str, str, Any], content: str | None = None) -> dict[str, Any]:
    """A model's reply that calls tools: an id, a name and arguments for each."""
    tool_calls = [{"id": id_, "name": name, "arguments": arguments} for id_, name, arguments in each]
    return {"content": content, "tool_calls": tool_calls} if content else {"tool_calls": tool_calls}


def told(result: Any) -> list[Any]:
    """The messages of AgentChat: type, author, content, and the target and the context of a handoff."""
    return [message(each) for each in result.messages]


def message(message: Any) -> list[Any]:
    content = [_part(part) for part in message.content] if isinstance(message.content, list) else message.content
    entry = [type(message).__name__.partition("[")[0], message.source, _part(content)]
    if hasattr(message, "target"):
        entry += [message.target, [[type(each).__name__, _part(each)] for each in message.context]]
    return entry


def _part(part: Any) -> Any:
    if hasattr(part, "arguments"):
        return {"call": part.name, "arguments": json.loads(part.arguments)}
    return part.model_dump(mode="json", exclude_none=True) if hasattr(part, "model_dump") else part


def history(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages of AutoGen 0.2 and AG2, without what only one of them writes."""
    return [_entry(message) for message in messages]


def _entry(message: dict[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    # AG2 writes "None" for a missing content, and some models get the content in parts.
    text = "" if content in (None, "None") else content if isinstance(content, str) else json.dumps(content)
    entry = {"name": message.get("name"), "role": message.get("role"), "content": " ".join(text.split())}
    if message.get("tool_calls"):
        functions = [call["function"] for call in message["tool_calls"]]
        entry["calls"] = [[each["name"], json.loads(each["arguments"])] for each in functions]
    entry["responses"] = [[each["tool_call_id"], each["content"]] for each in message.get("tool_responses", ())]
    return {key: value for key, value in entry.items() if value}


def _request(body: Any) -> dict[str, Any]:
    messages = [_entry(message) | {"answers": message.get("tool_call_id")} for message in body["messages"]]
    for message in messages:
        if message.get("role") == "assistant":
            message.pop("name", None)
    tools = sorted(tool["function"]["name"] for tool in body.get("tools", ()))
    kind = (body.get("response_format") or {}).get("type")
    return {"messages": messages, "tools": tools, **({"format": kind} if kind else {})}


def _play(path: Path) -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location("recorded_program", path)
    assert spec is not None
    assert spec.loader is not None
    program = sys.modules["recorded_program"] = importlib.util.module_from_spec(spec)
    asked: dict[str, list[Any]] = {}
    prompts: list[str] = []

    def reply(received: Received) -> Any:
        name = received.headers["authorization"].removeprefix("Bearer sk-")
        asked.setdefault(name, []).append(_request(received.body))
        return program.SCRIPT[name].pop(0)

    def answer(prompt: str = "") -> str:
        prompts.append(prompt)
        return str(program.ANSWERS.pop(0))

    with FakeOpenAI(reply) as server:
        os.environ["MODEL_URL"] = server.base_url
        spec.loader.exec_module(program)
        builtins.input = answer  # type: ignore[assignment]
        result = asyncio.run(program.main()) if inspect.iscoroutinefunction(program.main) else program.main()
    return {"result": result, "asked": asked, "questions": len(prompts)}


def _marked(value: Any, own: list[str], marks: list[str]) -> Any:
    if isinstance(value, str):
        return {"words": [mark for mark in marks if mark in value]} if any(each in value for each in own) else value
    if isinstance(value, list):
        return [_marked(each, own, marks) for each in value]
    return {key: _marked(each, own, marks) for key, each in value.items()} if isinstance(value, dict) else value


def _main(path: Path, flags: list[str]) -> None:
    if path.is_dir():
        record = {name: played(path / f"{name}.py", "--original") for name in programs(path)}
        from tests.parity.playing import readable

        (path / "record.json").write_text(readable(record) + "\n", encoding="utf-8")
        return
    if "--original" not in flags:
        import autogen_nb

        autogen_nb.install_as_autogen()
    made = _play(path)
    program: Any = sys.modules["recorded_program"]
    if "--original" in flags:
        made = _marked(made, getattr(program, "OWN", []), getattr(program, "MARKS", []))
    sys.stdout.write(json.dumps(made) + "\n")


if __name__ == "__main__":
    _main(Path(sys.argv[1]), sys.argv[2:])
