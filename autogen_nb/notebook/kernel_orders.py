"""``%autogen kernel``: how the agent's kernel is, what it holds, and the ways to interrupt it or to begin afresh."""

import difflib
from collections.abc import Sequence
from html import escape
from typing import Any

from autogen_nb import run
from autogen_nb.errors import ConfigError, ExecutionError
from autogen_nb.kernels.describe import in_units
from autogen_nb.kernels.status import Status
from autogen_nb.kernels.transfer import Variable, printable
from autogen_nb.notebook import rendering, styles
from autogen_nb.notebook.conversations import Conversation
from autogen_nb.notebook.escaping import escape_plain
from autogen_nb.notebook.wording import duration

VERBS = ("status", "restart", "interrupt", "vars")
_NUMBERS = frozenset({"up", "blocks run", "memory", "size", "process"})

Shown = tuple[dict[str, Any], dict[str, Any]]


def obey(verb: str, chat: Conversation) -> Shown:
    """Does what is asked of a chat's kernel, and returns what is to be shown for it.

    Raises
    ------
    AutogenError
        When there is no such word, or the kernel cannot do it now.
    """
    if verb not in VERBS:
        near = difflib.get_close_matches(verb, VERBS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(VERBS)}"
        raise ConfigError(f"%autogen kernel has no {verb!r}; {hint}")
    match verb:
        case "status":
            return _table(_HEADS, [_status(chat, run.engine.call(_asked(chat)))], kind="kernel")
        case "vars":
            return _variables(chat)
        case "interrupt":
            busy = chat.executor.busy
            run.engine.call(chat.executor.interrupt())
            return _line("Interrupted." if busy else "Nothing runs in the agent's kernel.")
        case _:
            run.engine.call(chat.executor.restart())
            chat.listed, chat.stuckness.stuck = frozenset(), None
            return _line(f"The kernel of chat `{chat.name}` is a fresh one: its variables are gone.")


_HEADS = ("chat", "state", "where", "process", "up", "blocks run", "memory")


async def _asked(chat: Conversation) -> Status:
    # A status is read where the kernel lives.
    return chat.executor.status


def _status(chat: Conversation, status: Status) -> tuple[str, ...]:
    where = chat.where.text or "this machine, no sandbox"
    if status.state in ("off", "starting"):
        return (chat.name, status.state, where, "", "", "", "")
    most = "" if status.limits.memory is None else f" of {in_units(status.limits.memory)}"
    memory = f"{in_units(status.memory)}{most}" if status.memory else ""
    process = "" if status.pid is None else str(status.pid)
    return chat.name, status.state, where, process, duration(status.seconds), f"{status.blocks:,}", memory


def _variables(chat: Conversation) -> Shown:
    if chat.executor.busy:
        raise ExecutionError(f"code runs in the kernel of chat {chat.name!r}, which can tell of its variables later")
    found = run.engine.call(chat.executor.variables()) if chat.executor.alive else ()
    if not found:
        return _line(f"The kernel of chat `{chat.name}` holds no variables of the agent's.")
    return _table(("name", "type", "shape", "size"), list(map(_row, found)), kind="variables")


def _row(variable: Variable) -> tuple[str, ...]:
    size = "" if variable.size is None else in_units(variable.size)
    return variable.name, variable.type, variable.shape, size


def _line(text: str) -> Shown:
    return rendering.bundle(rendering.line(text), text, kind="note")


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, kind: str) -> Shown:
    rows = [[printable(cell) for cell in row] for row in rows]
    return rendering.bundle(_html(heads, rows), _text(heads, rows), kind=kind)


def _html(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; the front end's own style draws its lines."""
    aligned = [f"text-align:{'right' if head in _NUMBERS else 'left'}" for head in heads]
    top = "".join(f'<th style="{style}">{escape(head)}</th>' for head, style in zip(heads, aligned, strict=True))
    body = "".join(
        "<tr>"
        + "".join(f'<td style="{style}">{escape_plain(cell)}</td>' for cell, style in zip(row, aligned, strict=True))
        + "</tr>"
        for row in rows
    )
    return f'<div style="{styles.LINE}"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def _text(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (heads, *rows))
    return "\n".join(line.rstrip() for line in lines)
