"""What the options of `%%autogen` do, in a notebook."""

import re

import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.front_end import FrontEnd
from tests.notebook.scripts import python


def sent(model: FakeOpenAI, number: int = 0) -> list[str]:
    """The messages of a request after the system message, as text."""
    return [str(message["content"]) for message in model.requests[number].body["messages"][1:]]


@pytest.mark.slow
def test_the_next_cell_continues_the_conversation_and_the_kernel(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("total = 41"), "Noted.", python("print(total + 1)"), "It is 42.")

    fresh.run("%%autogen --confirm never\nRemember 41.", "one")
    second = fresh.run("%%autogen --confirm never\nAdd one.", "two")

    assert second.about("stream") == ["42\n"]
    assert [text.splitlines()[0] for text in sent(model, 2)] == [
        "Remember 41.",
        "Let me see.",
        "exitcode: 0 (execution succeeded)",
        "Noted.",
        "Add one.",
    ]


def test_a_task_on_the_first_line_alone(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add("Fine.")

    cell = notebook.run("%%autogen --confirm never What's a \"mean\", and isn't {it} $HOME?")

    assert cell.status == "ok", cell.error
    assert sent(model)[-1] == "What's a \"mean\", and isn't {it} $HOME?"


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "%%autogen\nIs {value} $value %s?",
        "get_ipython().run_cell_magic('autogen', 'Is {value} $value %s?', '')",
        "%%time\n%%autogen\nIs {value} $value %s?",
    ],
    ids=["cell", "from-code", "below-time"],
)
def test_a_task_is_literal(notebook: FrontEnd, model: FakeOpenAI, code: str) -> None:
    model.add("Fine.")

    notebook.run("value = 3", "value")
    cell = notebook.run(code)

    assert cell.status == "ok", cell.error
    assert sent(model)[-1] == "Is {value} $value %s?"


def test_a_template_is_filled(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add("Fine.")

    notebook.run("threshold = 3.5", "value")
    notebook.run("%%autogen --template\nAbove {threshold}? {{literal}} $threshold")

    assert sent(model)[-1] == "Above 3.5? {literal} $threshold"


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("Above {treshold}?", "did you mean 'threshold'?"),
        ("Above {threshold.real}?", "braces"),
        ("Above {threshold!r}?", "braces"),
        ("Above {}?", "braces"),
        ("Above {threshold", "braces"),
    ],
)
def test_a_template_that_cannot_be_filled(notebook: FrontEnd, model: FakeOpenAI, task: str, said: str) -> None:
    notebook.run("threshold = 3.5", "value")
    cell = notebook.run(f"%%autogen --template\n{task}")

    assert cell.status == "error"
    assert said in cell.error
    assert len(cell.error.splitlines()) == 1
    assert model.requests == []


def test_input_output_and_answer(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("doubled = [2 * each for each in numbers]"), "All doubled.\n\nTERMINATE")

    notebook.run("numbers = [1, 2, 3]\nother = 'x'", "values")
    cell = notebook.run("%%autogen --confirm never -i numbers,other -o doubled -a words\nDouble them.")

    assert cell.status == "ok", cell.error
    assert notebook.value("doubled, words") == "[2, 4, 6] All doubled."
    assert "`numbers`: list, 3 items" in sent(model)[-1]
    assert "[1, 2, 3]" not in sent(model)[-1]


def test_what_comes_back_is_a_copy(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("mine.append(4)"), "Done.")

    notebook.run("mine = [1]", "values")
    notebook.run("%%autogen --confirm never -i mine\nAppend.")

    assert notebook.value("mine") == "[1]"


def test_an_output_that_is_not_there(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add("I made nothing.")

    cell = notebook.run("%%autogen -o nothing_here -a words\nMake it.")

    assert cell.status == "error"
    assert "nothing_here" in cell.error
    assert len(cell.error.splitlines()) == 1
    assert notebook.value("words, __import__('autogen_nb').last.summary") == "I made nothing. I made nothing."


def test_the_last_result(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add("The answer.")

    notebook.run("%%autogen\nAsk.")

    notebook.run("import autogen_nb as a", "import")
    assert notebook.value("type(a.last).__name__, a.last.summary, a.last.chat_history[-1]['content']") == (
        "ChatResult The answer. The answer."
    )


@pytest.mark.slow
def test_a_new_chat_keeps_the_old_one(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("here = 'old kernel'"), "One.", "Two.", python("print(here)"), "Three.")

    fresh.run("%%autogen --confirm never\nFirst.", "one")
    second = fresh.run("%%autogen --new\nSecond.", "two")
    note = second.about("note")[0]
    kept = re.findall(r"kept as `([^`]+)`", note)[0]
    third = fresh.run(f"%%autogen --confirm never -c {kept}\nThird.", "three")

    assert f"-c {kept}" in note
    assert sent(model, 2) == ["Second."]
    assert sent(model, 3)[0] == "First."
    assert "Second." not in sent(model, 3)
    assert third.about("stream") == ["old kernel\n"]


def test_chats_are_listed(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add("One.", "Two.")

    fresh.run("%%autogen\nFirst.", "one")
    fresh.run("%%autogen -c side\nSecond.", "two")
    listed = fresh.run("%autogen chats", "list").text
    usage = fresh.run("%autogen", "usage").text

    assert listed.splitlines() == [
        "main: 1 run(s), files in autogen_files/main",
        "side: 1 run(s), files in autogen_files/side",
    ]
    assert "%autogen pull NAME" in usage


@pytest.mark.slow
def test_the_limit_of_turns_ends_a_cell(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print(1)"), python("print(2)"), "Done.")

    cell, queued = fresh.run_all("%%autogen --confirm never --max-turns 2\nCount.", "print('queued')")
    after = fresh.run("%%autogen --confirm never\nGo on.", "two")

    assert cell.status == "error"
    assert cell.error.startswith("Not finished: the limit of 2 turns was met.")
    assert len(cell.error.splitlines()) == 1
    assert cell.about("stream") == ["1\n"]
    assert queued.status == "aborted"
    assert after.about("message")[-1].endswith("Done.")
    assert sent(model, 2)[0] == "Count."


@pytest.mark.slow
def test_the_default_limit_of_turns(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(*[python(f"print({number})") for number in range(25)])

    cell = fresh.run("%%autogen --confirm never\nCount.")

    assert "the limit of 20 turns was met" in cell.error
    assert len(model.requests) == 20


@pytest.mark.slow
def test_a_block_that_takes_too_long(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('begun', flush=True)\nwhile True: pass"), "Too slow.")

    cell = notebook.run("%%autogen --confirm never --block-timeout 0.5\nLoop.")

    assert cell.status == "ok", cell.error
    assert sent(model, 1)[-1].startswith("exitcode: 124 (execution failed)")
    assert "begun" in sent(model, 1)[-1]
    assert "ran out of time" in cell.text


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--modle offline go", "did you mean --model?"),
        ("-i nubmers go", "did you mean 'numbers'?"),
        ("-i nothing go", "there is no variable 'nothing'"),
        ("", "there is no task"),
        ("--max-turns 0 go", "it must be at least 1"),
        ("-m replay:nowhere.jsonl go", "nowhere.jsonl"),
    ],
)
@pytest.mark.parametrize("below", ["", "%%time\n"], ids=["outermost", "below-time"])
def test_bad_input_starts_nothing(notebook: FrontEnd, model: FakeOpenAI, below: str, line: str, said: str) -> None:
    notebook.run("numbers = [1]", "values")

    cell, queued = notebook.run_all(f"{below}%%autogen {line}", "print('queued')")

    assert cell.status == "error"
    assert said in cell.error
    assert len(cell.error.splitlines()) == 1
    assert queued.status == "aborted"
    assert model.requests == []
    assert [output for output in cell.outputs if output.about] == []
    assert not (notebook.cwd / "autogen_files").exists()


def test_a_bad_environment_is_refused(notebook: FrontEnd, model: FakeOpenAI) -> None:
    notebook.run("import os\nos.environ['AUTOGEN_NB_CONFIRM'] = 'nevr'", "environ")
    cell = notebook.run("%%autogen\nGo.")

    assert "AUTOGEN_NB_CONFIRM: confirm is 'nevr'" in cell.error
    assert model.requests == []


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("pull", "is not a command"),
        ("fetch it", "is not a command; there are pull, push"),
        ("shwo", "is not a command; did you mean 'show'?"),
        ("pull it's", "no closing quotation"),
        ("pull nothing_at_all", "nothing_at_all"),
        ("push nothing_at_all", "there is no variable 'nothing_at_all'"),
        ("pull it -c nowhere", "there is no chat 'nowhere'"),
        ("pull it -c", "there is no chat ''"),
    ],
)
def test_a_bad_command_is_one_error(notebook: FrontEnd, command: str, said: str) -> None:
    cell = notebook.run(f"%autogen {command}")

    assert cell.status == "error"
    assert said in cell.error
    assert len(cell.error.splitlines()) == 1


def test_the_commands_fit_a_cell(notebook: FrontEnd) -> None:
    cell = notebook.run("%autogen")

    assert "%autogen show [CHAT]\n    shows the chat again" in cell.text
    assert max(map(len, cell.text.splitlines())) <= 72
