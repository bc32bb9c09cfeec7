"""Describes the start of a program: an installation of packages, or a process."""

import re
import sys
from collections.abc import Sequence

from autogen_nb.core.text.visible_text import visible
from autogen_nb.effects import Effect

_INSTALLER = re.compile(
    r"(?:[^\s;&|`$<>()]*/)?"
    r"(?:pip[\d.]*|uv|conda|mamba|micromamba|apt|apt-get|npm|(?:\S*python[\d.]*|uv|uvx) -m pip|uv pip)"
    r" +(?:-\S+ +)*(?:install|add)\b(.*)"
)
# Matches shell syntax, but not the `>=` and `<=` of version specifiers.
_SHELL = re.compile(r"[;&|`$()\n]|[<>](?!=)|>=?&")
_PIP = f"{sys.executable} -m pip "
# Options that name no package; the value of any other option may name one.
_FLAG = re.compile(
    r"-[A-Za-z]|-[qvUIynh]+|--[\w-]+|--(progress-bar|timeout|retries|upgrade-strategy|root-user-action)=.*"
)
_SHELLS = ("sh", "bash", "dash", "zsh")
_LONGEST_TEXT = 200


def effect_of(words: Sequence[str]) -> Effect:
    """The effect of starting a program; the words are those of its command line."""
    command = _command(words)
    if command.startswith(_PIP):
        command = command.removeprefix(_PIP.removesuffix("pip "))
    installer = _INSTALLER.fullmatch(command.strip())
    if installer is not None and not _SHELL.search(installer[1]):
        packages = " ".join(word for word in installer[1].split() if not _FLAG.fullmatch(word))
        return Effect("install", packages, visible(f"installs {_short(packages)}".strip()))
    return Effect("process", command, visible(f"starts {_short(command)}" if command else "starts a process"))


def _command(words: Sequence[str]) -> str:
    match words:
        case [program, "-c", command, *_] if program.rpartition("/")[2] in _SHELLS:
            return command
        case _:
            return " ".join(words)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…"
