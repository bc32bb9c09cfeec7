"""``%autogen attach``: a session that another program runs, shown as it happens."""

from contextlib import aclosing
from functools import partial

from autogen_nb.errors import ConfigError
from autogen_nb.events import Answer, ApprovalAsked, CodeInputAsked, EffectAsked, Ended, Question
from autogen_nb.notebook.asking.person import Person
from autogen_nb.notebook.commands.command import CommandContext, argument, command
from autogen_nb.notebook.notebook import CellStage
from autogen_nb.sessions.attachment import follow

_ATTACHED = "This cell shows the session {!r} as it runs, and asks its questions. Stop the cell (■) to detach."

_GONE = "The program that ran the session has ended."


@command(
    "shows a session that another program runs, such as an MCP client's, and asks its questions here",
    argument("name", metavar="NAME", help="the session, or a part of its name", completes="stored"),
)
async def attach(context: CommandContext, name: str) -> None:
    if context.waits == "sync":
        raise ConfigError("%autogen attach needs a cell of its own in a notebook, where clicks arrive while it waits")
    store = context.notebook.sessions.store
    found = store.find(name)
    with context.stage() as stage:
        async with aclosing(follow(store.folder / found, partial(_answer, stage))) as events:
            async for event in events:
                if event is None:
                    stage.view.note(_ATTACHED.format(found))
                else:
                    stage.view.show(event)
                    stage.view.tick()
        stage.view.note(_GONE)
        stage.view.show(Ended("answered"))


async def _answer(stage: CellStage, question: Question) -> Answer:
    def ask(person: Person) -> object:
        match question:
            case ApprovalAsked():
                return person.approve(question)
            case EffectAsked():
                return person.allow(question)  # type: ignore[attr-defined]
            case CodeInputAsked():
                return person.typed(question)  # type: ignore[attr-defined]
        raise ConfigError(f"the session asks a question that only its own program can answer: {question!r}")

    return await stage.ask(ask)  # type: ignore[arg-type]
