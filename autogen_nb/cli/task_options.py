"""The options of ``chat``, ``run`` and ``map``."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from traitlets import Bool, Enum, Float, Int

from autogen_nb.settings import OPTIONS

Command = TypeVar("Command", bound=Callable[..., Any])

_PLACE = ("confirm", "sandbox", "net", "kernel", "memory", "block_timeout")
_NAMES = ("model", *_PLACE, "max_turns", "budget", "share")


def task_options(
    data: str = "A file with a table for the agent, or 'example' for penguins.csv. [may be repeated]",
    **help_texts: str,
) -> Callable[[Command], Command]:
    """Adds ``--data`` and options of `%%autogen` to a command; `help_texts` replaces the help of an option."""

    def add_options(command: Command) -> Command:
        for name in reversed(_NAMES):
            command = _option(name, help_texts.get(name))(command)
        return click.option("--data", "-d", multiple=True, type=click.Path(path_type=Path), help=data)(command)

    return add_options


def place_options(**help_texts: str) -> Callable[[Command], Command]:
    """Adds the options of `%%autogen` about where and when code runs."""

    def add_options(command: Command) -> Command:
        for name in reversed(_PLACE):
            command = _option(name, help_texts.get(name))(command)
        return command

    return add_options


def task_text(task: str) -> str:
    """The task of an argument, or of standard input for "-"."""
    task = sys.stdin.read() if task == "-" else task
    if not task.strip():
        raise click.UsageError("the task is empty; give it in quotes")
    return task


def _option(name: str, text: str | None) -> Callable[[Command], Command]:
    trait = OPTIONS[name]
    tags = trait.metadata
    flags = [f"{flag}/{flag.replace('--', '--no-')}" if isinstance(trait, Bool) else flag for flag in tags["flags"]]
    kind: Any = int if isinstance(trait, Int) else float if isinstance(trait, Float) else None
    if isinstance(trait, Enum):
        kind = click.Choice(trait.values or ())
    text = text or f"{trait.help[0].upper()}{trait.help[1:]}"
    return click.option(
        *flags, default=None, type=kind, metavar=tags.get("metavar"), envvar=tags.get("environ"), show_envvar=True,
        help=text,
    )  # fmt: skip
