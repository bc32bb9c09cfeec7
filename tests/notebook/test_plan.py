"""``%%autogen --plan``: a plan, which the person approves or edits before any code runs."""

from autogen_nb.testing import FakeOpenAI
from tests.notebook.conftest import python, told
from tests.notebook.front_end import FrontEnd

PLAN = "1. Add.\n2. Say it."


def test_edited_plan_reaches_the_assistant_before_its_first_code(either: FrontEnd, model: FakeOpenAI) -> None:
    model.add(PLAN, python("print(20 + 22)"), "It is 42.")

    cell = either.start("%%autogen --plan\nAdd.")
    either.click("Edit")
    either.type("1. Only add.", "The plan")
    either.click("Carry out edited")
    either.click("Run")
    either.finish(cell)

    assert "numbered list" in told(model, 0)
    assert told(model, 1) == "I changed the plan. Carry out this one:\n\n1. Only add."
    assert cell.decisions == ["Plan edited · by you", "run by you"]
    assert "1. Only add." in cell.text
    assert cell.about("stream") == ["42\n"]


def test_plan_waits_for_its_answer_after_an_interrupt_and_a_restart(front: FrontEnd, model: FakeOpenAI) -> None:
    model.add(PLAN, python("print(20 + 22)"), "It is 42.", "Fine.")
    cell = front.start("%%autogen --plan\nAdd.", "one")
    front.asked("Carry out")
    front.stop(cell)
    front.start("%%autogen --plan\nAdd.", "one")
    front.asked("Carry out")
    front.restart()
    resumed = front.run_clicking("%autogen resume", "resume", click=["Carry out", "Run"])
    front.run("%%autogen\nThank you.", "two")

    assert resumed.decisions == ["Plan approved · by you", "run by you"]
    assert "I approve the plan" not in resumed.text
    assert len(model.requests) == 4
    assert told(model, 1) == "I approve the plan. Carry it out."


def test_plan_needs_a_person_and_one_task(notebook: FrontEnd, model: FakeOpenAI) -> None:
    alone = notebook.finish(notebook.start("%%autogen --plan --confirm never\nAdd.", stdin=False))
    each = notebook.run("%%autogen --plan --each rows\nAdd {x}.")

    assert "a plan needs a person" in alone.error
    assert "not available with --each: --plan" in each.error
    assert model.requests == []
