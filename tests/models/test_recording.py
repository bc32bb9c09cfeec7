import asyncio
import json
import multiprocessing
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from shutil import copytree
from types import MappingProxyType
from typing import Any

import pytest

from autogen_nb.core.ports import ModelRequest
from autogen_nb.errors import ConfigError, RecordingEnded, SessionError
from autogen_nb.messages import Completion, Message, Reasoning, Usage
from autogen_nb.models.config.model_selection import model_for
from autogen_nb.models.wrappers.recording import (
    FILE,
    Cache,
    Digest,
    Recording,
    RecordingEntry,
    ReplayModel,
    cached,
    key_of,
)
from autogen_nb.testing import FakeOpenAI, ScriptedModel
from tests.models.asking import HELLO, ask, error_of

USER, REPLY, OUTPUT = HELLO, {"role": "assistant", "content": "a"}, {"role": "user", "content": "took 3 ms"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "talks" / "talk.jsonl"


def record(path: Path, *replies: Any) -> None:
    recording = Recording(ScriptedModel(replies), path)
    for number in range(len(replies)):
        ask(recording, *[USER, REPLY] * number, USER)


def test_recording_to_a_place_that_cannot_take_it_is_refused(path: Path) -> None:
    record(path, "first")

    with pytest.raises(ConfigError, match="another file"):
        Recording(ScriptedModel([]), path)
    with pytest.raises(ConfigError, match="cannot be written"):
        Recording(ScriptedModel([]), path / "talk.jsonl")


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
    assert "it has 5 messages, and the recording has 3" in str(error)


GOOD = json.dumps(RecordingEntry(Digest(1, "sha256:x"), Completion(Message("x"), "gpt-x", Usage(3, 4))).to_json())


@pytest.mark.parametrize(
    "line",
    [
        "{half", "[]", "7", '"text"', "{}", '{"v": 2}', GOOD[:-20], GOOD.replace("messages", "m"),
        GOOD.replace('"messages": 1', '"messages": "many"'),
    ],
    ids=["json", "list", "number", "text", "empty", "version", "cut", "field", "type"],
)  # fmt: skip
def test_damaged_line_is_named(line: str, path: Path) -> None:
    path.parent.mkdir()
    path.write_text(f"{GOOD}\n{line}\n")

    with pytest.raises(ConfigError, match="line 2 of"):
        ReplayModel(path)


def test_a_recording_follows_no_link(path: Path, tmp_path: Path) -> None:
    recording = Recording(ScriptedModel(["one"]), path)
    path.parent.rename(tmp_path / "moved")
    path.parent.symlink_to(tmp_path)
    ask(recording, USER)
    path.symlink_to(tmp_path / "outside")

    with pytest.raises(ConfigError, match=r"cannot be written: .*link"):
        Recording(ScriptedModel([]), path)
    assert (tmp_path / "moved" / path.name).read_text()
    assert not (tmp_path / "outside").exists()


KEY = "sk-a-key-that-must-not-be-kept-0123456789"


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache.disk(42, tmp_path)


def test_calls_of_tools_are_kept_too(cache: Cache) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"x": "ü\\ud800"}'}}
    ask(cached(ScriptedModel([{"content": None, "tool_calls": [call]}]), cache))
    again = ask(cached(ScriptedModel([]), cache))

    assert again.pieces == []
    assert again.completion.message.content is None
    assert again.completion.message.tool_calls == [call]
    assert again.completion.finish_reason == "tool_calls"


def test_reply_is_kept_by_everything_that_decides_it(cache: Cache) -> None:
    model = ScriptedModel([], "a")
    told: dict[str, Any] = {"type": "function", "function": {"name": "f"}}
    requests = [
        ModelRequest((HELLO,)),
        ModelRequest((HELLO, HELLO)),
        ModelRequest((HELLO,), tools=(told,)),
        ModelRequest((HELLO,), functions=(told,)),
    ]
    keys = {key_of(model, request) for request in requests} | {key_of(ScriptedModel([], "b"), requests[0])}

    assert len(keys) == 5
    assert key_of(model, ModelRequest(({"content": b"no JSON"},))) != key_of(
        model, ModelRequest(({"content": b"other"},))
    )
    assert key_of(model, ModelRequest((MappingProxyType(dict(HELLO)),))) == key_of(model, requests[0])
    assert key_of(model, ModelRequest(({"content": "Hello?", "role": "user"},))) == key_of(model, requests[0])


def test_reply_that_was_broken_off_is_not_kept(cache: Cache) -> None:
    async def run() -> None:
        reply = cached(ScriptedModel(["one two three"]), cache).reply(ModelRequest((HELLO,)))
        await anext(reply)
        await reply.aclose()  # type: ignore[attr-defined]  # the layers' replies are generators

    asyncio.run(run())

    assert ask(cached(ScriptedModel(["again"]), cache)).completion.message.content == "again"


def test_cache_of_a_chat_takes_the_place_of_the_agents_own(cache: Cache, tmp_path: Path) -> None:
    own = cached(ScriptedModel(["mine"]), Cache.disk(1, tmp_path))
    ask(cached(own, cache))

    assert cached(own, None) is own
    assert not (tmp_path / "1").exists()
    assert (tmp_path / "42" / FILE).exists()


def test_folder_is_that_of_autogen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Cache.disk(cache_seed=41) as cache:
        assert list(tmp_path.iterdir()) == []
        monkeypatch.chdir("/")
        ask(cached(ScriptedModel(["x"]), cache))

    assert cache.path == tmp_path / ".cache" / "41" / FILE
    assert repr(cache) == "<Cache '.cache/41/replies.sqlite3'>"
    assert stat.S_IMODE(cache.path.stat().st_mode) == 0o600


@pytest.mark.parametrize("make", [Cache.redis, Cache.cosmos_db])
def test_caches_that_are_not_here_say_what_to_use(make: Callable[..., Any]) -> None:
    with pytest.raises(ConfigError, match=r"Cache\.disk"):
        make(42, "redis://localhost")


@pytest.mark.parametrize(
    "change",
    [
        lambda _: "{",
        lambda _: "[]",
        lambda _: "null",
        lambda value: json.dumps({**value, "v": 99}),
        lambda value: json.dumps({**value, "message": {"content": 7}}),
        lambda value: json.dumps({**value, "usage": {"prompt_tokens": "many", "completion_tokens": 1}}),
        lambda value: json.dumps({**value, "note": None}),
        lambda value: json.dumps({**value, "cost": "free"}),
    ],
)
def test_value_that_is_no_reply_is_asked_for_again(cache: Cache, change: Callable[[Any], str]) -> None:
    ask(cached(ScriptedModel(["then"]), cache))
    with closing(sqlite3.connect(cache.path)) as connection, connection:
        (text,) = connection.execute("SELECT value FROM replies").fetchone()
        connection.execute("UPDATE replies SET value = ?", (change(json.loads(text)),))

    assert ask(cached(ScriptedModel(["now"]), cache)).completion.message.content == "now"
    assert ask(cached(ScriptedModel([]), cache)).completion.message.content == "now"


def test_broken_file_loses_no_reply(cache: Cache) -> None:
    cache.path.parent.mkdir(parents=True)
    cache.path.write_bytes(b"this is no database" * 100)
    reply = ask(cached(ScriptedModel(["ok"]), cache)).completion

    assert reply.message.content == "ok"
    assert reply.note.startswith(f"The cache {str(cache.path)!r} could not be read (file is not a database)")


def test_folder_that_cannot_be_made_loses_no_reply(tmp_path: Path) -> None:
    (tmp_path / "42").write_text("in the way")
    reply = ask(cached(ScriptedModel(["ok"]), Cache.disk(42, tmp_path))).completion

    assert reply.message.content == "ok"
    assert "could not be stored" in reply.note


def _work(root: str, base_url: str, number: int, begin: Any, results: Any) -> None:
    begin.wait()
    config = {"model": "m", "base_url": base_url, "api_key": KEY, "cache_seed": 42, "cache_path_root": root}
    texts = []
    for turn in range(20):
        question = {"role": "user", "content": f"question {(turn + number) % 20}"}
        completion = ask(model_for(config), question).completion
        texts.append((completion.message.content, completion.note))
    results.put(texts)


@pytest.mark.slow
def test_several_processes_share_one_cache(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    begin, results, count = context.Event(), context.Queue(), 4
    with FakeOpenAI(lambda received: f"answer to {received.body['messages'][-1]['content']}") as server:
        arguments = [(str(tmp_path), server.base_url, number, begin, results) for number in range(count)]
        workers = [context.Process(target=_work, args=each) for each in arguments]
        for worker in workers:
            worker.start()
        begin.set()
        told = [results.get(timeout=120) for _ in workers]
        for worker in workers:
            worker.join(60)
        asked = len(server.requests)
        _work(str(tmp_path), server.base_url, 0, begin, results)
        known = results.get(timeout=10)

        assert len(server.requests) == asked
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert [worker.exitcode for worker in workers] == [0] * count
    expected = {(f"answer to question {turn}", "") for turn in range(20)}
    assert all(set(texts) == expected for texts in [*told, known])
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path.name for path in files] == [FILE]
    assert not any(KEY.encode() in path.read_bytes() for path in files)


EARLIER = Path(__file__).parent / "earlier"
"""A recording and a cache that an earlier release wrote, of two replies: one with reasoning, one with a call."""

CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}


@pytest.mark.parametrize("kind", ["recording", "cache"])
def test_replies_that_an_earlier_release_stored(tmp_path: Path, kind: str) -> None:
    folder = Path(copytree(EARLIER, tmp_path / "earlier"))
    replay = ReplayModel(folder / "recording.jsonl")
    model = replay if kind == "recording" else cached(ScriptedModel([]), Cache(folder))

    first, second = (ask(model, {"role": "user", "content": text}).completion for text in ("What is one?", "And two?"))

    assert (first.model, first.usage, first.reasoning) == ("model-1", Usage(100, 20, 10), Reasoning("Hm.", 0.5, 7))
    assert first.message.text.startswith("Let me see.\n\n```python\nprint(1)")
    assert [first.cached, second.cached] == [kind == "cache"] * 2
    assert second.finish_reason == "tool_calls"
    assert second.message.to_dict()["tool_calls"] == [CALL]
