"""``autogen-nb chat``: a conversation in the terminal, with the same questions as in a notebook, in words."""

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from autogen_nb.cli import exit_codes
from autogen_nb.cli.table_files import tables
from autogen_nb.cli.task_options import TaskOptions, task_options
from autogen_nb.errors import AutogenError

if TYPE_CHECKING:
    from autogen_nb.cli.terminal_conversation import TerminalConversation

_PROMPT = "\nYour task: "
_ENDS = frozenset({"exit", "quit"})


@click.command(short_help="A conversation in the terminal, with the same questions.", epilog=exit_codes.TABLE)
@task_options(
    confirm="When you are asked. [always; risky in a sandbox]",
    sandbox="Walls around the code. [none]",
    max_turns="Replies of the assistant to a task. [20]",
    block_timeout="Seconds for one block. [no limit]",
)
def chat(**given: Any) -> int:
    """Asks for a task, has it done before your eyes, and asks for the next.

    Before code runs you see it, and say run, edit, skip, all from here or stop. Ctrl-C interrupts a task; Ctrl-C once
    more, Ctrl-D or "exit" ends the conversation. Where tasks come from a pipe, one that fails ends it.
    """
    from autogen_nb.cli.terminal_conversation import TerminalConversation

    options = TaskOptions(**given)
    conversation = TerminalConversation(options, _loaded(options.data), tell=_tell)
    try:
        return _talked(conversation)
    finally:
        conversation.close()


def _talked(conversation: "TerminalConversation") -> int:
    here = sys.stdin.isatty()
    if here:
        with suppress(ImportError):
            # With it, `input` has a history and can be edited.
            import readline  # noqa: F401
    code, interrupted = exit_codes.ANSWERED, False
    while True:
        try:
            task = input(_PROMPT if here else "").strip()
        except EOFError:
            return code
        except KeyboardInterrupt:
            if interrupted:
                return exit_codes.INTERRUPTED
            interrupted = True
            _tell("Ctrl-C once more, or Ctrl-D, ends the conversation.")
            continue
        if task.lower() in _ENDS:
            return code
        if not task:
            continue
        code, interrupted = _done(conversation, task)
        if code and not here and not interrupted:
            return code


def _done(conversation: "TerminalConversation", task: str) -> tuple[int, bool]:
    try:
        conversation.do(task)
    except KeyboardInterrupt:
        _tell("Interrupted; Ctrl-C once more ends the conversation.")
        return exit_codes.INTERRUPTED, True
    except AutogenError as error:
        _tell(" ".join(str(error).split()))
        return exit_codes.code_of(error), False
    return exit_codes.ANSWERED, False


def _loaded(data: tuple[Path, ...]) -> dict[str, Any]:
    found = tables(data, Path())
    if not found:
        return {}
    import pandas as pd

    namespace: dict[str, Any] = {"pd": pd}
    for table in found:
        exec(table.source, namespace)  # noqa: S102 - it is our own
        _tell(f"{table.path} is `{table.name}`: {len(namespace[table.name]):,} rows.")
    return {table.name: namespace[table.name] for table in found}


def _tell(text: str) -> None:
    click.echo(f"autogen-nb chat: {text}", err=True)
