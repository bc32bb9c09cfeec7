"""The command-line options of ``chat`` and ``run``."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import click

from autogen_nb.agents.parts.execution_target import ExecutionTarget, Sandbox
from autogen_nb.effects import CONFIRMS, Confirm
from autogen_nb.kernels.places import SANDBOXES
from autogen_nb.kernels.transfer.describe import Share
from autogen_nb.run import policy


@dataclass(frozen=True, slots=True)
class TaskOptions:
    """The options of a task; None or empty means the default."""

    data: tuple[Path, ...]
    model: str | None
    confirm: Confirm | None
    sandbox: Sandbox | None
    net: bool | None
    kernel: str
    max_turns: int | None
    block_timeout: float | None
    budget: str | None
    share: Share | None

    def execution_target(self) -> ExecutionTarget:
        """Returns where the code runs; the organisation's policy sets the default sandbox."""
        # A kernel by name or address runs in no sandbox of this package.
        sandbox = self.sandbox or ("none" if self.kernel else policy().sandbox)
        return ExecutionTarget(sandbox, bool(self.net), self.kernel)


def task_options(
    *, confirm: str, sandbox: str, max_turns: str, block_timeout: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds the options of `TaskOptions` to a command; the arguments are the command's own help texts."""
    options = (
        click.option(
            "--data",
            "-d",
            multiple=True,
            type=click.Path(path_type=Path),
            help="A table for the agent, or 'example'. [may be repeated]",
        ),
        click.option("--model", "-m", help="A model's name, 'offline', or 'replay:FILE'."),
        click.option(
            "--confirm", type=click.Choice(CONFIRMS), envvar="AUTOGEN_NB_CONFIRM", show_envvar=True, help=confirm
        ),
        click.option("--sandbox", type=click.Choice(SANDBOXES), help=sandbox),
        click.option("--net/--no-net", default=None, help="Let code in the sandbox use the network, or not. [no]"),
        click.option(
            "--kernel", metavar="NAME|URL", default="", help="An installed kernel or a Jupyter server for the code."
        ),
        click.option("--max-turns", type=click.IntRange(1), help=max_turns),
        click.option("--block-timeout", type=click.FloatRange(0, min_open=True), help=block_timeout),
        click.option("--budget", help="Dollars ('0.50') or tokens ('20000tokens') that may be spent."),
        click.option(
            "--share", type=click.Choice(get_args(Share)), help="The part of each table for the model. [schema]"
        ),
    )

    def add_options(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add_options
