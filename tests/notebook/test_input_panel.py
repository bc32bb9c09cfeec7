import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.front_end import FrontEnd
from tests.notebook.scripts import python

NAME = "The code that runs waits for input: Name?"
SECRET = "The code that runs waits for a password: Code?"


@pytest.mark.slow
def test_what_is_sent_goes_to_the_code(either: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('Hello')\nprint('So you are', input('Name? '))"), "Done.")

    cell = either.start("%%autogen --confirm never\nAsk me.")
    either.asked("Send")
    before = cell.about("stream")
    either.type("Ada", NAME)
    either.click("Send")
    either.finish(cell)

    assert before == ["Hello\n"]
    assert cell.about("stream") == ["Hello\n", "So you are Ada\n"]
    assert [line.rsplit(" · ", 1)[0] for line in cell.about("decision")] == [
        "Typed for the code (`Name?`): `Ada` · by you"
    ]
    assert list(either.visible()) == []


@pytest.mark.slow
def test_no_input_ends_the_codes_input(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("try:\n    input()\nexcept EOFError:\n    print('nothing')"), "Done.")

    cell = notebook.start("%%autogen --confirm never\nAsk me.")
    notebook.click("End of input")
    notebook.finish(cell)

    assert cell.about("stream") == ["nothing\n"]
    assert cell.about("decision")[0].startswith("Typed for the code: nothing")
