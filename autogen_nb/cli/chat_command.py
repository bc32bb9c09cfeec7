"""``autogen-nb chat``: a conversation in the terminal, with the same questions as in a notebook, in words."""

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from autogen_nb.agents.parts.execution_target import ExecutionTarget
from autogen_nb.cli import exit_codes
from autogen_nb.cli.table_files import tables
from autogen_nb.effects import CONFIRMS
from autogen_nb.errors import AutogenError
from autogen_nb.kernels.places import SANDBOXES
from autogen_nb.kernels.transfer.describe import Share
from autogen_nb.run import policy

if TYPE_CHECKING:
    from autogen_nb.cli.terminal_conversation import TerminalConversation

_PROMPT = "\nYour task: "
_ENDS = frozenset({"exit", "quit"})


@click.command(short_help="A conversation in the terminal, with the same questions.", epilog=exit_codes.TABLE)
@click.option("--data", "-d", multiple=True, type=click.Path(path_type=Path), help="A table to hand over. [any number]")
@click.option("--model", "-m", help="A model's name, 'offline', or 'replay:FILE'.")
@click.option(
    "--confirm",
    type=click.Choice(CONFIRMS),
    envvar="AUTOGEN_NB_CONFIRM",
    show_envvar=True,
    help="When you are asked. [always; risky in a sandbox]",
)
@click.option("--sandbox", type=click.Choice(SANDBOXES), help="Walls around the code. [none]")
@click.option("--net", is_flag=True, help="Let code in the sandbox use the network.")
@click.option("--kernel", metavar="NAME|URL", default="", help="An installed kernel or a Jupyter server for the code.")
@click.option("--max-turns", type=click.IntRange(1), default=20, help="Replies of the assistant to a task. [20]")
@click.option("--block-timeout", type=click.FloatRange(0, min_open=True), help="Seconds for one block. [no limit]")
@click.option("--budget", help="Dollars ('0.50') or tokens ('20000tokens') that may be spent.")
@click.option("--share", type=click.Choice(get_args(Share)), default="schema", help="What the model is told of tables.")
def chat(data: tuple[Path, ...], sandbox: Any, kernel: str, *, net: bool, confirm: Any, **options: Any) -> int:
    """Asks for a task, has it done before your eyes, and asks for the next.

    Before code runs you see it, and say run, edit, skip, all from here or stop. Ctrl-C interrupts a task; Ctrl-C once
    more, Ctrl-D or "exit" ends the conversation. Where tasks come from a pipe, one that fails ends it.
    """
    from autogen_nb.cli.terminal_conversation import ConversationSetting, TerminalConversation

    # A kernel that is named has the walls that it has.
    sandbox = sandbox or ("none" if kernel else policy().sandbox)
    where = ExecutionTarget(sandbox, net, kernel)
    setting = ConversationSetting(where=where, confirm=confirm, **options)
    conversation = TerminalConversation(setting, _loaded(data), tell=_tell)
    try:
        return _talked(conversation)
    finally:
        conversation.close()


def _talked(conversation: "TerminalConversation") -> int:
    """Goes on until the person ends it; the exit code is that of the last task."""
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
    """The exit code that a task would have by itself, and whether it was interrupted."""
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
    """The tables by the names of their variables."""
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
