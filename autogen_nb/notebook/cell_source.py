"""Reads cells: rewrites ``%%autogen``, and ``%autogen`` in a cell of its own, to awaited calls, and parses the options.

1. An outermost cell is awaited: the notebook loop handles clicks while the cell runs, and the next cell waits.
2. In a terminal the call blocks, because Ctrl-C would leave an awaited cell running.
3. A call inside another cell, such as below ``%%time``, cannot be awaited, so it blocks.
4. A question mark at the end of ``%autogen Why is it?`` is no request for the help of IPython.
5. The first line of ``%%autogen`` has the options; the text after them is the task, verbatim.
"""

import argparse
import ast
import difflib
import re
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
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
            near = difflib.get_close_matches(name, [flag for flag in _TAKES_VALUE if flag.startswith("--")], n=1)
            hint = f"did you mean {near[0]}?" if near else "%%autogen? lists the options."
            dash = "(Write -- before a task that begins with a dash.)"
            raise ConfigError(f"%%autogen: there is no option {name}; {hint} {dash}")
        option_words.append(f"{name}={_unquoted(value_text)}" if has_value else word)
        if _TAKES_VALUE[name] and not has_value:
            value = next(tokens, None)
            option_words += [] if value is None else [value[0]]
    return option_words, ""


def _unquoted(token: str) -> str:
    return token[1:-1] if len(token) > 1 and token[0] == token[-1] and token[0] in "\"'" else token


_LINE_CALL = "get_ipython().run_line_magic('autogen', "
_CALLS = ("get_ipython().run_cell_magic('autogen', ", _LINE_CALL)
TASK_BELOW = "a task needs two percent signs: %%autogen, and the task on the lines below"
HELP = ("-h", "--help", "help")
_QUESTION = re.compile(r"\s*%autogen\s+(.*\?)\s*")
_MAGICS = "get_ipython().magics_manager.registry['AutogenMagics']"
_HANDLER = f"{_MAGICS}.handler()"


class _Depth(threading.local):
    """The number of nested cells that run in this thread."""

    cells = 0


class Transformer:
    """An input transformer that tracks the nesting of running cells."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._depth = _Depth()

    def install(self) -> None:
        self._shell.input_transformers_cleanup.append(_without_help)
        self._shell.input_transformers_post.append(self)
        self._shell.events.register("pre_execute", self._on_cell_begin)
        self._shell.events.register("post_execute", self._on_cell_end)

    def remove(self) -> None:
        self._shell.input_transformers_cleanup.remove(_without_help)
        self._shell.input_transformers_post.remove(self)
        self._shell.events.unregister("pre_execute", self._on_cell_begin)
        self._shell.events.unregister("post_execute", self._on_cell_end)

    def __call__(self, lines: list[str]) -> list[str]:
        """Rewrites the lines of a call of the magic; returns other lines unchanged."""
        if lines[1:] and lines[0].startswith(_LINE_CALL):
            # `%load_ext` must stay quick.
            from autogen_nb.core.text.code_blocks import parse_python

            words = " ".join(_magic_words(lines[0])).split()
            # Commands begin with a small letter.
            if parse_python("".join(lines[1:])) is None and not (words and words[0][0].islower()):
                raise SyntaxError(TASK_BELOW)
        if not lines or not lines[0].startswith(_CALLS):
            return lines
        match _magic_words("".join(lines)):
            # IPython refuses a cell magic without a body.
            case [line, cell] if line.strip() in HELP and not cell.strip():
                return [f"{_MAGICS}.show_options()\n"]
            case [line, cell]:
                call = f"await {_HANDLER}.run_awaited" if self._awaitable() else f"{_HANDLER}.run_blocking"
                return [f"{call}({line!r}, {cell!r})\n"]
            case [line] if self._awaitable():
                return [f"await {_HANDLER}.run_line({line!r})\n"]
            case _:
                return lines

    def _awaitable(self) -> bool:
        return self._depth.cells == 0 and getattr(self._shell, "kernel", None) is not None

    def _on_cell_begin(self, *_: Any) -> None:
        self._depth.cells += 1

    def _on_cell_end(self, *_: Any) -> None:
        self._depth.cells = max(0, self._depth.cells - 1)


def _without_help(lines: list[str]) -> list[str]:
    question = _QUESTION.fullmatch(lines[0]) if lines else None
    return lines if question is None else [f"{_LINE_CALL}{question[1]!r})\n", *lines[1:]]


def _magic_words(call: str) -> list[str]:
    """Returns the arguments of IPython's call of the magic, or an empty list for any other text."""
    try:
        node = ast.parse(call.strip(), mode="eval").body
    except SyntaxError:
        return []
    arguments = [] if not isinstance(node, ast.Call) or node.keywords else node.args[1:]
    words = [
        constant.value
        for constant in arguments
        if isinstance(constant, ast.Constant) and isinstance(constant.value, str)
    ]
    # IPython's own calls have only strings as arguments; a person has written any other call.
    return words if len(words) == len(arguments) else []
