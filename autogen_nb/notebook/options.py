"""The options of ``%%autogen``, read from a cell's first line; the text after them is the task, verbatim."""

import argparse
import difflib
import re
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser
from traitlets import Bool, Enum, Float, Int, List

from autogen_nb.errors import ConfigError
from autogen_nb.settings import OPTIONS, Settings

F = TypeVar("F", bound=Callable[..., Any])

_QUOTED = r'"[^"]*"|\'[^\']*\''
_TOKEN = re.compile(rf"--[\w-]+=(?:{_QUOTED})|{_QUOTED}|\S+")


def _argument(name: str) -> dict[str, Any]:
    trait = OPTIONS[name]
    metavar = trait.metadata.get("metavar")
    common = {"dest": name, "help": trait.help, **({"metavar": metavar} if metavar else {})}
    match trait:
        case Bool():
            has_negation = trait.metadata.get("config")
            return {**common, "action": argparse.BooleanOptionalAction if has_negation else "store_true"}
        case List():
            return {**common, "action": "append"}
        case Enum():
            return {**common, "choices": trait.values}
        case Int() | Float():
            return {**common, "type": int if isinstance(trait, Int) else float}
        case _:
            return common


_ARGUMENTS = {name: (trait.metadata["flags"], _argument(name)) for name, trait in OPTIONS.items()}


_PARSER = MagicArgumentParser(
    usage="%%%%autogen [options] [the task, or its beginning]",
    argument_default=argparse.SUPPRESS,
    # A screen has about 50 lines.
    formatter_class=partial(argparse.HelpFormatter, width=104, max_help_position=30),
)
COMPLETES = {name: trait.metadata.get("completes", "") for name, trait in OPTIONS.items()}
ACTIONS = [_PARSER.add_argument(*flags, **details) for flags, details in _ARGUMENTS.values()]
_TAKES_VALUE = {flag: action.nargs != 0 for action in ACTIONS for flag in action.option_strings}


def help_text() -> str:
    return _PARSER.format_help().rstrip()


def documented(magic: F) -> F:
    """Appends the options to the magic's docstring, for ``%%autogen?``."""
    magic.__doc__ = f"{magic.__doc__}\n\n{help_text()}"
    return magic


def read_options(line: str, cell: str | None) -> Settings:
    """Parses the options in a cell's first line; the rest of the cell is the task."""
    words, text = _split(line)
    try:
        # IPython's parser raises UsageError instead of exiting.
        values = vars(_PARSER.parse_args([_unquoted(word) for word in words]))
    except UsageError as error:
        raise ConfigError(f"%%autogen: {str(error).strip().splitlines()[-1]}") from None
    task = "\n".join((text, (cell or "").strip("\n"))).strip()
    options = Settings.from_options(task, "%%autogen: ", **values)
    if re.fullmatch(r"[\d.,_]+", options.budget) and re.match(r"tokens?\b", text, re.IGNORECASE):
        budget = options.budget
        raise ConfigError(f"%%autogen: --budget {budget} is in dollars; tokens need a unit: --budget {budget}tokens")
    if options.retry_failed and not options.each:
        raise ConfigError("%%autogen: --retry-failed needs --each; %autogen retry runs the last cell again")
    if not task:
        raise ConfigError("%%autogen: there is no task; write it below, or after the options")
    return options


def _split(line: str) -> tuple[list[str], str]:
    option_words: list[str] = []
    tokens = _TOKEN.finditer(line)
    for token in tokens:
        word = token[0]
        if word == "--":
            return option_words, line[token.end() :].strip()
        if not re.match(r"--?[A-Za-z]", word):
            return option_words, line[token.start() :].strip()
        name, has_value, value_text = word.partition("=")
        if name not in _TAKES_VALUE:
            raise ConfigError(_unknown(name))
        option_words.append(f"{name}={_unquoted(value_text)}" if has_value else word)
        if _TAKES_VALUE[name] and not has_value:
            value = next(tokens, None)
            option_words += [] if value is None else [value[0]]
    return option_words, ""


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name, [flag for flag in _TAKES_VALUE if flag.startswith("--")], n=1)
    hint = f"did you mean {near[0]}?" if near else "%%autogen? lists the options."
    return f"%%autogen: there is no option {name}; {hint} (Write -- before a task that begins with a dash.)"


def _unquoted(token: str) -> str:
    return token[1:-1] if len(token) > 1 and token[0] == token[-1] and token[0] in "\"'" else token
