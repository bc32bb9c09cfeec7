"""What a cell's first line asks for, read into one exact value before anything starts.

The options are documented and parsed by `IPython.core.magic_arguments`; what follows them is the task's text, kept
letter by letter, apostrophes included.
"""

import difflib
import math
import re
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from keyword import iskeyword
from typing import Any, TypeVar, get_args

from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser, argument, magic_arguments

from autogen_nb.agents.parts.execution_target import SANDBOXES, Sandbox
from autogen_nb.core.chats.human_input import Mode
from autogen_nb.effects import CONFIRMS, Confirm
from autogen_nb.errors import ConfigError
from autogen_nb.kernels.transfer.describe import Share

F = TypeVar("F", bound=Callable[..., Any])

HUMAN_INPUTS: Mapping[str, Mode] = {"always": "ALWAYS", "terminate": "TERMINATE", "never": "NEVER"}

SHARES: tuple[Share, ...] = get_args(Share)

_QUOTED = r'"[^"]*"|\'[^\']*\''
_TOKEN = re.compile(rf"--[\w-]+=(?:{_QUOTED})|{_QUOTED}|\S+")


@dataclass(frozen=True, slots=True)
class CellOptions:
    """What one cell asks for; None stands for the default of ``%config AutogenMagics``."""

    task: str
    model: str | None = None
    chat: str | None = None
    team: str | None = None
    new: bool = False
    template: bool = False
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    answer: str | None = None
    human_input: Mode | None = None
    confirm: Confirm | None = None
    max_turns: int | None = None
    block_timeout: float | None = None
    human_timeout: float | None = None
    ask_person: bool | None = None
    budget: str | None = None
    sandbox: Sandbox | None = None
    net: bool = False
    # An address may hold a token.
    kernel: str | None = field(default=None, repr=False)
    share: Share | None = None
    unpickle: bool = False


def documented(magic: F) -> F:
    """The magic with its options documented, as ``%%autogen?`` shows them."""
    options = [
        argument("-m", "--model", help="a model's name, 'offline', or 'replay:FILE'"),
        argument("-c", "--chat", metavar="NAME", help="the chat that this cell belongs to"),
        argument("--team", metavar="NAME", help="the team that does the task: a variable of the notebook"),
        argument("--new", action="store_true", help="begin a new chat; the old one is kept under another name"),
        argument("--template", action="store_true", help="fill {name} in the task with the notebook's variables"),
        argument("-i", "--input", metavar="NAMES", action="append", help="variables to copy to the agent's kernel"),
        argument("-o", "--output", metavar="NAMES", action="append", help="variables to copy back, as data only"),
        argument("-a", "--answer", metavar="NAME", help="the variable that takes the text of the final answer"),
        argument("--human-input", choices=sorted(HUMAN_INPUTS), help="when the agents ask for your words [never]"),
        argument(
            "--confirm", choices=CONFIRMS, help="when you are asked before code runs [always; risky in a sandbox]"
        ),
        argument("--max-turns", type=int, metavar="N", help="replies of the assistant in this cell at most [20]"),
        argument(
            "--block-timeout",
            type=float,
            metavar="SECONDS",
            help="time for one block of code [none where a person is there, else 300]",
        ),
        argument(
            "--human-timeout",
            type=float,
            metavar="SECONDS",
            help="how long a panel waits for you before it gives up: nothing runs unasked, and the cell can be run "
            "again [no limit]",
        ),
        argument(
            "--budget",
            metavar="SUM",
            help="dollars ('0.50') or tokens ('20ktokens', \"20000 tokens\") that the whole chat may take, its "
            "earlier cells counted: it stops before the request that would pass it [no limit]",
        ),
        argument(
            "--sandbox", choices=SANDBOXES, help="walls around the chat's code; it runs behind them or not [none]"
        ),
        argument(
            "--ask-person",
            action="store_true",
            default=None,
            help="let the model ask you questions by a tool of its own [with models of OpenAI and Azure]",
        ),
        argument("--no-ask-person", dest="ask_person", action="store_false", default=None, help="do not"),
        argument("--net", action="store_true", help="let code in the sandbox use the network"),
        argument("--kernel", metavar="NAME|URL", help="an installed kernel, or a Jupyter server whose kernel to use"),
        argument(
            "--share", choices=SHARES, help="what the model is told of variables: schema, or some rows too [schema]"
        ),
        argument(
            "--unpickle", action="store_true", help="let -o bring back anything, by code that the agent can choose"
        ),
        argument("task", nargs="*", help="the task, or its beginning; the cell's body follows it"),
    ]
    for option in reversed(options):
        magic = option(magic)
    return magic_arguments()(magic)  # type: ignore[no-any-return]  # IPython's decorators are untyped


def read_options(parser: MagicArgumentParser, line: str, cell: str | None) -> CellOptions:
    """The order that the first line and the body of a cell give.

    Raises
    ------
    ConfigError
        For an unknown option, a bad value, or no task; nothing has started then.
    """
    options, text = _split(parser, line)
    try:
        # IPython's parser raises UsageError in place of argparse's exit.
        parsed = parser.parse_args([_unquoted(token) for token in options])
    except UsageError as error:
        raise ConfigError(f"%%autogen: {str(error).strip().splitlines()[-1]}") from None
    _check_budget(parsed.budget, text)
    task = "\n".join(part for part in (text, (cell or "").strip("\n")) if part.strip()).strip()
    if not task:
        raise ConfigError("%%autogen: there is no task; write it below, or behind the options")
    return _order(task, parsed)


def _order(task: str, parsed: Namespace) -> CellOptions:
    if parsed.max_turns is not None and parsed.max_turns < 1:
        raise ConfigError(f"%%autogen: --max-turns is {parsed.max_turns}; it must be at least 1")
    for option, seconds in (("--block-timeout", parsed.block_timeout), ("--human-timeout", parsed.human_timeout)):
        if seconds is not None and not 0 < seconds < math.inf:
            raise ConfigError(f"%%autogen: {option} is {seconds}; it must be seconds above 0")
    if parsed.model is not None and not parsed.model.strip():
        raise ConfigError("%%autogen: --model is empty; name one, such as 'offline'")
    return CellOptions(
        task,
        model=parsed.model,
        chat=None if parsed.chat is None else _chat_name(parsed.chat),
        team=_one_name("--team", parsed.team),
        new=parsed.new,
        template=parsed.template,
        inputs=tuple(_names("--input", parsed.input)),
        outputs=tuple(_names("--output", parsed.output)),
        answer=_one_name("--answer", parsed.answer),
        human_input=HUMAN_INPUTS[parsed.human_input] if parsed.human_input else None,
        confirm=parsed.confirm,
        max_turns=parsed.max_turns,
        block_timeout=parsed.block_timeout,
        human_timeout=parsed.human_timeout,
        ask_person=parsed.ask_person,
        budget=parsed.budget,
        sandbox=parsed.sandbox,
        net=parsed.net,
        kernel=_kernel(parsed.kernel),
        share=parsed.share,
        unpickle=parsed.unpickle,
    )


def _check_budget(budget: str | None, text: str) -> None:
    if budget is None:
        return
    try:
        # Not before a cell names one: the models come with it.
        from autogen_nb.models.wrappers.budget import Budget

        Budget.parse(budget)
    except ConfigError as error:
        raise ConfigError(f"%%autogen: {error}") from None
    if re.fullmatch(r"[\d.,_]+", budget) and re.match(r"tokens?\b", text, re.IGNORECASE):
        raise ConfigError(
            f"%%autogen: --budget {budget} is in dollars; a sum of tokens is one word, --budget {budget}tokens"
        )


def _split(parser: MagicArgumentParser, line: str) -> tuple[list[str], str]:
    """The options and their values, and the text behind them as it was typed."""
    # argparse has no public table of its options; their names and arities are all that is read.
    known = parser._option_string_actions  # noqa: SLF001
    taken: list[str] = []
    tokens = _TOKEN.finditer(line)
    for token in tokens:
        word = token[0]
        if word == "--":
            return taken, line[token.end() :].strip()
        if not re.match(r"--?[A-Za-z]", word):
            return taken, line[token.start() :].strip()
        name, has_value, given = word.partition("=")
        if name not in known:
            raise ConfigError(_unknown(name, known))
        taken.append(f"{name}={_unquoted(given)}" if has_value else word)
        if known[name].nargs != 0 and not has_value:
            value = next(tokens, None)
            taken += [] if value is None else [value[0]]
    return taken, ""


def _unknown(name: str, known: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(name, [option for option in known if option.startswith("--")], n=1)
    hint = f"did you mean {near[0]}?" if near else "%%autogen? lists the options"
    return f"%%autogen: there is no option {name}; {hint} (A task that begins with a dash goes behind --.)"


def _unquoted(token: str) -> str:
    return token[1:-1] if len(token) > 1 and token[0] == token[-1] and token[0] in "\"'" else token


def _names(option: str, values: list[str] | None) -> Iterator[str]:
    for name in (part.strip() for value in values or () for part in value.split(",")):
        if not name.isidentifier() or iskeyword(name):
            raise ConfigError(f"%%autogen: {option} {name!r} is not a variable's name (names are joined by commas)")
        yield name


def _one_name(option: str, value: str | None) -> str | None:
    names = [] if value is None else list(_names(option, [value]))
    if len(names) > 1:
        raise ConfigError(f"%%autogen: {option} takes one name, not {value!r}")
    return names[0] if names else None


def _kernel(name: str | None) -> str | None:
    if name is not None and not name.strip():
        raise ConfigError("%%autogen: --kernel is empty; name an installed kernel, or a server's address")
    return name


def _chat_name(name: str) -> str:
    if not re.fullmatch(r"[\w][\w .-]{0,60}", name):
        raise ConfigError(f"%%autogen: a chat cannot be called {name!r}; use letters, digits, '-', '_' and '.'")
    return name
