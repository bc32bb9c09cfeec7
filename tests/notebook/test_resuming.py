"""``%autogen resume`` after the end of the notebook's kernel."""

import os
import shutil
import signal
from pathlib import Path
from random import Random

import pytest

from autogen_nb.events import Said
from autogen_nb.sessions.store import SessionStore
from autogen_nb.testing import FakeOpenAI
from autogen_nb.testing.fake_openai import Received
from tests.notebook.conftest import opened, python, run_chat
from tests.notebook.front_end import FrontEnd


def test_chat_continues_with_its_variables_after_a_restart(front: FrontEnd, model: FakeOpenAI) -> None:
    front.run("table = {'a': {1, 2}}", "table")
    code = "import time\nx, now = 41, time.time()\nnames = {'a', 'b', str(table)}"
    model.add(python(code), "Set.", python("print(x + 1)"), "It is 42.")
    front.run_clicking("%%autogen -i table\nSet x.", "one", click=["Run"])
    front.restart()

    resumed = front.run_clicking("%autogen resume", "resume", click=["Run again"])
    followed = front.run_clicking("%%autogen\nAnd one more?", "two", click=["Run"])

    assert resumed.status == "ok", resumed.error
    assert "Set." in resumed.text
    assert "Restored: `names`, `now`, `table`, `x`." in resumed.text
    assert "Different from before: `now`." in resumed.text
    assert followed.about("stream") == ["42\n"]
    assert model.requests[2].body["messages"][1]["content"].startswith("Set x.")
    assert len(model.requests) == 4


def test_session_of_an_earlier_version_continues(front: FrontEnd, model: FakeOpenAI, tmp_path: Path) -> None:
    folder = tmp_path / ".local/share/autogen_nb/sessions/main-20261128-134052"
    folder.mkdir(parents=True, mode=0o700)
    shutil.copy(Path(__file__).with_name("session_of_version_2.jsonl"), folder / "events.jsonl")
    model.add(python("print(x + 1)"), "It is 42.")

    resumed = front.run_clicking("%autogen resume main-20261128-134052", "resume", click=["Run again"])
    followed = front.run_clicking("%%autogen\nAnd one more?", "two", click=["Run"])

    assert resumed.status == "ok", resumed.error
    assert "Set. It is 41." in resumed.text
    assert followed.about("stream") == ["42\n"]
    assert "404" in front.run("%autogen usage", "usage").text


def test_extension_says_that_an_earlier_chat_can_be_continued(front: FrontEnd, model: FakeOpenAI) -> None:
    run_chat(front, model, "One.", options="-c work")
    reloaded = front.run("%reload_ext autogen_nb", "reload")
    loaded, second = front.restart(), front.run("1", "second")
    resumed = front.run("%autogen resume", "resume")
    followed = run_chat(front, model, "Two.", cell="two", options="-c work")

    hint = "An earlier chat of this notebook is stored ('work'): %autogen resume continues it."
    assert (reloaded.text, loaded.text, second.text) == ("", hint, "1")
    assert "The chat work is back: %%autogen -c work continues it." in resumed.text.replace("`", "")
    assert followed.about("message")[-1].endswith("Two.")


def test_lost_variables_are_named_to_the_person_and_the_model(
    front: FrontEnd, model: FakeOpenAI, tmp_path: Path
) -> None:
    (tmp_path / "x.txt").write_text("x")
    run_chat(front, model, python("b = open('x.txt').read()"), "Read.", task="Read x.")
    run_chat(front, model, python("c = 2"), "Set.", task="Set c.")
    front.run("%autogen undo --yes", "undo")
    (tmp_path / "x.txt").unlink()
    front.restart()
    commands = ("history", "usage", "undo --yes", "code", "retry", "branch other", "export out.py")
    denied = {command: front.run(f"%autogen {command}", command).error for command in commands}

    run_chat(front, model, "Hello.", options="-c other")
    usage = front.run("%autogen usage", "usage")
    resumed = front.run("%autogen resume --yes", "resume")
    again = front.run("%autogen resume --yes", "again")
    run_chat(front, model, python("print(1)"), "Over.", cell="three")

    assert {command for command in denied if "`%autogen resume` brings it back" not in denied[command]} == set()
    assert "other" in usage.text, usage.error
    lost = "Could not be restored: `b`."
    assert lost in resumed.text
    assert lost in str(model.requests[-1].body["messages"][-1]["content"])
    assert "to resume it again, restart the notebook's kernel" in again.error


def test_open_question_is_asked_again(front: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("x = 41"), python("print(x + 1)"), "It is 42.")
    front.start("%%autogen\nGo on.", "one")
    front.click("Run")
    front.wait(lambda: len(model.requests) == 2, "the second request")
    front.asked("Run")
    front.restart()

    resumed = front.run_clicking("%autogen resume", "resume", click=["Run again", "Run"])

    assert "It is 42." in resumed.text
    assert "was run again" not in resumed.text
    assert resumed.about("stream")[-1] == "42\n"


def test_block_that_had_not_ended_runs_again_only_if_the_person_agrees(
    front: FrontEnd, model: FakeOpenAI, tmp_path: Path
) -> None:
    model.add(python("open('runs', 'a').write('1')\nwhile True: pass"), "Too long.")
    front.start("%%autogen --confirm never\nGo on.", "one")
    front.wait((tmp_path / "runs").exists, "the block")
    os.kill(front.pid, signal.SIGKILL)
    front.restart()

    resumed = front.run_clicking("%autogen resume", "resume", click=["Go on without"])

    assert resumed.status == "ok", resumed.error
    assert (tmp_path / "runs").read_text() == "1"
    assert "the person did not run it again" in str(model.requests[-1].body["messages"][-1])


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_sandbox_of_an_earlier_cell_is_kept(model: FakeOpenAI, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    with opened(tmp_path / "work", model, tmp_path / "home") as front:
        run_chat(front, model, python("x = 41"), "Set.", cell="one", options="--sandbox bwrap")
        run_chat(front, model, "Fine.", cell="two")
        front.restart()
        front.run("%autogen resume --yes", "resume")

        assert "sandbox bwrap" in front.run("%autogen kernel status", "status").text


BLOCKS = 12


def reply(received: Received) -> str:
    """Twelve blocks that depend on each other; the number of replies so far says which is next."""
    number = sum(message["role"] == "assistant" for message in received.body["messages"])
    if number == 0:
        return python("values, total = [0], 0.0\ndef add(number):\n    values.append(number)")
    if number < BLOCKS:
        return python(f"add({number})\ntotal += sum(values) / 3\nprint('.' * 5000, total)")
    return "Done."


def result(front: FrontEnd) -> str:
    """The messages of the only session, and the variables of the agent."""
    assert front.run("%autogen pull values total", "pull").status == "ok"
    store = SessionStore(front.cwd / ".local/share/autogen_nb/sessions")
    log = store.read(*store.names()).runs[0].log
    return f"{[event for event in log if isinstance(event, Said)]} {front.value('(values, total)')}"


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, int, int]:
    """The result of the chat, the number of its requests, and the size of its session."""
    folder = tmp_path_factory.mktemp("undisturbed")
    with FakeOpenAI(reply) as server, opened(folder, server) as front:
        assert front.run("%%autogen --confirm never\nGo on.", "one").status == "ok"
        return result(front), len(server.requests), session_size(folder)


def session_size(home: Path) -> int:
    return sum(file.stat().st_size for file in home.glob(".local/share/autogen_nb/sessions/*/events.jsonl"))


@pytest.mark.parametrize(
    "moment", [pytest.param(number, marks=[pytest.mark.slow] * (number > 1)) for number in range(50)]
)
def test_chat_killed_at_any_moment_resumes_to_the_same_end(
    tmp_path: Path, undisturbed: tuple[str, int, int], moment: int
) -> None:
    expected, requests, size = undisturbed
    random = Random(moment)
    with FakeOpenAI(reply) as server, opened(tmp_path, server) as front:
        front.start("%%autogen --confirm never\nGo on.", "one")
        # The session's header and its first run are about a kilobyte.
        reached = random.randint(1200, size - 200)
        front.wait(lambda: session_size(tmp_path) >= reached, "the moment", each=0.0)
        os.kill(front.pid, signal.SIGKILL)
        front.restart()
        resumed = front.run("%autogen resume --yes", "resume")

        assert resumed.status == "ok", resumed.error
        assert result(front) == expected
        assert len(server.requests) <= requests + 1


def test_output_never_contains_a_known_key(fresh: FrontEnd, model: FakeOpenAI) -> None:
    key = "sk-1234567890abcdefgh"
    fresh.run(f"import os; os.environ['OPENAI_API_KEY'] = {key!r}", "key")
    model.add(
        python(f"print({key[:9]!r}, end='', flush=True); print({key[9:]!r})\n({key[:9]!r} + {key[9:]!r})"), "Done."
    )

    shown = fresh.run_clicking("%%autogen\nGo on.", "one", click=["Run"])

    assert shown.about("stream") == ["[OPENAI_API_KEY]\n"]
    assert "'[OPENAI_API_KEY]'" in shown.text
    assert "[OPENAI_API_KEY]" in model.requests[1].body["messages"][-1]["content"]
    stored = b"".join(file.read_bytes() for file in fresh.cwd.rglob("events.jsonl"))
    for place in (shown.text.encode(), str([each.body for each in model.requests]).encode(), stored):
        assert key.encode() not in place


@pytest.mark.slow
def test_session_of_another_notebook_is_resumed_by_its_name(front: FrontEnd, model: FakeOpenAI, tmp_path: Path) -> None:
    model.add(python("x = 41"), "Set.")
    front.run_clicking("%%autogen\nSet x.", "one", click=["Run"])
    name = next(tmp_path.glob(".local/share/autogen_nb/sessions/*")).name
    with opened(tmp_path, model) as other:
        refused = other.run(f"%autogen resume {name}", "resume")
        listed = other.run("%autogen sessions", "list")
        front.restart()
        taken = other.run_clicking(f"%autogen resume {name}", "resume", click=["Go on without"])
        again = other.run(f"%autogen resume {name}", "again")
        state = other.run("%autogen kernel vars", "vars")

    assert f"another notebook uses the session {name!r}: end it there first" in refused.error
    assert f"this notebook continues the session {name!r}" in again.error
    assert name in listed.text
    assert "Set." in taken.text
    assert "has no variables" in state.text


def test_code_messages_and_usage_of_chats_are_shown(fresh: FrontEnd, model: FakeOpenAI) -> None:
    run_chat(fresh, model, python("x = 1"), "Set.", task="Set x.")
    run_chat(fresh, model, python("y = x\nnowhere"), python("print(y)"), "Shown.", task="Show it.")
    run_chat(fresh, model, "Said.", task="Say it.", options="--new -c other")
    run_chat(fresh, model, task="Hello.", options="--new -c free -m offline")

    whole, last = (fresh.run(f"%autogen code{more} -c main", "code") for more in ("", " 1"))
    chats, history, usage = (fresh.run(f"%autogen {name}", name).text for name in ("chats", "history other", "usage"))

    assert whole.reply is not None
    assert last.reply is not None
    assert [each["text"] for each in whole.reply["payload"]] == ["x = 1\n\ny = x\n\nprint(y)"]
    assert [each["text"] for each in last.reply["payload"]] == ["y = x\n\nprint(y)"]
    origin = {"model": "scripted", "chat": "main", "decision": "run without a question"}
    assert whole.reply["payload"][0]["metadata"] == {"autogen_nb": origin}
    assert [line.split("  ")[0] for line in chats.splitlines()[1:]] == ["main", "other", "free"]
    assert [line.split()[-1] for line in history.splitlines()[1:]] == ["it.", "Said."]
    costs = [line.split()[:4] + line.split()[-1:] for line in usage.splitlines()[1:]]
    assert costs == [
        ["main", "1", "scripted", "2", "unknown"],
        ["main", "2", "scripted", "3", "unknown"],
        ["other", "1", "scripted", "1", "unknown"],
        ["free", "1", "offline", "2", "$0.00"],
    ]


def test_team_is_stored_but_not_resumed(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add("One.")
    fresh.run(
        "from autogen_nb import AssistantAgent, RoundRobinGroupChat\n"
        "a = AssistantAgent('a', llm_config={'model': 'scripted', 'api_key': 'x'})\n"
        "team = RoundRobinGroupChat([a], max_turns=1)",
        "team",
    )
    fresh.run("%%autogen --team team\nGo on.", "one")
    name = next(fresh.cwd.glob(".local/share/autogen_nb/sessions/team-*")).name
    fresh.run("%reload_ext autogen_nb", "load")

    shown = fresh.run(f"%autogen sessions show {name}", "show")
    refused = fresh.run(f"%autogen resume {name}", "resume")
    removed = fresh.run(f"%autogen sessions rm {name}", "remove")

    assert "One." in shown.text
    assert f"Removed: {name}." in removed.text
    assert "is a team's chat: run the cell of the team again to continue it" in refused.error


@pytest.mark.slow
def test_chat_goes_on_where_nothing_can_be_stored(front: FrontEnd, model: FakeOpenAI, tmp_path: Path) -> None:
    data = tmp_path / ".local/share"
    data.mkdir(parents=True, exist_ok=True)
    (data / "autogen_nb").touch()
    model.add("Done.")

    run = front.run("%%autogen\nGo on.", "one")

    assert "Done." in run.text
    assert "The rest of this chat is not stored: Not a directory" in run.text


@pytest.mark.slow
def test_resume_asks_before_blocks_run(front: FrontEnd, model: FakeOpenAI) -> None:
    run_chat(front, model, python("x = 41"), "Set.")
    front.restart()

    nobody = front.run("%autogen resume", "nobody", stdin=False)
    stopped = front.run_clicking("%autogen resume", "resume", click=["Stop"])
    again = front.run("%autogen resume --fresh", "again")
    state = front.run("%autogen kernel vars", "vars")

    assert "nobody is there to answer, and --yes was not given" in nobody.error
    assert "Stopped: nothing was run" in stopped.error
    assert again.status == "ok", again.error
    assert "has no variables" in state.text
