"""The options of ``%%autogen``, read from a cell's first line before anything starts.

A field of `CellOptions` defines an option: its spelling, help, check and the setting of ``%config AutogenMagics``
that supplies its default. The text after the options is the task, verbatim.
"""
# ruff: noqa: RUF009 - `_option` returns a dataclass field

import argparse
import difflib
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from keyword import iskeyword
from typing import Any, TypeVar, get_args

from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser, argument, magic_arguments
from traitlets import Bool, CFloat, CInt, Enum, TraitType, Unicode

from autogen_nb.agents.parts.execution_target import Sandbox
from autogen_nb.core.chats.human_input import Mode
from autogen_nb.effects import CONFIRMS, Confirm
from autogen_nb.errors import ConfigError
from autogen_nb.kernels.places import SANDBOXES
from autogen_nb.kernels.transfer.describe import Share
from autogen_nb.notebook.rendering.styles import Show

F = TypeVar("F", bound=Callable[..., Any])

HUMAN_INPUTS: Mapping[str, Mode] = {"always": "ALWAYS", "terminate": "TERMINATE", "never": "NEVER"}

_SHARES: tuple[Share, ...] = get_args(Share)
_SHOWS: tuple[Show, ...] = get_args(Show)
_QUOTED = r'"[^"]*"|\'[^\']*\''
_TOKEN = re.compile(rf"--[\w-]+=(?:{_QUOTED})|{_QUOTED}|\S+")


# Checks: each takes a value and the option's name, and raises ConfigError for an invalid value.


def _not_empty(what: str) -> Callable[[str, str], str]:
    def check(value: str, option: str) -> str:
        if not value.strip():
            raise ConfigError(f"{option} is empty; name {what}")
        return value

    return check


def _chat_name(value: str, _: str) -> str:
    if not re.fullmatch(r"[\w][\w .-]{0,60}", value):
        raise ConfigError(f"a chat cannot be called {value!r}; use letters, digits, '-', '_' and '.'")
    return value


def _names(values: list[str], option: str) -> tuple[str, ...]:
    names = tuple(part.strip() for value in values for part in value.split(","))
    for name in names:
        if not name.isidentifier() or iskeyword(name):
            raise ConfigError(f"{option} {name!r} is not a variable's name (commas separate names)")
    return names


def _one_name(value: str, option: str) -> str:
    first, *more = _names([value], option)
    if more:
        raise ConfigError(f"{option} takes one name, not {value!r}")
    return first


def _count(value: int, option: str) -> int:
    if value < 1:
        raise ConfigError(f"{option} is {value}; it must be at least 1")
    return value


def _seconds(value: float, option: str) -> float:
    if not 0 < value < math.inf:
        raise ConfigError(f"{option} is {value}; it must be a number of seconds above 0")
    return value


def _budget(value: str, _: str) -> str:
    # This import also loads `autogen_nb.models`, which takes a while.
    from autogen_nb.models.wrappers.budget import Budget

    Budget.parse(value)
    return value


def _yes_or_no(value: bool | str, _: str) -> bool | None:
    return value if isinstance(value, bool) else {"on": True, "off": False}.get(value)


def _confirm(value: str, _: str) -> str:
    if value not in CONFIRMS:
        raise ConfigError(f"confirm is {value!r}; it must be one of {', '.join(CONFIRMS)}")
    return value


@dataclass(frozen=True, slots=True)
class Option:
    flags: tuple[str, ...]
    default: Any
    argument: Mapping[str, Any]
    check: Callable[[Any, str], Any]
    setting: "TraitType[Any, Any] | None"
    environ: str
    for_team: bool

    def value(self, given: Any, source: str) -> Any:
        try:
            return self.check(given, self.flags[-1])
        except ConfigError as error:
            raise ConfigError(f"{source}{error}") from None


def _option(
    *flags: str,
    default: Any = None,
    check: Callable[[Any, str], Any] = lambda given, _: given,
    setting: "TraitType[Any, Any] | None" = None,
    environ: str = "",
    for_team: bool = False,
    secret: bool = False,
    **argument: Any,
) -> Any:
    """Defines a field of `CellOptions`; `argument` holds the arguments for `argparse`."""
    if setting is not None:
        setting.help = setting.help or argument["help"]
        setting.tag(config=True)
    row = Option(flags, default, argument, check, setting, environ, for_team)
    return field(default=default, repr=not secret, metadata={"option": row})


@dataclass(frozen=True, slots=True)
class CellOptions:
    """The options of one cell; the setting of the same name supplies the value of an absent option."""

    task: str
    model: str | None = _option(
        "-m",
        "--model",
        check=_not_empty("one, such as 'offline'"),
        setting=Unicode(""),
        help="a model's name, 'offline', or 'replay:FILE'",
    )
    chat: str | None = _option(
        "-c", "--chat", metavar="NAME", check=_chat_name, help="the chat that this cell belongs to"
    )
    team: str | None = _option(
        "--team",
        metavar="NAME",
        check=_one_name,
        for_team=True,
        help="the team that does the task: a variable of the notebook",
    )
    new: bool = _option(
        "--new", default=False, action="store_true", help="begin a new chat; the old one is kept under another name"
    )
    template: bool = _option(
        "--template",
        default=False,
        action="store_true",
        for_team=True,
        help="fill {name} in the task with the notebook's variables",
    )
    inputs: tuple[str, ...] = _option(
        "-i",
        "--input",
        default=(),
        metavar="NAMES",
        action="append",
        check=_names,
        help="variables to copy to the agent's kernel",
    )
    outputs: tuple[str, ...] = _option(
        "-o",
        "--output",
        default=(),
        metavar="NAMES",
        action="append",
        check=_names,
        help="variables to copy back, as data only",
    )
    answer: str | None = _option(
        "-a",
        "--answer",
        metavar="NAME",
        check=_one_name,
        for_team=True,
        help="the variable for the text of the final answer",
    )
    human_input: Mode | None = _option(
        "--human-input",
        choices=sorted(HUMAN_INPUTS),
        check=lambda value, _: HUMAN_INPUTS[value],
        setting=Enum(tuple(HUMAN_INPUTS), "never"),
        help="when the agents ask you for a message [never]",
    )
    confirm: Confirm | None = _option(
        "--confirm",
        choices=CONFIRMS,
        check=_confirm,
        setting=Enum(
            ("", *CONFIRMS), "", help="when you are asked before code runs; '' means always, or risky in a sandbox"
        ),
        environ="AUTOGEN_NB_CONFIRM",
        help="when you are asked before code runs [always; risky in a sandbox]",
    )
    max_turns: int | None = _option(
        "--max-turns",
        type=int,
        metavar="N",
        check=_count,
        setting=CInt(20, min=1),
        help="replies of the assistant in one cell at most [20]",
    )
    block_timeout: float | None = _option(
        "--block-timeout",
        type=float,
        metavar="SECONDS",
        check=_seconds,
        setting=CFloat(
            0.0, min=0.0, help="seconds for one block of code; 0 means no limit if you can answer questions, else 300"
        ),
        help="time for one block of code [no limit if you can answer questions, else 300]",
    )
    human_timeout: float | None = _option(
        "--human-timeout",
        type=float,
        metavar="SECONDS",
        check=_seconds,
        setting=CFloat(0.0, min=0.0, help="seconds that a panel waits for you; 0 for no limit"),
        for_team=True,
        help="time that a panel waits for your answer; then the cell ends without running the code, and you can run "
        "it again [no limit]",
    )
    budget: str | None = _option(
        "--budget",
        metavar="SUM",
        check=_budget,
        setting=Unicode("", help="dollars ('0.50') or tokens ('20000 tokens') that one chat may spend"),
        environ="AUTOGEN_NB_BUDGET",
        help="dollars ('0.50') or tokens ('20ktokens', \"20000 tokens\") that the whole chat may spend, with "
        "its earlier cells; the chat stops before a request that would exceed it [no limit]",
    )
    sandbox: Sandbox | None = _option(
        "--sandbox",
        choices=SANDBOXES,
        setting=Enum(SANDBOXES, "none"),
        help="the sandbox for the chat's code; if it is unavailable, no code runs [none]",
    )
    ask_person: bool | None = _option(
        "--ask-person",
        action=argparse.BooleanOptionalAction,
        check=_yes_or_no,
        setting=Enum(
            ("auto", "on", "off"),
            "auto",
            help="whether the model may ask you questions; auto: only models of OpenAI and Azure",
        ),
        help="whether the model may call a tool that asks you questions [with models of OpenAI and Azure]",
    )
    net: bool | None = _option(
        "--net",
        action=argparse.BooleanOptionalAction,
        setting=Bool(False),  # traitlets takes the default as positional
        help="whether code in the sandbox may use the network [no]",
    )
    # An address may contain a token.
    kernel: str | None = _option(
        "--kernel",
        metavar="NAME|URL",
        secret=True,
        check=_not_empty("an installed kernel, or a server's address"),
        setting=Unicode(""),
        help="an installed kernel, or the address of a Jupyter server that runs the kernel",
    )
    share: Share | None = _option(
        "--share",
        choices=_SHARES,
        setting=Enum(_SHARES, "schema"),
        help="the description of variables for the model: their schema, or also their first rows [schema]",
    )
    show: Show | None = _option(
        "--show",
        choices=_SHOWS,
        setting=Enum(_SHOWS, "results"),
        for_team=True,
        help="what the cell shows: only the answer, also results, also code, or also all of long text [results]",
    )
    unpickle: bool = _option(
        "--unpickle",
        default=False,
        action="store_true",
        help="let -o copy values of any type; the agent's code may then run in your notebook",
    )


OPTIONS: Mapping[str, Option] = {
    option_field.name: option_field.metadata["option"] for option_field in fields(CellOptions) if option_field.metadata
}


def documented(magic: F) -> F:
    """Appends the options to the magic's docstring, for ``%%autogen?``."""
    rows = [argument(*option.flags, dest=name, **option.argument) for name, option in OPTIONS.items()]
    task = argument("task", nargs="*", help="the task, or its beginning; the cell's body follows it")
    for row in (task, *reversed(rows)):
        magic = row(magic)
    return magic_arguments()(magic)  # type: ignore[no-any-return]  # IPython's decorators are untyped


_PARSER = MagicArgumentParser()
for _name, _row in OPTIONS.items():
    _PARSER.add_argument(*_row.flags, dest=_name, **_row.argument)


def read_options(line: str, cell: str | None) -> CellOptions:
    """Parses the first line of a cell; the rest is the task."""
    words, text = _split(line)
    try:
        # IPython's parser raises UsageError instead of exiting.
        parsed = vars(_PARSER.parse_args([_unquoted(word) for word in words]))
    except UsageError as error:
        raise ConfigError(f"%%autogen: {str(error).strip().splitlines()[-1]}") from None
    given = {name: parsed[name] for name, option in OPTIONS.items() if parsed[name] not in (None, option.default)}
    values = {name: OPTIONS[name].value(value, "%%autogen: ") for name, value in given.items()}
    budget = values.get("budget", "")
    if re.fullmatch(r"[\d.,_]+", budget) and re.match(r"tokens?\b", text, re.IGNORECASE):
        raise ConfigError(f"%%autogen: --budget {budget} is in dollars; tokens need a unit: --budget {budget}tokens")
    task = "\n".join(part for part in (text, (cell or "").strip("\n")) if part.strip()).strip()
    if not task:
        raise ConfigError("%%autogen: there is no task; write it below, or after the options")
    return CellOptions(task, **values)


def _flags() -> Iterator[tuple[str, bool]]:
    for option in OPTIONS.values():
        action = option.argument.get("action", "store")
        for flag in option.flags:
            yield flag, action in ("store", "append")
            if action is argparse.BooleanOptionalAction:
                yield flag.replace("--", "--no-", 1), False


_TAKES_VALUE = dict(_flags())


def _split(line: str) -> tuple[list[str], str]:
    option_words: list[str] = []
    tokens = _TOKEN.finditer(line)
    for token in tokens:
        word = token[0]
        if word == "--":
            return option_words, line[token.end() :].strip()
        if not re.match(r"--?[A-Za-z]", word):
            return option_words, line[token.start() :].strip()
        name, has_value, given = word.partition("=")
        if name not in _TAKES_VALUE:
            raise ConfigError(_unknown(name))
        option_words.append(f"{name}={_unquoted(given)}" if has_value else word)
        if _TAKES_VALUE[name] and not has_value:
            value = next(tokens, None)
            option_words += [] if value is None else [value[0]]
    return option_words, ""


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name, [flag for flag in _TAKES_VALUE if flag.startswith("--")], n=1)
    hint = f"did you mean {near[0]}?" if near else "%%autogen? lists the options"
    return f"%%autogen: there is no option {name}; {hint} (Write -- before a task that begins with a dash.)"


def _unquoted(token: str) -> str:
    return token[1:-1] if len(token) > 1 and token[0] == token[-1] and token[0] in "\"'" else token
