"""Who can be asked from a cell: a person with buttons, a person who types, or nobody.

Besides a chat's own questions a cell has three: which model to use when none is configured, whether to copy
variables that the task names, and what becomes of code that does not yield to Stop.
"""

import getpass
from collections.abc import Awaitable, Iterable
from typing import Literal, NoReturn, Protocol, TypeAlias

from autogen_nb.core.people import Human
from autogen_nb.errors import ChatUnfinished, ConfigError
from autogen_nb.events import ApprovalGiven, Recorded
from autogen_nb.human.headless import NobodyToAsk
from autogen_nb.human.rule_based_approver import ONWARDS, RULED
from autogen_nb.human.terminal_human import TerminalHuman, read_line
from autogen_nb.models.config.model_connection import DEFAULT_MODEL, NO_MODEL, ModelConnection

CopyAnswer: TypeAlias = Literal["copy", "leave"]
StopAnswer: TypeAlias = Literal["wait", "kill"]

OFTEN = 3
"""Decisions in a row after which a person who lets everything run is offered to be asked less."""

OFFER = (
    "Three blocks in a row ran as they came. `--confirm risky` asks only before code that reaches beyond this "
    "notebook's folder, writes, deletes, connects or starts something."
)

_MODEL = (
    "No model is configured. [k] paste a key, [s] name a server, "
    "[o] run this with offline (a fixed analysis, no language model), [t] stop? "
)


class Person(Human, Protocol):
    """Someone at a notebook."""

    def connection(self, proposed: str) -> ModelConnection | Awaitable[ModelConnection]:
        """The model to use, where none is configured; `proposed` is the one that was named, or empty."""

    def copying(self, what: str) -> CopyAnswer | Awaitable[CopyAnswer]:
        """Whether to copy variables that the task names; `what` names them with their sizes."""

    def stopping(self, what: str) -> StopAnswer | Awaitable[StopAnswer]:
        """Whether to wait for code that does not yield; `what` names what would be lost with it."""


class AbsentPerson(NobodyToAsk):
    """Nobody: a notebook that is executed by a program."""

    def connection(self, proposed: str) -> NoReturn:
        """Says that there is no model."""
        del proposed
        raise ConfigError(NO_MODEL)

    def copying(self, what: str) -> CopyAnswer:
        """Leaves the variables where they are, since nobody allows otherwise."""
        del what
        return "leave"

    def stopping(self, what: str) -> StopAnswer:
        """Kills, since nobody would ever say so."""
        del what
        return "kill"


class TypingPerson(TerminalHuman):
    """A person who answers in words, through ``input()``."""

    def connection(self, proposed: str) -> ModelConnection:
        """What the person types."""
        self._announce()
        proposed = proposed or DEFAULT_MODEL
        match _typed(_MODEL).strip().lower():
            case "k":
                key = getpass.getpass("API key (kept in memory only): ").strip()
                if key:
                    return ModelConnection(_typed(f"Model [{proposed}]: ").strip() or proposed, key)
            case "s":
                url = _typed("Base URL (such as http://localhost:11434/v1): ").strip()
                return ModelConnection(_typed("Model: ").strip(), base_url=url)
            case "o":
                return ModelConnection("offline")
        raise ChatUnfinished("Stopped: no model was chosen, and the task was not run", reason="stopped")

    def copying(self, what: str) -> CopyAnswer:
        """What the person types."""
        self._announce()
        return "copy" if _typed(f"{what} [y/n] ").strip().lower() in ("y", "yes") else "leave"

    def stopping(self, what: str) -> StopAnswer:
        """What the person types."""
        self._announce()
        return "kill" if _typed(f"{what} [w]ait, [k]ill: ").strip().lower() in ("k", "kill") else "wait"


def lets_all_run(events: Iterable[Recorded]) -> bool:
    """Whether the last decisions about code were all to run it unchanged, each made by a person who was asked."""
    given = [event for event in events if isinstance(event, ApprovalGiven)][-OFTEN:]
    return len(given) == OFTEN and all(
        (each.decision, each.code, each.onwards) == ("run", None, False) and not each.by.startswith((ONWARDS, RULED))
        for each in given
    )


def sure(what: str) -> bool:
    """Whether the person types that they are sure; `what` says of what, and how to answer.

    Raises
    ------
    NobodyThere
        When nobody can answer.
    """
    return _typed(what).strip().lower() in ("y", "yes")


def _typed(prompt: str) -> str:
    return read_line(prompt, way_out=": the standard input is at its end")
