import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.front_end import FrontEnd
from tests.notebook.scripts import python


@pytest.mark.slow
def test_status_and_variables(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("import numpy\nbig = numpy.zeros(1000)\ntext = '<b>x</b>'"), "Done.", "Fine.")
    fresh.run("%%autogen --confirm never\nGo.", "one")
    fresh.run("%%autogen -c other\nGo.", "two")

    status = fresh.run("%autogen kernel", "status")
    variables = fresh.run("%autogen kernel vars main", "vars")
    other = fresh.run("%autogen kernel status -c other", "other")

    assert status.text.split("\n")[0].split("  ")[0] == "chat"
    assert "main" in status.text
    assert "idle" in status.text
    assert "this machine, no sandbox" in status.text
    assert " of " in status.text
    assert [line.split() for line in variables.text.split("\n")[1:]] == [
        ["big", "ndarray", "1000", "8.0", "KB"],
        ["text", "str", "56", "bytes"],
    ] or "8.0 KB" in variables.text
    assert "<td" in variables.html()
    assert "off" in other.text


@pytest.mark.slow
def test_restart_and_interrupt(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("kept = 1"), "Done.")
    fresh.run("%%autogen --confirm never\nGo.", "one")

    interrupted = fresh.run("%autogen kernel interrupt", "interrupt")
    restarted = fresh.run("%autogen kernel restart", "restart")
    variables = fresh.run("%autogen kernel vars", "vars")

    assert interrupted.text == "Nothing runs in the agent's kernel."
    assert "a fresh one" in restarted.text
    assert "holds no variables" in variables.text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("statu", "did you mean 'status'?"),
        ("explode", "there are status, restart, interrupt, vars"),
        ("status nobody", "there is no chat 'nobody'; known are main"),
        ("status main other", "takes the name of one chat"),
    ],
)
def test_what_cannot_be_meant(fresh: FrontEnd, words: str, said: str) -> None:
    assert said in fresh.run(f"%autogen kernel {words}").error
