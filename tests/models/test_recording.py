import json
import os
from pathlib import Path
from typing import Any

import pytest

from autogen_nb.core.ports import Completion
from autogen_nb.errors import ConfigError, RecordingEnded, SessionError
from autogen_nb.messages import Message, Usage
from autogen_nb.models.wrappers.recording import Digest, Recording, RecordingEntry
from autogen_nb.models.wrappers.replay import ReplayModel
from autogen_nb.testing import ScriptedModel
from tests.models.asking import HELLO, ask, error_of

CALLS = Completion(
    Message(tool_calls=[{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]),
    "gpt-x",
    Usage(3, 4),
    "tool_calls",
    0.25,
)
USER, REPLY, OUTPUT = HELLO, {"role": "assistant", "content": "a"}, {"role": "user", "content": "took 3 ms"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "talks" / "talk.jsonl"


def record(path: Path, *replies: Any) -> None:
    recording = Recording(ScriptedModel(replies), path)
    for number in range(len(replies)):
        ask(recording, *[USER, REPLY] * number, USER)


def test_recording_that_holds_something_is_not_overwritten(path: Path) -> None:
    record(path, "first")

    with pytest.raises(ConfigError, match="another file"):
        Recording(ScriptedModel([]), path)


def test_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(ConfigError, match="cannot be written"):
        Recording(ScriptedModel([]), tmp_path / "file" / "talk.jsonl")


def test_replay_ends_with_its_recording(path: Path) -> None:
    record(path, "only")
    replay = ReplayModel(path)
    ask(replay, USER)

    error = error_of(replay, USER, REPLY, OUTPUT)

    assert isinstance(error, RecordingEnded)
    assert "1 replies" in str(error)


def test_replay_of_another_conversation_says_where_it_parted(path: Path) -> None:
    record(path, "one", "two")
    replay = ReplayModel(path)
    ask(replay, USER)

    error = error_of(replay, USER, REPLY, OUTPUT, REPLY, USER)

    assert isinstance(error, SessionError)
    assert "reply 2" in str(error)
    assert "it has 5 messages, and the recording 3" in str(error)


GOOD = json.dumps(RecordingEntry(Digest(1, "sha256:x"), CALLS).to_json())


@pytest.mark.parametrize(
    "line",
    [
        "{half",
        "[]",
        "7",
        '"text"',
        "{}",
        '{"v": 2}',
        GOOD[:-20],
        GOOD.replace("messages", "m"),
        GOOD.replace('"messages": 1', '"messages": "many"'),
    ],
    ids=["json", "list", "number", "text", "empty", "version", "cut", "field", "type"],
)
def test_damaged_line_is_named(line: str, path: Path) -> None:
    path.parent.mkdir()
    path.write_text(f"{GOOD}\n{line}\n")

    with pytest.raises(ConfigError, match="line 2 of"):
        ReplayModel(path)


@pytest.mark.parametrize("kind", ["link", "hard link", "pipe", "folder that becomes a link"])
def test_a_recording_goes_nowhere_else(tmp_path: Path, kind: str) -> None:
    outside = tmp_path / "outside"
    (tmp_path / "kept").mkdir()
    outside.mkdir()
    (outside / "notes.txt").touch()
    path = tmp_path / "kept" / "notes.txt"
    model = ScriptedModel(["one"])
    if kind == "folder that becomes a link":
        recording = Recording(model, path)
        path.parent.rename(tmp_path / "moved")
        path.parent.symlink_to(outside)
        ask(recording, USER)
        assert (tmp_path / "moved" / "notes.txt").read_text()
    else:
        if kind == "link":
            path.symlink_to(outside / "notes.txt")
        elif kind == "hard link":
            path.hardlink_to(outside / "notes.txt")
        else:
            os.mkfifo(path)
        with pytest.raises(ConfigError, match=r"cannot be written: .*(link|No such device|plain)"):
            Recording(model, path)

    assert (outside / "notes.txt").read_bytes() == b""
