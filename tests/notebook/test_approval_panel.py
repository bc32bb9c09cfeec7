"""Being asked before code runs: Run, Edit, Skip and Stop, and when nobody is asked."""

import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.front_end import FrontEnd
from tests.notebook.scripts import python

REASON = "Why? The assistant reads it (may be empty)"


def told(model: FakeOpenAI) -> str:
    """The last message of the last request."""
    return str(model.requests[-1].body["messages"][-1]["content"])


@pytest.mark.slow
def test_nothing_runs_before_run_is_pressed(either: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("open('pressed', 'w').close()\nprint(6 * 7)"), "It is 42.")

    cell = either.start("%%autogen\nHow much is six by seven?")
    either.asked("Run")
    before = (either.cwd / "pressed").exists()
    either.click("Run")
    either.finish(cell)

    after = (either.cwd / "pressed").exists()
    (either.cwd / "pressed").unlink()
    assert (before, after) == (False, True)
    assert "42" in cell.about("stream")[0]
    assert cell.about("message")[-1].endswith("It is 42.")


@pytest.mark.slow
def test_the_panel_gives_way_to_a_line_that_stays(either: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("1"), "One.")

    cell = either.start("%%autogen\nSay one.")
    either.click("Run")
    either.finish(cell)

    assert [line.rsplit(" · ", 1)[0] for line in cell.about("decision")] == ["Run · by you"]
    assert list(either.visible()) == []


def test_edited_code_is_what_runs(either: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('wrong')"), "Fine.")

    cell = either.start("%%autogen\nPrint something.")
    either.click("Edit")
    either.asked("Run edited")
    shown = either.field("The code to run")
    either.type("print('edited ' * 2)", "The code to run")
    either.click("Run edited")
    either.finish(cell)

    assert shown.strip() == "print('wrong')"
    assert cell.about("stream") == ["edited edited \n"]
    assert "print('edited ' * 2)" in told(model)
    assert "wrong" not in told(model)
    assert cell.about("decision")[0].startswith("Edited and run · by you")
    assert "print('edited ' * 2)" in cell.about("decision")[0]


def test_back_from_editing_leaves_the_code_alone(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('as it was')"), "Fine.")

    cell = notebook.start("%%autogen\nPrint something.")
    notebook.click("Edit")
    notebook.asked("Run edited")
    notebook.type("print('changed')", "The code to run")
    notebook.click("Back")
    notebook.click("Run")
    notebook.finish(cell)

    assert cell.about("stream") == ["as it was\n"]
    assert cell.about("decision")[0].startswith("Run · by you")


def test_a_skipped_block_does_not_run_and_the_model_reads_why(either: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('never seen')"), "Then not.")

    cell = either.start("%%autogen\nDelete everything.")
    either.click("Skip")
    either.type("too dangerous", REASON)
    either.click("Skip")
    either.finish(cell)

    assert "too dangerous" in told(model)
    assert cell.about("decision")[0].startswith("Skipped (too dangerous) · by you")
    assert cell.about("stream") == []
    assert cell.about("message")[-1].endswith("Then not.")


def test_stop_ends_the_chat_and_what_is_queued(either: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('never seen')"))

    cell = either.start("%%autogen\nGo.")
    queued = either.start("print('queued')", "queued")
    either.click("Stop")
    either.finish(cell)
    either.finish(queued)

    assert cell.status == "error"
    assert cell.error == "Stopped by you."
    assert queued.status == "aborted"
    assert len(model.requests) == 1
    assert either.value("6 * 7") == "42"


def test_each_block_of_a_message_is_asked_for(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("first = 1\nprint('one')", "print('two', first)"), "Both ran.")

    cell = notebook.start("%%autogen\nTwo steps.")
    notebook.click("Run")
    notebook.wait(lambda: len(cell.about("decision")) == 1, "the first decision")
    notebook.asked("Run")
    between = "two 1" in cell.text
    panel = cell.about("panel")[0]
    notebook.click("Run")
    notebook.finish(cell)

    assert not between
    assert panel.startswith("Run this code (block 2 of 2)?")
    assert "one" in cell.text
    assert "two 1" in cell.text
    assert [line.split(":")[0] for line in cell.about("decision")] == ["Block 1 of 2", "Block 2 of 2"]


def test_a_panel_says_what_to_do_without_buttons(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("1"))

    cell = notebook.start("%%autogen\nGo.")
    notebook.asked("Run")
    panel = cell.about("panel")[0]
    notebook.click("Stop")
    notebook.finish(cell)

    assert "No buttons here?" in panel
    assert "AutogenMagics.ask = 'text'" in panel


def test_asked_in_words(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('seen')"), "Fine.")
    fresh.answers += ["what?", "s", "not now"]

    fresh.run("%config AutogenMagics.ask = 'text'", "config")
    cell = fresh.run("%%autogen\nGo.")

    assert fresh.prompts == ["[r]un, [e]dit, [s]kip, [a]ll from here, s[t]op? "] * 2 + [
        "Why (for the assistant, may be empty)? "
    ]
    assert "not now" in told(model)
    assert cell.status == "ok"
    assert list(fresh.visible()) == []


HELD = """%%capture kept
from autogen_nb import AssistantAgent, UserProxyAgent
user = UserProxyAgent("user", human_input_mode="NEVER", code_execution_config={"confirm": "always"})
user.initiate_chat(AssistantAgent("assistant", llm_config="scripted"), message="Go.", max_turns=2)
"""


@pytest.mark.parametrize("cell", ["%%capture kept\n%%autogen\nGo.", HELD], ids=["magic", "chat"])
def test_code_is_seen_where_the_cell_captures_its_output(notebook: FrontEnd, model: FakeOpenAI, cell: str) -> None:
    model.add(python("print('a secret')"), "Fine.")

    started = notebook.start(cell)
    notebook.wait(lambda: "print('a secret')" in started.text, "the code that is asked about")
    notebook.answers.append("r")
    notebook.finish(started)

    assert list(notebook.visible()) == []
    # What is captured is the chat, and what came of it.
    assert "Fine." not in started.text
    assert "Fine." in notebook.value("kept.stdout + ''.join(str(each.data) for each in kept.outputs)")


@pytest.mark.parametrize("option", ["--confirm never", "--confirm risky"])
def test_harmless_code_runs_unasked(notebook: FrontEnd, model: FakeOpenAI, option: str) -> None:
    model.add(python("print(sum(range(4)))"), "Six.")

    cell = notebook.run(f"%%autogen {option}\nAdd up.")

    assert cell.status == "ok"
    assert cell.about("decision") == []
    assert cell.about("stream") == ["6\n"]


def test_risky_code_is_asked_for_with_the_reason(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("import shutil\nshutil.rmtree('nothing', ignore_errors=True)"), "Fine.")

    cell = notebook.start("%%autogen --confirm risky\nGo.")
    notebook.asked("Run")
    panel = cell.about("panel")[0]
    notebook.click("Run")
    notebook.finish(cell)

    assert "deletes or moves nothing" in panel
    assert cell.status == "ok"


@pytest.mark.slow
def test_the_environment_that_never_asks_is_shown_all_the_time(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add({"content": python("print('ran')"), "delay": 0.6}, "Fine.")

    notebook.run("import os\nos.environ['AUTOGEN_NB_CONFIRM'] = 'never'", "environ")
    cell = notebook.start("%%autogen\nGo.")
    notebook.wait(lambda: bool(cell.about("status")), "a status line")
    statuses = cell.about("status")
    notebook.finish(cell)

    assert cell.about("stream") == ["ran\n"]
    assert all("AUTOGEN_NB_CONFIRM=never" in status for status in statuses)
    assert "AUTOGEN_NB_CONFIRM=never" in cell.about("end")[0]


@pytest.mark.slow
def test_a_status_line_says_what_runs_how_long_and_how_to_stop_it(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add({"content": "Fine.", "delay": 1.6})

    cell = notebook.start("%%autogen\nGo.")
    notebook.wait(lambda: any("· 1 s" in status for status in cell.about("status")), "the seconds to pass")
    status = cell.about("status")[0]
    notebook.finish(cell)

    assert status.startswith("assistant is thinking … · 1 s · ")
    assert "stop button" in status
    assert cell.about("status") == []


def test_an_option_wins_over_the_environment(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("1"))

    notebook.run("import os\nos.environ['AUTOGEN_NB_CONFIRM'] = 'never'", "environ")
    cell = notebook.start("%%autogen --confirm always\nGo.")
    notebook.click("Stop")
    notebook.finish(cell)

    assert cell.error == "Stopped by you."


def test_nobody_there_to_approve(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('never seen')"))

    cell = notebook.run("%%autogen\nGo.", stdin=False)

    assert cell.status == "error"
    assert "nobody is there" in cell.error
    assert "--confirm never" in cell.error
    assert len(cell.error.splitlines()) == 1
    assert cell.about("stream") == []


@pytest.mark.slow
def test_the_persons_words_are_asked_for(either: FrontEnd, model: FakeOpenAI) -> None:
    model.add("Which colour?", "Blue it is.")

    cell = either.start("%%autogen --human-input always\nPaint.")
    either.type("blue please", "Your message to assistant")
    either.click("Send")
    either.wait(lambda: any("Blue it is" in text for text in cell.about("message")), "the second reply")
    either.click("Exit")
    either.finish(cell)

    assert told(model) == "blue please"
    assert cell.status == "ok"
    assert cell.about("end")[0].startswith("Ended by you")
