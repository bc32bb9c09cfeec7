"""``%autogen undo`` and ``redo``: the conversation and the variables of a chat, some cells earlier."""

import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.conftest import environment
from tests.notebook.front_end import FrontEnd
from tests.notebook.scripts import python

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.skipif(sys.platform != "linux", reason="checkpoints are forks on Linux"),
]

NEVER = "%%autogen --confirm never\n"
LOOK = "print(sorted(name for name in globals() if name in 'xyz'), x if 'x' in globals() else None)"


@pytest.fixture
def front(tmp_path: Path, model: FakeOpenAI) -> Iterator[FrontEnd]:
    environ = environment(tmp_path, OPENAI_BASE_URL=model.base_url, AUTOGEN_NB_MODEL="scripted")
    with FrontEnd(tmp_path, environ) as front:
        front.run("%load_ext autogen_nb", "load")
        yield front


def tasks(model: FakeOpenAI) -> list[str]:
    """What people said, in the last request."""
    messages = model.requests[-1].body["messages"]
    said = [str(message["content"]) for message in messages if message["role"] == "user"]
    return [text for text in said if not text.startswith("exitcode")]


def test_the_last_cell_is_taken_back_and_brought_back(front: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("x = [1]"), "One.", python("x.append(2); y = 2"), "Two.", "Three.", python(LOOK), "Done.")
    front.run(f"{NEVER}First.", "one")
    second = front.run(f"{NEVER}Second.", "two")
    undone = front.run("%autogen undo", "undo")
    redone = front.run("%autogen redo", "redo")
    again = front.run("%autogen undo", "again")
    front.run(f"{NEVER}Third.", "three")
    asked = tasks(model)
    looked = front.run(f"{NEVER}Look.", "look")
    late = front.run("%autogen redo", "late")

    assert "changed x, new y" in second.text.replace("`", "")
    assert undone.status == "ok", undone.error
    assert "Took back the cell “Second”. `%autogen redo` brings it back." in undone.text
    assert "Brought back the cell “Second”. The agent's variables are as they were then." in redone.text
    assert "Took back the cell “Second”" in again.text
    assert asked == ["First.", "Third."]
    assert looked.about("stream") == ["['x'] [1]\n"]
    assert "nothing of chat 'main' was taken back since its last new cell" in late.error


def test_several_cells_are_taken_back(front: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("x = 1"), "One.", python("x = 2"), "Two.", python("y = 3"), "Three.", python(LOOK), "Done.")
    for task in ("First.", "Second.", "Third."):
        front.run(f"{NEVER}{task}", task)
    undone = front.run("%autogen undo 2", "undo")
    looked = front.run(f"{NEVER}Look.", "look")

    assert "Took back 2 cells (“Second”, “Third”)" in undone.text
    assert looked.about("stream") == ["['x'] 1\n"]
    assert tasks(model) == ["First.", "Look."]


def test_effects_that_stay_are_listed_first(front: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("x = 1"), "One.", python("open('report.txt', 'w').write('text')\ny = 2"), "Two.")
    front.run(f"{NEVER}First.", "one")
    front.run_clicking("%%autogen -o y\nSecond.", "two", click=["Run"])
    front.start("%autogen undo", "undo")
    front.click("Keep")
    kept = front.finish(front._cells["undo"])
    front.start("%autogen undo", "again")
    front.click("Undo")
    undone = front.finish(front._cells["again"])
    nothing = front.run("%autogen undo 0", "nothing")

    assert "Nothing was taken back." in kept.text
    assert "report.txt" in undone.text
    assert "sets `y` in the notebook" in undone.text
    assert "Took back the cell “Second”" in undone.text
    assert "takes a number of cells" in nothing.error


def test_a_cell_that_runs_again_begins_with_its_variables(front: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("x = 1"), "One.", python("x += 1"), "Two.", python("x += 1\nprint(x)"), "Two again.")
    model.add(python(LOOK), "Done.")
    front.run(f"{NEVER}First.", "one")
    front.run(f"{NEVER}Second.", "two")
    again = front.run(f"{NEVER}Second, changed.", "two")
    redone = front.run("%autogen redo", "redo")
    looked = front.run(f"{NEVER}Look.", "look")

    assert again.about("stream") == ["2\n"]
    assert "`%autogen redo` brings back the earlier state" in again.about("note")[0]
    assert "Brought back the cell “Second”, and took back the cell “Second, changed”." in redone.text
    assert looked.about("stream") == ["['x'] 2\n"]
    assert tasks(model) == ["First.", "Second.", "Look."]


def test_without_checkpoints_the_blocks_run_again(front: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("x = 1"), "One.", python("x = 2"), "Two.", python(LOOK), "Done.")
    front.run("%config AutogenMagics.checkpoints = False", "off")
    front.run("%%autogen -c other --confirm never\nFirst.", "one")
    front.run("%%autogen -c other --confirm never\nSecond.", "two")
    undone = front.run_clicking("%autogen undo -c other", "undo", click=["Run again"])
    looked = front.run("%%autogen -c other --confirm never\nLook.", "look")

    assert "There is no checkpoint of the agent's variables." in undone.text
    assert "Restored: `x`." in undone.text
    assert looked.about("stream") == ["['x'] 1\n"]


def test_a_crash_takes_back_the_block_and_the_model_is_told(front: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("x = 1"), "One.", python("x = 2\nimport os\nos._exit(1)"), python(LOOK), "Done.")
    front.run(f"{NEVER}First.", "one")
    ran = front.run(f"{NEVER}Second.", "two")

    assert ran.about("stream") == ["['x'] 1\n"]
    told = str(model.requests[3].body["messages"][-1]["content"])
    assert (
        "The kernel ended (exit code 1) while the block ran; its variables are as they were before the block." in told
    )


def test_taken_back_cells_stay_away_after_a_restart(front: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("x = 1"), "One.", python("x = 2"), "Two.", python(LOOK), "Done.")
    front.run(f"{NEVER}First.", "one")
    front.run(f"{NEVER}Second.", "two")
    front.run("%autogen undo", "undo")
    front.restart()
    front.run("%load_ext autogen_nb", "load")
    front.run("%autogen resume --yes", "resume")
    redone = front.run("%autogen redo --yes", "redo")
    looked = front.run(f"{NEVER}Look.", "look")

    assert "Brought back the cell “Second”" in redone.text
    assert looked.about("stream") == ["['x'] 2\n"]
    assert tasks(model) == ["First.", "Second.", "Look."]


def test_rollback_repairs_from_a_clean_state(front: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("x = 1"), "One.", python("x += 1\nx = x / 0"), python("x += 1"), "Two.", python(LOOK), "Done.")
    front.run(f"{NEVER}First.", "one")
    front.run(f"{NEVER.strip()} --on-error rollback\nSecond.", "two")
    looked = front.run(f"{NEVER}Look.", "look")
    code = front.run("%autogen code", "code")

    assert looked.about("stream") == ["['x'] 2\n"]
    told = str(model.requests[3].body["messages"][-1]["content"])
    assert "The block failed; its variables are as they were before the block." in told
    assert code.status == "ok", code.error


def test_a_budget_counts_what_was_taken_back(front: FrontEnd, model: FakeOpenAI) -> None:
    model.add("One.", "Two.", "Three.")
    spent = [front.run("%%autogen --budget 100ktokens\nFirst.", "one").text]
    front.run("%autogen undo", "undo")
    spent.append(front.run("%%autogen --budget 100ktokens\nSecond.", "two").text)
    first, second = (int(re.findall(r"([\d,]+) of 100,000 tokens", text)[-1].replace(",", "")) for text in spent)

    assert second > first


def test_a_state_that_was_lost_does_not_come_back_by_redo(front: FrontEnd, model: FakeOpenAI) -> None:
    model.add(
        python("x = 1"), "One.", python("x = 2\nimport os\nprint(os.getpid())"), "Two.", python("x = 3"), "Three."
    )
    front.run(f"{NEVER}First.", "one")
    second = front.run(f"{NEVER}Second.", "two")
    os.kill(int(second.about("stream")[0]), signal.SIGKILL)
    front.run(f"{NEVER}Second, changed.", "two")
    redone = front.run("%autogen redo --yes", "redo")

    assert "as they were then" in redone.text or "There is no checkpoint" in redone.text
    model.add(python(LOOK), "Done.")
    assert front.run(f"{NEVER}Look.", "look").about("stream") == ["['x'] 2\n"]


def test_a_cell_is_retried_beside_its_earlier_answer(front: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("x = [1]"), "One.", python("x.append(2)"), "**Two**.", python("x.append(3)"), "Three.")
    front.run(f"{NEVER}First.", "one")
    front.run(f"{NEVER}Second.", "two")
    retried = front.run("%autogen retry -m another", "retry")
    model.add(python(LOOK), "Seen.")
    looked = front.run(f"{NEVER}Look.", "look")

    assert retried.status == "ok", retried.error
    assert "The new answer is kept." in retried.text
    assert re.search(r"earlier: scripted.*new: another.*<strong>Two</strong>.*Three", retried.html(), re.DOTALL)
    assert tasks(model) == ["First.", "Second.", "Look."]
    assert looked.about("stream") == ["['x'] [1, 3]\n"]


def test_redo_brings_back_the_answer_before_a_retry(front: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("x = [1]"), "One.", python("x = [2]"), "Two.", python(LOOK), "Seen.")
    front.run(f"{NEVER}First.", "one")
    front.run("%autogen retry", "retry")
    redone = front.run("%autogen redo", "redo")
    looked = front.run(f"{NEVER}Look.", "look")

    assert "The agent's variables are as they were then." in redone.text
    assert looked.about("stream") == ["['x'] [1]\n"]


def test_a_branch_has_its_own_kernel_and_conversation(front: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("x = [1]"), "One.", python("y = 2"), "Two.")
    front.run(f"{NEVER}First.", "one")
    front.run(f"{NEVER}Second.", "two")
    branched = front.run("%autogen branch what-if --at 1 --yes", "branch")
    model.add(python("x.append(5); " + LOOK), "Branch.", python(LOOK), "Main.", python(LOOK), "Both.")
    there = front.run("%%autogen --confirm never -c what-if\nThere.", "there")
    asked_there = tasks(model)
    here = front.run(f"{NEVER}Here.", "here")
    asked_here = tasks(model)
    again = front.run("%autogen branch what-if --yes", "again")

    assert branched.status == "ok", branched.error
    assert "The chat what-if goes on after cell 1 of main" in branched.text.replace("`", "")
    assert there.about("stream") == ["['x'] [1, 5]\n"]
    assert asked_there == ["First.", "There."]
    assert here.about("stream") == ["['x', 'y'] [1]\n"]
    assert asked_here == ["First.", "Second.", "Here."]
    assert "there is a chat 'what-if' already" in again.error


def test_the_first_cell_runs_again_in_its_own_chat(front: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("x = [1]"), "One.", python("x = [2]"), "Two.", python(LOOK), "Branch.")
    front.run(f"{NEVER}First.", "one")
    front.run("%autogen branch what-if --yes", "branch")
    front.run(f"{NEVER}First.", "one")
    there = front.run("%%autogen --confirm never -c what-if\nThere.", "there")

    assert there.about("stream") == ["['x'] [1]\n"]


def test_a_branch_of_a_cell_without_an_end_is_refused(front: FrontEnd, model: FakeOpenAI) -> None:
    empty = front.run("%autogen branch what-if --yes", "empty")
    number = front.run("%autogen branch what-if --at x", "number")
    nothing = front.run("%autogen retry", "nothing")

    assert "chat 'main' has no cell" in empty.error
    assert "takes a number of cells, not 'x'" in number.error
    assert "has no answer to retry: it has no cell" in nothing.error
