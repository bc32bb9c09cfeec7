"""The grammar of ``%autogen``: a command is an async function with a name, a help text and arguments by argparse.

A command may ask questions. In a cell of its own it is awaited, so that the notebook's loop handles clicks; elsewhere,
it blocks the kernel's thread.
"""

import argparse
import re
import shlex
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn, TypeVar

from IPython.core.interactiveshell import InteractiveShell

from autogen_nb import run
from autogen_nb.conversations.conversations import NotebookConversation
from autogen_nb.errors import ConfigError
from autogen_nb.messages import Completion
from autogen_nb.notebook.notebook import CellStage, Notebook
from autogen_nb.notebook.rendering.chat_html import Content, note_display, table
from autogen_nb.settings import Settings

T = TypeVar("T")

_HELP_WIDTH = 78


@dataclass(frozen=True, slots=True)
class CommandContext:
    """The notebook of a command, and what the command may do in its cell.

    `run_cell` runs a chat with settings as the cell with an id ("" for the present cell).
    """

    shell: InteractiveShell
    notebook: Notebook
    waits: run.Waits
    stage: Callable[[], AbstractContextManager[CellStage]]
    run_cell: Callable[[Settings, str], Awaitable[None]]

    async def result(self, work: Coroutine[Any, Any, T]) -> T:
        return await run.result(work, waits=self.waits)

    def chat(self, name: str | None, *, started: bool = False) -> NotebookConversation:
        """The chat with the name, by default that of the last cell; raises ConfigError if there is none.

        With `started`, also raises ConfigError if a restart of the notebook's kernel has ended the chat.
        """
        chats = self.notebook.conversations
        known_names = {chat.name for chat in chats}
        if name is not None and name not in known_names:
            raise ConfigError(f"there is no chat {name!r}; known are {', '.join(sorted(known_names)) or 'none yet'}")
        chat = chats.latest if name is None else chats.named(name)
        if started and not chat.runs and (notice := self.notebook.sessions.remark(chat)):
            raise ConfigError(notice)
        return chat

    def say(self, text: str, *, kind: str = "note") -> None:
        self.show(note_display(text, kind=kind))

    def write(self, *lines: str) -> None:
        print(*lines, sep="\n")  # noqa: T201  # the command's output

    def show_rows(self, heads: Sequence[str], rows: Sequence[Sequence[str]], *, empty: str, **options: Any) -> None:
        """Shows a table with the options, or the text `empty` if there are no rows."""
        self.show(table(heads, rows, **options) if rows else note_display(empty))

    def show(self, displayed: Content) -> None:
        data, metadata = displayed
        publisher: Any = self.shell.display_pub
        publisher.publish(data=data, metadata=metadata)

    def put_cell(self, source: str, chat: str, replies: Sequence[Completion], decision: str) -> None:
        """Puts the code into a new cell below, whose metadata say where it is from.

        `set_next_input` payloads have no metadata in Jupyter's messaging specification; our extension of JupyterLab
        reads them, and other front ends ignore them.
        """
        self.shell.set_next_input(source)
        manager: Any = self.shell.payload_manager
        models = ", ".join(dict.fromkeys(reply.model for reply in replies))
        for payload in manager.read_payload():
            if payload["source"] == "set_next_input":
                payload["metadata"] = {"autogen_nb": {"model": models, "chat": chat, "decision": decision}}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        # The value of an unknown option may be a key, which must not be in an output.
        message = re.sub(r"=\S+", "=…", message)
        usage = " ".join(self.format_usage().removeprefix("usage: ").split())
        raise ConfigError(f"{self.prog}: {message}; the command is {usage}")


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    help: str
    parser: argparse.ArgumentParser
    split: Callable[[str], list[str]]
    started: bool
    function: Callable[..., Awaitable[None]]
    actions: Sequence[argparse.Action]
    completes: Mapping[str, str]

    async def run(self, context: CommandContext, line: str) -> None:
        """Runs the command with the arguments in a line."""
        try:
            words = self.split(line)
        except ValueError as error:
            raise ConfigError(f"%autogen {self.name} {line}: {str(error).lower()}") from None
        values = vars(self.parser.parse_args(words))
        if "chat" in values:
            values["chat"] = context.chat(values["chat"], started=self.started)
        await self.function(context, **values)


class Argument:
    """The arguments of `add_argument`.

    `group` names those of which a line has at most one; `completes` says which values Tab offers.
    """

    def __init__(self, *flags: str, group: str = "", completes: str = "", **details: Any) -> None:
        self.flags, self.group, self.completes, self.details = flags, group, completes, details


def whole_number(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"takes a whole number above 0, not {text!r}")
    return int(text)


_ONE = {"metavar": "CHAT", "completes": "chats"}
CHAT = Argument("-c", "--chat", help="the chat; by default, that of the last cell", **_ONE)
ONE_CHAT = (
    Argument("chat", nargs="?", group="chat", default=argparse.SUPPRESS, help=CHAT.details["help"], **_ONE),
    Argument("-c", "--chat", group="chat", help="the same", **_ONE),
)
YES = Argument("--yes", action="store_true", help="asks no question")


def command(
    description: str,
    *arguments: Argument,
    name: str = "",
    split: Callable[[str], list[str]] = shlex.split,
    started: bool = False,
) -> Callable[[Callable[..., Awaitable[None]]], Command]:
    """Makes a command of a function, which gets the context and, by name, the arguments: a chat for the chat's name.

    With `started`, the command is refused for a chat that a restart of the notebook's kernel has ended.
    """

    def make(function: Callable[..., Awaitable[None]]) -> Command:
        own_name = name or function.__name__
        parser = _Parser(
            f"%autogen {own_name}",
            description=description,
            add_help=False,
            allow_abbrev=False,
            formatter_class=partial(argparse.HelpFormatter, width=_HELP_WIDTH),
        )
        groups: defaultdict[str, Any] = defaultdict(parser.add_mutually_exclusive_group, {"": parser})
        actions = [groups[each.group].add_argument(*each.flags, **each.details) for each in arguments]
        completes = {action.dest: each.completes for action, each in zip(actions, arguments, strict=True)}
        return Command(own_name, description, parser, split, started, function, actions, completes)

    return make
