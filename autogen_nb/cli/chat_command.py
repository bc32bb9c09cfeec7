"""``autogen-nb chat``: a conversation in the terminal, with the questions of the notebook."""

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


@click.command(short_help="A conversation in the terminal, with the questions of a notebook.", epilog=exit_codes.TABLE)
@task_options(
    confirm="When to ask you before code runs. [always; risky in a sandbox]",
    sandbox="Sandbox for the code. [none]",
    max_turns="Replies of the assistant to a task. [20]",
    block_timeout="Seconds for one block. [no limit]",
)
def chat(**values: Any) -> int:
    """Reads a task, runs it, and asks for the next task.

    Before code runs, you see it and answer run, edit, skip, all from here or stop. Ctrl-C interrupts a task; a second
    Ctrl-C, Ctrl-D or "exit" ends the conversation. So does the first failure, if tasks come from a pipe.
    """
    from autogen_nb.cli.terminal_conversation import TerminalConversation

    options = TaskOptions(**values)
    conversation = TerminalConversation(options, _load(options.data), tell=_print_notice)
    try:
        return _converse(conversation)
    finally:
        conversation.close()


def _converse(conversation: "TerminalConversation") -> int:
    is_terminal = sys.stdin.isatty()
    if is_terminal:
        with suppress(ImportError):
            # The import gives `input` a history and line editing.
            import readline  # noqa: F401
    code, interrupted = exit_codes.ANSWERED, False
    while True:
        try:
            task = input(_PROMPT if is_terminal else "").strip()
        except EOFError:
            return code
        except KeyboardInterrupt:
            if interrupted:
                return exit_codes.INTERRUPTED
            interrupted = True
            _print_notice("Ctrl-C once more, or Ctrl-D, ends the conversation.")
            continue
        if task.lower() in _ENDS:
            return code
        if not task:
            continue
        code, interrupted = _run_task(conversation, task)
        if code and not is_terminal and not interrupted:
            return code


def _run_task(conversation: "TerminalConversation", task: str) -> tuple[int, bool]:
    try:
        conversation.do(task)
    except KeyboardInterrupt:
        _print_notice("Interrupted; Ctrl-C once more ends the conversation.")
        return exit_codes.INTERRUPTED, True
    except AutogenError as error:
        _print_notice(" ".join(str(error).split()))
        return exit_codes.code_of(error), False
    return exit_codes.ANSWERED, False


def _load(data: tuple[Path, ...]) -> dict[str, Any]:
    table_list = tables(data, Path())
    if not table_list:
        return {}
    import pandas as pd

    namespace: dict[str, Any] = {"pd": pd}
    for table in table_list:
        exec(table.source, namespace)  # noqa: S102 - `tables` generated the source
        _print_notice(f"{table.path} is `{table.name}`: {len(namespace[table.name]):,} rows.")
    return {table.name: namespace[table.name] for table in table_list}


def _print_notice(text: str) -> None:
    click.echo(f"autogen-nb chat: {text}", err=True)
