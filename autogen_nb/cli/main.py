"""The entry point. It prints an error as one line on standard error; ``--debug`` also prints the traceback."""

import io
import os
import sys
import traceback
from collections.abc import Sequence

import click

from autogen_nb._version import __version__
from autogen_nb.cli import exit_codes
from autogen_nb.cli.chat_command import chat
from autogen_nb.cli.doctor_command import doctor
from autogen_nb.cli.map_command import map_rows
from autogen_nb.cli.mcp_command import mcp
from autogen_nb.cli.run_command import demo, run
from autogen_nb.cli.sessions_command import sessions
from autogen_nb.errors import AutogenError

NAME = "autogen-nb"


@click.group(
    commands=[run, chat, map_rows, demo, doctor, mcp, sessions],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name=NAME)
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error.")
def group() -> None:
    """Agents write code, ask you, and run the code in their own kernel."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit code."""
    # A character that the terminal cannot encode must not end the program.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        # click also handles shell completion here.
        return int(group.main(arguments, NAME, standalone_mode=False) or 0)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - each error becomes an exit code
        if "--debug" in (sys.argv if arguments is None else arguments):
            traceback.print_exc()
        return _handle_error(error)


def _handle_error(error: BaseException) -> int:
    match error:
        case click.exceptions.NoArgsIsHelpError():
            click.echo(error.format_message(), err=True)
            return exit_codes.USAGE
        case BrokenPipeError():
            # The reader of the output, such as `head`, has gone; Python's flush at exit would fail again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return exit_codes.FAILED
        case click.UsageError():
            path = NAME if error.ctx is None else error.ctx.command_path
            text, code = f"{error.format_message().rstrip('.')} ({path} --help shows how)", exit_codes.USAGE
        case AutogenError():
            text, code = str(error), exit_codes.code_of(error)
        case KeyboardInterrupt() | click.Abort():
            text, code = "stopped", exit_codes.INTERRUPTED
        case OSError() if error.filename is not None:
            text, code = f"{str(error.filename)!r} cannot be used: {error.strerror}; name another", exit_codes.FAILED
        case _:
            text, code = f"{type(error).__name__}: {error} ({NAME} --debug ... shows where)", exit_codes.FAILED
    click.echo(f"{NAME}: {' '.join(text.split())}", err=True)
    return code
