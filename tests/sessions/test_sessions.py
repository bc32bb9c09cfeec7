import asyncio
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from autogen_nb import AssistantAgent, RoundRobinGroupChat, UserProxyAgent, sessions
from autogen_nb.errors import ConfigError, SessionError
from autogen_nb.events import ChatStarted, CodeAsked, CodeRan, Ended, ModelAsked, ModelReplied, Recorded, Said
from autogen_nb.messages import CodeBlock, Message
from autogen_nb.outputs import Display, Stream
from autogen_nb.sessions.session import LOG, CodeStep, InputsStep, Session
from autogen_nb.sessions.store import SessionStore, latest_rows, matches, session_rows
from tests.test_events import instances

ASKED = CodeAsked("user", (CodeBlock("python", "x = 1"), CodeBlock("python", "y = 2")))
EVENTS = st.lists(
    st.one_of([instances(kind) for kind in (Said, ModelAsked, ModelReplied, CodeAsked, CodeRan, Ended)]), max_size=6
)
PICTURE = CodeRan(0, (Display({"image/png": "A" * 100_000, "$schema": "kept"}),))


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path / "sessions")


def begun(store: SessionStore, *events: Recorded, task: str = "Go on.") -> Session:
    session = store.create("main", chat="main")
    run = session.begin(task, task, {"cell": "a", "request": "1"}, {})
    for event in events:
        run.log.append(event)
    return session


def log_of(session: Session) -> list[Recorded]:
    return [event for run in session.runs for event in run.log]


def test_session_is_read_as_it_was_written_by_the_user_alone(store: SessionStore) -> None:
    session = begun(store, ModelAsked("assistant", "user", 1), ASKED, PICTURE, Ended("answered"))

    again = store.read(session.name)
    file = session.folder / LOG

    assert log_of(again) == log_of(session)
    assert again.runs[0].log.times == session.runs[0].log.times
    assert (again.head, again.steps) == (session.head, session.steps)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in (file.parent, file.parent.parent)} == {0o700}


def test_long_output_is_stored_once(store: SessionStore) -> None:
    session = begun(store, ASKED, PICTURE, ASKED, PICTURE)
    session.close()

    again = store.open(session.name)
    again.runs[0].log.append(ASKED)
    again.runs[0].log.append(PICTURE)

    assert (again.folder / LOG).stat().st_size < 110_000
    assert log_of(store.read(session.name)) == [ASKED, PICTURE] * 3


@settings(max_examples=50)
@example(events=[CodeAsked("user", ()), CodeRan(1)], cut=0)
@given(events=EVENTS, cut=st.integers(0, 1000))
def test_file_that_ends_anywhere_has_the_events_before(
    tmp_path_factory: pytest.TempPathFactory, events: list[Recorded], cut: int
) -> None:
    store = SessionStore(tmp_path_factory.mktemp("sessions"))
    session = begun(store, *events)
    session.close()
    file = session.folder / LOG
    content = file.read_bytes()
    whole = content.index(b"\n") + 1

    for size in (whole + (len(content) - whole) * cut // 1000, len(content)):
        file.write_bytes(content[:size])
        again = store.open(session.name)
        found = log_of(again)
        run = again.begin("More.", "More.", {}, {})
        run.log.append(Ended("exit"))
        again.close()

        assert found == events[: len(found)]
        assert log_of(store.read(session.name)) == [*found, Ended("exit")]


@pytest.mark.parametrize("change", ["byte", "line removed", "line repeated", "lines swapped"])
def test_edited_file_is_refused_with_its_line(store: SessionStore, change: str) -> None:
    session = begun(store, ASKED, PICTURE, Ended("answered"))
    session.close()
    file = session.folder / LOG
    lines = file.read_bytes().splitlines(keepends=True)
    match change:
        case "byte":
            lines[2] = lines[2].replace(b"x = 1", b"x = 2")
        case "line removed":
            del lines[2]
        case "line repeated":
            lines.insert(3, lines[2])
        case _:
            lines[2:4] = lines[3:1:-1]
    file.write_bytes(b"".join(lines))

    for use in (store.read, store.open):
        with pytest.raises(SessionError, match=rf"damaged at line {4 if change == 'line repeated' else 3}"):
            use(session.name)


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ({"head": {"format": 2}}, "line 2 of .* has format 2, and this release reads format 1"),
        ({"mood": "glad"}, "line 2 of .* has an unknown record: mood"),
        ({"event": {"v": 2, "type": "Sung"}, "at": 1.0}, "line 2 of .* cannot be used"),
    ],
)
def test_record_of_a_newer_release_is_refused_with_its_line(
    store: SessionStore, record: dict[str, Any], problem: str
) -> None:
    session = store.create("main", chat="main")
    assert session._file is not None
    session._file.append(record)

    with pytest.raises(SessionError, match=problem):
        store.read(session.name)


_OWNER = """
import os, sys, time
from pathlib import Path
from autogen_nb.sessions.store import SessionStore
session = SessionStore(Path(sys.argv[1])).create("main", chat="main")
# The child outlives its parent, and must not hold the lock.
if os.fork() == 0:
    print(session.name, flush=True)
time.sleep(60)
"""


def test_lock_ends_with_its_owner(store: SessionStore) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", _OWNER, str(store.folder)], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert owner.stdout is not None
        name = owner.stdout.readline().strip()
        for use in (store.open, store.remove):
            with pytest.raises(SessionError, match="another notebook uses the session"):
                use(name)
        owner.kill()
        owner.wait()

        store.open(name).close()
    finally:
        os.killpg(owner.pid, signal.SIGKILL)
        owner.communicate()


_FULL = """
import resource, signal, sys
from pathlib import Path
from autogen_nb.events import Ended, Said
from autogen_nb.messages import Message
from autogen_nb.sessions.store import SessionStore
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
session = SessionStore(Path(sys.argv[1])).create("main", chat="main")
run = session.begin("Go on.", "Go on.", {}, {})
run.log.append(Said("user", "assistant", Message("Go on.")))
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))
run.log.append(Said("user", "assistant", Message("A" * 10_000)))
run.log.append(Ended("answered"))
print(len(run.log), session.problem)
"""


def test_chat_goes_on_when_the_disk_is_full(store: SessionStore) -> None:
    done = subprocess.run([sys.executable, "-c", _FULL, str(store.folder)], capture_output=True, text=True, check=True)

    assert done.stdout == "3 File too large\n"
    assert log_of(store.read(store.names()[0])) == [Said("user", "assistant", Message("Go on."))]


def test_steps_are_the_blocks_that_ran_without_an_error_since_the_person_threw_the_kernel_away(
    store: SessionStore,
) -> None:
    session = store.create("main", chat="main")
    first = session.begin("Go on.", "Go on.", {}, {})
    for event in (ASKED, CodeRan(0, ran=2)):
        first.log.append(event)
    session.set_fingerprints({"x": "1"})
    whole = CodeStep(ASKED, ())
    second = session.begin("Go on.", "Go on.", {}, {})
    for event in (ASKED, CodeRan(139, ran=1, note="The kernel was killed."), ASKED, CodeRan(0, ran=1)):
        second.log.append(event)
    after_crash = session.steps
    session.begin_kernel()
    session.add_inputs(["df"], session.folder / "inputs-1")
    for event in (ASKED, CodeRan(1, ran=2), ASKED, CodeRan(1, ran=1)):
        second.log.append(event)

    part = CodeStep(CodeAsked("user", ASKED.blocks[:1]), ())
    assert after_crash == [whole, part]
    assert session.steps == [InputsStep(("df",), session.folder / "inputs-1"), part]
    assert session.fingerprints == {}
    assert store.read(session.name).steps == session.steps
    session.undo(1)
    assert session.steps == store.read(session.name).steps == [whole]
    session.redo()
    assert session.steps == store.read(session.name).steps == [InputsStep(("df",), session.folder / "inputs-1"), part]


def test_session_that_the_system_refuses_is_an_error_of_one_line(store: SessionStore) -> None:
    session = begun(store)
    session.close()
    (session.folder / LOG).unlink()
    (session.folder / LOG).mkdir()

    for use in (store.read, store.open, store.remove):
        with pytest.raises(SessionError, match="cannot be used: Is a directory"):
            use(session.name)
    assert "cannot be used: Is a directory" in next(session_rows(store))[3]


def test_sessions_are_removed_when_they_are_old_and_unused(store: SessionStore) -> None:
    used, old, new = begun(store), begun(store), begun(store)
    old.close()
    new.close()
    for session in (used, old):
        os.utime(session.folder / LOG, (0, time.time() - 31 * 86_400))

    store.expire(30)

    assert sorted(store.names()) == sorted([used.name, new.name])


def test_session_is_found_by_the_beginning_of_its_name(store: SessionStore) -> None:
    first, second = begun(store), begun(store)
    sales = store.create("../sales 2026/", chat="main")

    assert sales.folder.parent == store.folder
    assert store.find("_sales_2026_-") == sales.name
    assert store.find(second.name) == second.name
    assert store.find(first.name) == first.name
    with pytest.raises(ConfigError, match="2 sessions begin with 'ma'"):
        store.find("ma")
    with pytest.raises(ConfigError, match="there is no session 'b'; the command `sessions` lists them"):
        store.find("b")


def test_list_says_how_each_session_ended(store: SessionStore) -> None:
    begun(store, Ended("answered"), task="Done.")
    begun(store, ASKED, task="Runs.")
    damaged = begun(store)
    (damaged.folder / LOG).write_bytes(b"x\n")

    rows = {row[4]: row[3] for row in session_rows(store)}

    assert rows["Done."] == "ended"
    assert rows["Runs."] == "code was running"
    assert "damaged at line 1" in rows[""]


def test_list_has_one_line_for_a_map_and_the_latest_fifty(store: SessionStore) -> None:
    def changed(title: str, at: int) -> str:
        session = store.create(title, chat=title)
        session.begin(f"Task {at}.", f"Task {at}.", {}, {})
        session.close()
        os.utime(session.folder / LOG, (at, at))
        return session.name

    lone = changed("map-0a1b2c3d-7", 0)
    chats = [changed("map", at) for at in range(1, 4)]
    for at in range(60):
        changed(f"map-21ad7d24-{at}", 10 + at)

    rows, note = latest_rows(store, "list")
    for at in range(100, 147):
        changed("main", at)
    more, more_note = latest_rows(store, "list")

    assert [row[0] for row in rows] == ["map-21ad7d24-*", *reversed(chats), lone]
    assert rows[0][2:] == ("", "60 sessions", "Task 69.")
    assert note == "`list` lists each session"
    assert (len(more), more_note) == (50, "and 2 more; `list` lists each session")
    assert len(list(session_rows(store))) == 111
    assert latest_rows(SessionStore(store.folder / "none"), "list") == ([], "")


def test_search_finds_messages_and_printed_text(store: SessionStore) -> None:
    session = begun(store, Said("user", "assistant", Message("Where is the RAIN?")), ASKED)
    session.runs[0].log.append(CodeRan(0, (Stream("stdout", f"{'.' * 100}rain\nsun\n"),)))

    rows = [row[2:] for row in matches(store, "rain")]

    assert rows == [("user", "Where is the RAIN?"), ("output", f"…{'.' * 40}rain")]


def test_programs_read_sessions(store: SessionStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(store.folder.parent))
    monkeypatch.setattr(store, "folder", store.folder.parent / "autogen_nb" / "sessions")
    assistant = AssistantAgent("assistant", llm_config={"config_list": [{"model": "offline"}]})
    user = UserProxyAgent("user", human_input_mode="NEVER", code_execution_config=False, max_consecutive_auto_reply=0)
    team = RoundRobinGroupChat([assistant], max_turns=1)

    with sessions.recording("sales"):
        user.initiate_chat(assistant, message="What can you do?", silent=True)
        asyncio.run(team.run(task="And you?"))
    session = sessions.read("sales")
    frame = session.to_frame()

    assert sessions.names() == [session.name]
    assert [run.task for run in session.runs] == ["What can you do?", "And you?"]
    assert isinstance(session.events[0], ChatStarted)
    assert list(frame.columns[:3]) == ["cell", "time", "event"]
    assert frame.event.tolist() == [type(event).__name__ for event in session.events]
    assert frame[frame.event == "Said"].sender.tolist()[:2] == ["user", "assistant"]
