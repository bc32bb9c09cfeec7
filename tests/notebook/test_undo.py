"""``%autogen undo`` and ``redo``: the conversation and the variables of a chat, some cells earlier."""

import os
import re
import signal
import sys
from pathlib import Path

import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.conftest import python, run_chat
from tests.notebook.front_end import FrontEnd

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="checkpoints are forks on Linux")

psutil = pytest.importorskip("psutil")

LOOK = "print(sorted(name for name in globals() if name in 'xyz'), x if 'x' in globals() else None)"


def tasks(model: FakeOpenAI) -> list[str]:
    """What people said, in the last request."""
    messages = model.requests[-1].body["messages"]
    said = [str(message["content"]) for message in messages if message["role"] == "user"]
    return [text for text in said if not text.startswith("exitcode")]


def test_cells_are_taken_back_and_brought_back(fresh: FrontEnd, model: FakeOpenAI) -> None:
    run_chat(fresh, model, python("x = [1]"), "One.", task="First.")
    second = run_chat(fresh, model, python("x.append(2); y = 2"), "Two.", task="Second.")
    undone = fresh.run("%autogen undo", "undo")
    redone = fresh.run("%autogen redo", "redo")
    again = fresh.run("%autogen undo", "again")
    run_chat(fresh, model, "Three.", task="Third.")
    asked = tasks(model)
    looked = run_chat(fresh, model, python(LOOK), "Done.", task="Look.")
    late = fresh.run("%autogen redo", "late")
    several = fresh.run("%autogen undo 2", "several")
    run_chat(fresh, model, python(LOOK), "Done.", task="Last.")

    assert "changed x, new y" in second.text.replace("`", "")
    assert undone.status == "ok", undone.error
    assert "Took back the cell “Second”. `%autogen redo` brings it back." in undone.text
    assert "Brought back the cell “Second”. The agent's variables are as they were then." in redone.text
    assert "Took back the cell “Second”" in again.text
    assert asked == ["First.", "Third."]
    assert looked.about("stream") == ["['x'] [1]\n"]
    assert "nothing of chat 'main' was taken back since its last new cell" in late.error
    assert "Took back 2 cells (“Third”, “Look”)" in several.text
    assert tasks(model) == ["First.", "Last."]


def test_effects_that_stay_are_listed_first(fresh: FrontEnd, model: FakeOpenAI) -> None:
    run_chat(fresh, model, python("x = 1"), "One.", task="First.")
    model.add(python("open('report.txt', 'w').write('text')\ny = 2"), "Two.")
    fresh.run_clicking("%%autogen -o y\nSecond.", "two", click=["Run"])
    kept = fresh.run_clicking("%autogen undo", "undo", click=["Keep"])
    undone = fresh.run_clicking("%autogen undo", "again", click=["Undo"])

    assert "Nothing was taken back." in kept.text
    assert "report.txt" in undone.text
    assert "sets `y` in the notebook" in undone.text
    assert "Took back the cell “Second”" in undone.text


def test_a_cell_that_runs_again_begins_with_its_variables(fresh: FrontEnd, model: FakeOpenAI) -> None:
    run_chat(fresh, model, python("x = 1"), "One.", task="First.")
    run_chat(fresh, model, python("x += 1"), "Two.", task="Second.", cell="two")
    again = run_chat(fresh, model, python("x += 1\nprint(x)"), "Two again.", task="Second, changed.", cell="two")
    redone = fresh.run("%autogen redo", "redo")
    looked = run_chat(fresh, model, python(LOOK), "Done.", task="Look.")

    assert again.about("stream") == ["2\n"]
    assert "`%autogen redo` brings back the earlier state" in again.about("note")[0]
    assert "Brought back the cell “Second”, and took back the cell “Second, changed”." in redone.text
    assert looked.about("stream") == ["['x'] 2\n"]
    assert tasks(model) == ["First.", "Second.", "Look."]


def test_a_checkpoint_that_the_system_ended_to_free_memory_is_named(fresh: FrontEnd, model: FakeOpenAI) -> None:
    run_chat(fresh, model, python("x = 1"), "One.", task="First.")
    run_chat(fresh, model, python("x = 2"), "Two.", task="Second.")
    third = run_chat(fresh, model, python("x = 3"), "Three.", task="Third.")
    copies = [each for each in psutil.Process(fresh.pid).children(recursive=True) if each.name() == "checkpoint"]
    scores = {Path(f"/proc/{each.pid}/oom_score_adj").read_text() for each in copies}
    sorted(copies, key=lambda each: each.create_time())[1].kill()
    fresh.wait(lambda: "To save memory" in third.text, "the line")
    undone = fresh.run("%autogen undo", "undo")

    assert scores == {"1000\n"}
    assert "the agent's kernel has given up the checkpoint before cell 2: going back there runs" in third.text
    assert "as they were before" in undone.text


@pytest.mark.slow
def test_without_checkpoints_the_blocks_run_again(fresh: FrontEnd, model: FakeOpenAI) -> None:
    fresh.run("%config AutogenMagics.checkpoints = False", "off")
    run_chat(fresh, model, python("x = 1"), "One.", task="First.", options="-c other")
    run_chat(fresh, model, python("x = 2"), "Two.", task="Second.", options="-c other")
    undone = fresh.run_clicking("%autogen undo -c other", "undo", click=["Run again"])
    looked = run_chat(fresh, model, python(LOOK), "Done.", task="Look.", options="-c other")

    assert "There is no checkpoint of the agent's variables." in undone.text
    assert "Restored: `x`." in undone.text
    assert looked.about("stream") == ["['x'] 1\n"]


def test_a_block_that_failed_or_crashed_is_taken_back_and_the_model_is_told(fresh: FrontEnd, model: FakeOpenAI) -> None:
    run_chat(fresh, model, python("x = 1"), "One.", task="First.")
    fails = python("x += 1\nx = x / 0")
    run_chat(fresh, model, fails, python("x += 1"), "Two.", task="Second.", options="--on-error rollback")
    crashed = run_chat(fresh, model, python("x = 3\nimport os\nos._exit(1)"), python(LOOK), "Done.", task="Third.")
    code = fresh.run("%autogen code", "code")
    failure, crash = (str(model.requests[number].body["messages"][-1]["content"]) for number in (3, 6))

    assert crashed.about("stream") == ["['x'] 2\n"]
    assert "The block failed; its variables are as they were before the block." in failure
    assert (
        "The kernel ended (exit code 1) while the block ran; its variables are as they were before the block." in crash
    )
    assert code.status == "ok", code.error


@pytest.mark.slow
def test_taken_back_cells_stay_away_after_a_restart(front: FrontEnd, model: FakeOpenAI) -> None:
    run_chat(front, model, python("x = 1"), "One.", task="First.")
    run_chat(front, model, python("x = 2"), "Two.", task="Second.")
    front.run("%autogen undo", "undo")
    front.restart()
    front.run("%autogen resume --yes", "resume")
    redone = front.run("%autogen redo --yes", "redo")
    looked = run_chat(front, model, python(LOOK), "Done.", task="Look.")

    assert "Brought back the cell “Second”" in redone.text
    assert looked.about("stream") == ["['x'] 2\n"]
    assert tasks(model) == ["First.", "Second.", "Look."]


def test_a_budget_counts_what_was_taken_back(fresh: FrontEnd, model: FakeOpenAI) -> None:
    spent = [run_chat(fresh, model, "One.", task="First.", options="--budget 100ktokens").text]
    fresh.run("%autogen undo", "undo")
    spent.append(run_chat(fresh, model, "Two.", task="Second.", options="--budget 100ktokens").text)
    first, second = (int(re.findall(r"([\d,]+) of 100,000 tokens", text)[-1].replace(",", "")) for text in spent)

    assert second > first


@pytest.mark.slow
def test_a_state_that_was_lost_does_not_come_back_by_redo(fresh: FrontEnd, model: FakeOpenAI) -> None:
    run_chat(fresh, model, python("x = 1"), "One.", task="First.")
    second = run_chat(fresh, model, python("x = 2\nimport os\nprint(os.getpid())"), "Two.", task="Second.", cell="two")
    os.kill(int(second.about("stream")[0]), signal.SIGKILL)
    run_chat(fresh, model, python("x = 3"), "Three.", task="Second, changed.", cell="two")
    redone = fresh.run("%autogen redo --yes", "redo")
    looked = run_chat(fresh, model, python(LOOK), "Done.", task="Look.")

    assert "as they were then" in redone.text or "There is no checkpoint" in redone.text
    assert looked.about("stream") == ["['x'] 2\n"]


def test_a_cell_is_retried_beside_its_earlier_answer_which_can_come_back(fresh: FrontEnd, model: FakeOpenAI) -> None:
    run_chat(fresh, model, python("x = [1]"), "One.", task="First.")
    run_chat(fresh, model, python("x.append(2)"), "**Two**.", task="Second.")
    model.add(python("x.append(3)"), "Three.")
    retried = fresh.run("%autogen retry -m another", "retry")
    looked = run_chat(fresh, model, python(LOOK), "Seen.", task="Look.")
    asked = tasks(model)
    model.add(python("x = [9]"), "Nine.")
    fresh.run("%autogen retry", "again")
    redone = fresh.run("%autogen redo", "redo")
    back = run_chat(fresh, model, python(LOOK), "Seen.", task="Look again.")

    assert retried.status == "ok", retried.error
    assert "The new answer is kept." in retried.text
    assert re.search(r"earlier: scripted.*new: another.*<strong>Two</strong>.*Three", retried.html(), re.DOTALL)
    assert asked == ["First.", "Second.", "Look."]
    assert looked.about("stream") == ["['x'] [1, 3]\n"]
    assert "The agent's variables are as they were then." in redone.text
    assert back.about("stream") == ["['x'] [1, 3]\n"]


def test_a_branch_has_its_own_kernel_and_conversation(fresh: FrontEnd, model: FakeOpenAI) -> None:
    empty = fresh.run("%autogen branch what-if --yes", "empty")
    nothing = fresh.run("%autogen retry", "nothing")
    run_chat(fresh, model, python("x = [1]"), "One.", task="First.")
    run_chat(fresh, model, python("y = 2"), "Two.", task="Second.")
    branched = fresh.run("%autogen branch what-if --at 1 --yes", "branch")
    there = run_chat(fresh, model, python("x.append(5); " + LOOK), "Branch.", task="There.", options="-c what-if")
    asked_there = tasks(model)
    here = run_chat(fresh, model, python(LOOK), "Main.", task="Here.")
    asked_here = tasks(model)
    again = fresh.run("%autogen branch what-if --yes", "again")
    run_chat(fresh, model, python("x = [2]"), "One.", task="First.")
    later = run_chat(fresh, model, python(LOOK), "Branch.", task="Later.", options="-c what-if")

    assert "chat 'main' has no cell" in empty.error
    assert "has no answer to retry: it has no cell" in nothing.error
    assert branched.status == "ok", branched.error
    assert "The chat what-if goes on after cell 1 of main" in branched.text.replace("`", "")
    assert there.about("stream") == ["['x'] [1, 5]\n"]
    assert asked_there == ["First.", "There."]
    assert here.about("stream") == ["['x', 'y'] [1]\n"]
    assert asked_here == ["First.", "Second.", "Here."]
    assert "there is a chat 'what-if' already" in again.error
    assert later.about("stream") == ["['x'] [1, 5]\n"]
