import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from autogen_nb.errors import ChatUnfinished
from autogen_nb.notebook.asking.delivery import intercept, question_channel
from autogen_nb.notebook.asking.person import COPY, RESTORE, UNDO, Choice, TypingPerson
from autogen_nb.run.surfaces import IOConsole, IOStream
from autogen_nb.testing import FakeOpenAI
from tests.human.test_pipes import AGENTS
from tests.notebook.conftest import python
from tests.notebook.front_end import FrontEnd

TALK = "result = user.initiate_chat(assistant, message='Go.')"


def kernel(**more: Any) -> Any:
    request = {"header": {}, "metadata": {"cellId": "one"}, "content": {"allow_stdin": True}}
    return SimpleNamespace(kernel=SimpleNamespace(get_parent=lambda _: request, **more), configurables=[])


class Typed(IOConsole):
    def __init__(self, text: str) -> None:
        self._text = text

    def input(self, prompt: str = "", *, password: bool = False) -> str:
        del prompt, password
        return self._text


@pytest.mark.parametrize("choice", [COPY, RESTORE, UNDO], ids=["copy", "restore", "undo"])
def test_typed_choice(choice: Choice) -> None:
    with IOStream.set_default(Typed(" Y")):
        assert TypingPerson().choose(choice, "Go?")
    with IOStream.set_default(Typed("n")):
        assert not TypingPerson().choose(choice, "Go?")


@pytest.mark.parametrize("text", ["t", ""])
def test_typed_stop(text: str) -> None:
    with IOStream.set_default(Typed(text)):
        assert not TypingPerson().choose(UNDO, "Go?")
        with pytest.raises(ChatUnfinished, match="Stopped: nothing was run"):
            TypingPerson().choose(RESTORE, "Go?")


def test_a_kernel_that_is_made_otherwise_is_asked_in_words() -> None:
    shell = kernel()

    assert intercept(shell.kernel) is None
    assert question_channel(shell, blocks=False).way == "words"
    assert "unexpected internals" in question_channel(shell, blocks=False).why
    assert "receives no clicks while a cell runs without await" in question_channel(shell, blocks=True).why


def test_a_kernel_that_hears_clicks_by_itself_has_buttons() -> None:
    async def dispatch(msg: object, *, concurrent: bool = False) -> None:
        await asyncio.sleep(0)

    shell = kernel(dispatch_shell=dispatch)

    assert question_channel(shell, blocks=False).way == "buttons"
    assert question_channel(shell, blocks=True).way == "words"


@pytest.mark.slow
@pytest.mark.blocking
@pytest.mark.parametrize("silent", [False, True], ids=["shown", "silent"])
def test_a_plain_cell_shows_what_it_asks_about(either: FrontEnd, model: FakeOpenAI, *, silent: bool) -> None:
    model.add(python("print('it', 'ran')"), "TERMINATE")
    either.run(AGENTS, "agents")

    cell = either.start(TALK.replace(")", f", silent={silent})"))
    either.asked("Run")
    shown = cell.text
    either.click("Run")
    either.finish(cell)

    assert cell.error == ""
    assert shown.count("print('it', 'ran')") == 1
    assert ("print('it', 'ran')" in cell.text) is not silent
    assert list(either.visible()) == []


@pytest.mark.ipykernel6
def test_a_plain_cell_asks_in_words(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('it', 'ran')"), "TERMINATE", python("1"))
    notebook.run(AGENTS, "agents")

    notebook.answers.append("r")
    cell = notebook.run(TALK)
    stopped = notebook.start(TALK, "stopped")
    notebook.wait(lambda: len(notebook.prompts) > 1, "a question in words")
    notebook.stop(stopped)

    assert notebook.prompts == ["[r]un, [e]dit, [s]kip, s[t]op? "] * 2
    assert "it ran" in cell.text
    assert "KeyboardInterrupt" in stopped.error
    assert cell.text.count("Questions appear as text here: ipykernel 6.") == 1


@pytest.mark.slow
@pytest.mark.blocking
def test_a_plain_cell_run_again_does_not_hang(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('it', 'ran')"), python("print('it', 'ran')"), "TERMINATE")
    notebook.run(AGENTS, "agents")

    first = notebook.start(TALK)
    notebook.asked("Run")
    second = notebook.start(TALK)
    notebook.finish(first)
    notebook.finish(second)
    third = notebook.run_clicking(TALK, click=["Run"])

    assert second.status == "aborted"
    assert third.error == ""


@pytest.mark.slow
def test_a_chat_that_is_awaited_can_be_stopped(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("1"))
    notebook.run(AGENTS, "agents")

    cell = notebook.start("await user.a_initiate_chat(assistant, message='Go.')")
    notebook.asked("Run")
    notebook.stop(cell)

    assert cell.status == "error"
    assert list(notebook.visible()) == []
