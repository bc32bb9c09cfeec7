import asyncio
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.core.ports import Completion, ModelRequest
from autogen_nb.errors import ConfigError, ModelUnavailable, RecordingEnded, SessionError
from autogen_nb.messages import Message, Usage
from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.models.wrappers.recording import Digest, Recording, RecordingEntry
from autogen_nb.models.wrappers.replay import ReplayModel
from autogen_nb.models.wrappers.reply_streams import pieces_of
from autogen_nb.testing import FakeOpenAI, ScriptedModel
from tests.models.asking import HELLO, ask, error_of
from tests.processes import on_small_disk

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
    """A file in a folder, neither of which is there yet."""
    return tmp_path / "talks" / "talk.jsonl"


def record(path: Path, *replies: Any) -> None:
    """A recording of a conversation that grows by two messages with each reply."""
    recording = Recording(ScriptedModel(replies), path)
    for number in range(len(replies)):
        ask(recording, *[USER, REPLY] * number, USER)


def test_recording_is_played_again(path: Path) -> None:
    record(path, "Hello  there,\nperson. ", CALLS)
    replay = ReplayModel(path)

    first, second = ask(replay, USER), ask(replay, USER, REPLY, USER)

    assert "".join(first.pieces) == first.completion.message.content == "Hello  there,\nperson. "
    assert len(first.pieces) > 1
    assert second.completion == Completion(CALLS.message, "gpt-x", Usage(3, 4), "tool_calls", 0.0)


def test_recording_passes_the_reply_on(path: Path) -> None:
    plain, recorded = ask(ScriptedModel(["a b"])), ask(Recording(ScriptedModel(["a b"]), path))

    assert plain == recorded


def test_recording_is_for_its_owner_only(path: Path) -> None:
    record(path, "x")

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_empty_file_that_others_may_read_is_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    path.touch(mode=0o644)
    record(path, "x")

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_each_line_is_there_as_soon_as_its_reply(path: Path) -> None:
    def lines() -> int:
        return path.read_text().count("\n")

    async def run() -> list[tuple[bool, int]]:
        reply = Recording(ScriptedModel(["a"]), path).reply(ModelRequest((USER,)))
        return [(isinstance(item, Completion), lines()) async for item in reply]

    assert asyncio.run(run()) == [(False, 0), (True, 1)]


def test_recording_holds_no_key_and_no_request(path: Path) -> None:
    with FakeOpenAI(["fine"]) as server:
        model = OpenAIModel(model="m", base_url=server.base_url, api_key="sk-verysecretkey")
        ask(Recording(model, path), {"role": "user", "content": "confidential"})

    text = path.read_text()
    assert "fine" in text
    assert not [word for word in ("secret", "confidential", "uthorization") if word in text]


def test_failed_and_broken_off_replies_are_not_recorded(path: Path) -> None:
    async def run() -> None:
        recording = Recording(ScriptedModel(["a b c", ModelUnavailable("down")]), path)
        reply = recording.reply(ModelRequest((USER,)))
        await anext(reply)
        await reply.aclose()
        with pytest.raises(ModelUnavailable):
            await anext(recording.reply(ModelRequest((USER,))))

    asyncio.run(run())

    assert path.read_text() == ""


def test_recording_that_holds_something_is_not_overwritten(path: Path) -> None:
    record(path, "first")

    with pytest.raises(ConfigError, match="another file"):
        Recording(ScriptedModel([]), path)


def test_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(ConfigError, match="cannot be written"):
        Recording(ScriptedModel([]), tmp_path / "file" / "talk.jsonl")


def test_a_reply_that_finds_no_room_is_not_lost(tmp_path: Path) -> None:
    script = f"""
import asyncio
from pathlib import Path
from autogen_nb.core.ports import Completion, ModelRequest
from autogen_nb.models.wrappers.recording import Recording, read_recording
from autogen_nb.testing import ScriptedModel
path = Path({str(tmp_path)!r}, "talk.jsonl")
model = Recording(ScriptedModel(["first", "x" * 30_000, "third"]), path)
async def main():
    for _ in range(3):
        async for part in model.reply(ModelRequest([{{"role": "user", "content": "Go"}}])):
            if isinstance(part, Completion):
                print(len(part.message.text), part.note)
asyncio.run(main())
print(len(read_recording(path)))
"""

    said = on_small_disk(script, tmp_path, 16).splitlines()

    note = (
        f"The recording '{tmp_path}/talk.jsonl' ends before this reply: it cannot be written (No space left on device)."
    )
    assert [line.rstrip() for line in said] == ["5", f"30000 {note}", "5", "1"]


def test_replay_ends_with_its_recording(path: Path) -> None:
    record(path, "only")
    replay = ReplayModel(path)
    ask(replay, USER)

    error = error_of(replay, USER, REPLY, OUTPUT)

    assert isinstance(error, RecordingEnded)
    assert "1 replies" in str(error)


def test_request_that_was_recorded_before_is_answered_as_then(path: Path) -> None:
    record(path, "one", "two", "three")
    replay = ReplayModel(path)
    asked = ([USER], [USER, REPLY, USER], [USER, REPLY, USER], [USER, REPLY, USER, REPLY, USER])

    given = [ask(replay, *messages).completion.message.content for messages in asked]

    assert given == ["one", "two", "two", "three"]


def test_replay_of_another_conversation_says_where_it_parted(path: Path) -> None:
    record(path, "one", "two")
    replay = ReplayModel(path)
    ask(replay, USER)

    error = error_of(replay, USER, REPLY, OUTPUT, REPLY, USER)

    assert isinstance(error, SessionError)
    assert "reply 2" in str(error)
    assert "3 messages were recorded there, now there are 5" in str(error)


def test_replay_does_not_mind_another_output(path: Path) -> None:
    record(path, "one")

    assert ask(ReplayModel(path), OUTPUT).completion.message.content == "one"


def test_reply_that_was_broken_off_is_given_again(path: Path) -> None:
    record(path, "one two three")
    replay = ReplayModel(path)

    async def broken_off() -> None:
        reply = replay.reply(ModelRequest((USER,)))
        await anext(reply)
        await reply.aclose()

    asyncio.run(broken_off())

    assert ask(replay, USER).completion.message.content == "one two three"


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


def test_missing_recording_is_told(path: Path) -> None:
    with pytest.raises(ConfigError, match=r"talk\.jsonl"):
        ReplayModel(path)


@given(st.text(), st.sampled_from(["content", "parts"]))
def test_entry_survives_json(text: str, shape: str) -> None:
    content: Any = {"content": text, "parts": [{"type": "text", "text": text}]}[shape]
    entry = RecordingEntry(Digest(2, "x"), Completion(Message(content=content), "m", None, "length"))

    assert RecordingEntry.from_json(json.loads(json.dumps(entry.to_json()))) == entry


@given(st.text())
def test_pieces_join_to_the_text(text: str) -> None:
    assert "".join(pieces_of(text)) == text


def test_digest_of_no_messages_is_possible() -> None:
    assert Digest.of(ModelRequest(())).messages == 0


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
