"""The settings of a cell and of a command. Each setting is a trait; its tags say how to set it.

- ``flags``: an option of ``%%autogen`` and, if `autogen_nb.cli` lists it, of the command line.
- ``config``: a default for all cells, in ``%config AutogenMagics``.
- ``environ``: an environment variable, which takes precedence over ``%config``.
- ``check``: a function of a value and the option's name: returns the value, or raises ConfigError if it is invalid.
- ``team``: the option is available with ``--team``.
- ``completes``: what Tab offers as a value (`autogen_nb.notebook.completion.SOURCES`).
"""

import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from keyword import iskeyword
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args
from urllib.parse import urlsplit

from traitlets import Bool, CFloat, CInt, Enum, List, TraitError, TraitType, Unicode
from traitlets.config import Configurable

from autogen_nb.core.policy.organisation_policy import SANDBOXES
from autogen_nb.effects import CONFIRMS
from autogen_nb.errors import ConfigError, SessionError
from autogen_nb.kernels.limits import block_limits
from autogen_nb.kernels.limits.block_limits import Limits
from autogen_nb.kernels.places.place import Place
from autogen_nb.kernels.transfer.describe import Share
from autogen_nb.trusted import policy_file

if TYPE_CHECKING:
    from autogen_nb.core.chats.termination_checks import Mode

Show: TypeAlias = Literal["answer", "results", "code", "all"]

UNATTENDED_TIMEOUT = 300.0
"""The default time limit for a block in an unattended run, in seconds."""

_MODES: "Mapping[str, Mode]" = {"always": "ALWAYS", "terminate": "TERMINATE", "never": "NEVER"}


def _not_empty(what: str) -> Callable[[str, str], str]:
    def check(value: str, option: str) -> str:
        if not value.strip():
            raise ConfigError(f"{option} is empty; name {what}")
        return value

    return check


def _chat_name(value: str, _: str) -> str:
    if not re.fullmatch(r"[\w][\w .-]{0,60}", value):
        raise ConfigError(
            f"a chat cannot be called {value!r}; begin with a letter or a digit, and use at most 61 letters, digits, "
            "spaces, '-', '_' and '.'"
        )
    return value


def _names(values: Iterable[str], option: str) -> list[str]:
    names = [part.strip() for value in values for part in value.split(",")]
    for name in names:
        if not name.isidentifier() or iskeyword(name):
            way = "read the file into a variable, or name it in the task" if "." in name else "commas separate names"
            raise ConfigError(f"{option} {name!r} is not a variable's name ({way})")
    return names


def _one_name(value: str, option: str) -> str:
    first, *more = _names([value], option)
    if more:
        raise ConfigError(f"{option} takes one name, not {value!r}")
    return first


def _positive(value: float, option: str) -> float:
    if not 0 < value < math.inf:
        raise ConfigError(f"{option} is {value}; it must be a number above 0")
    return value


def _budget(value: str, _: str) -> str:
    # Imported late, because `autogen_nb.models` takes a while to load.
    from autogen_nb.models.wrappers.budget import Budget

    Budget.parse(value)
    return value


def _memory(value: str, option: str) -> str:
    with suppress(ConfigError):
        if (Limits.of({"memory": value}).memory or 0) >= _LEAST_MEMORY:
            return value
    raise ConfigError(f"{option} is {value!r}; give a size such as '4GB', and at least '200MB', which a kernel needs")


_LEAST_MEMORY = 2 * 10**8
_OTHER_STORED = ("pictures", "every_block")
"""The values that a session stores in addition to the options."""


class Settings(Configurable):
    """A set of values: the defaults of all cells, the options of one cell, or the values that apply to a cell."""

    options: Mapping[str, Any] = MappingProxyType({})

    task = Unicode("")
    model = Unicode("", help="a model's name, 'offline', or 'replay:FILE'").tag(
        config=True, flags=("-m", "--model"), check=_not_empty("one, such as 'offline'"), completes="models"
    )
    chat = Unicode(None, allow_none=True, help="the chat that this cell belongs to").tag(
        flags=("-c", "--chat"), metavar="NAME", check=_chat_name, completes="chats"
    )
    team = Unicode("", help="the team that does the task: a variable of the notebook").tag(
        flags=("--team",), metavar="NAME", check=_one_name, team=True, completes="teams"
    )
    each = Unicode("", help="a table of the notebook: run the task once for each row, with {column} filled in").tag(
        flags=("--each",), metavar="NAME", check=_one_name, completes="tables"
    )
    retry_failed = Bool(False, help="with --each: run the failed rows of an earlier run again").tag(
        flags=("--retry-failed",)
    )
    new = Bool(False, help="begin a new chat; the old one is kept under another name").tag(flags=("--new",))
    template = Bool(False, help="fill {name} in the task with the notebook's variables").tag(
        flags=("--template",), team=True
    )
    inputs = List(Unicode(), help="variables to copy to the agent's kernel").tag(
        flags=("-i", "--input"), metavar="NAMES", check=_names, completes="variables"
    )
    mcp = List(Unicode(), help="one of your MCP servers: the agent may call its tools").tag(
        flags=("--mcp",), metavar="NAME", completes="MCP servers"
    )
    outputs = List(Unicode(), help="variables to copy back, as data only").tag(
        flags=("-o", "--output"), metavar="NAMES", check=_names, completes="agent's variables"
    )
    context = Bool(False, help="whether the assistant sees the cells above, with short outputs [no]").tag(
        config=True, flags=("--context",)
    )
    plan = Bool(False, help="first a plan, which you approve or edit; code runs afterwards").tag(flags=("--plan",))
    answer = Unicode("", help="the variable for the text of the final answer").tag(
        flags=("-a", "--answer"), metavar="NAME", check=_one_name, team=True
    )
    human_input = Enum(tuple(_MODES), "never", help="when the agents ask you for a message [never]").tag(
        config=True, flags=("--human-input",)
    )
    confirm = Enum(
        CONFIRMS, None, allow_none=True, help="when you are asked before code runs [always; risky in a sandbox]"
    ).tag(config=True, flags=("--confirm",), environ="AUTOGEN_NB_CONFIRM")
    max_turns = CInt(20, min=1, help="the maximum number of replies of the assistant in one cell [20]").tag(
        config=True, flags=("--max-turns",), metavar="N", check=_positive
    )
    block_timeout = CFloat(
        0.0, min=0.0, help="seconds for one block of code [no limit if you can answer questions, else 300]"
    ).tag(config=True, flags=("--block-timeout",), metavar="SECONDS", check=_positive)
    human_timeout = CFloat(
        0.0,
        min=0.0,
        help="seconds that a panel waits for your answer; then the cell ends without running the code, and you can "
        "run the cell again [no limit]",
    ).tag(config=True, flags=("--human-timeout",), metavar="SECONDS", check=_positive, team=True)
    budget = Unicode(
        "",
        help="dollars ('0.50') or tokens ('20ktokens', \"20000 tokens\") that a chat may spend, in all its cells; "
        "it stops before a request that would exceed it [no limit]",
    ).tag(config=True, flags=("--budget",), metavar="SUM", environ="AUTOGEN_NB_BUDGET", check=_budget)
    sandbox = Enum(
        SANDBOXES, "none", help="the sandbox for the chat's code; if it is unavailable, no code runs [none]"
    ).tag(config=True, flags=("--sandbox",))
    ask_person = Bool(
        None,
        allow_none=True,
        help="whether the model may call a tool that asks you questions [yes for models of OpenAI and Azure, else no]",
    ).tag(config=True, flags=("--ask-person",))
    net = Bool(False, help="whether code in the sandbox may use the network [no]").tag(config=True, flags=("--net",))
    kernel = Unicode("", help="an installed kernel, or the address of a Jupyter server that runs the kernel").tag(
        config=True,
        flags=("--kernel",),
        metavar="NAME|URL",
        check=_not_empty("an installed kernel, or a server's address"),
        completes="kernels",
    )
    memory = Unicode(
        "", help="maximum memory of the chat's kernel, such as '4GB' [four fifths of this machine's memory]"
    ).tag(config=True, flags=("--memory",), metavar="SIZE", check=_memory)
    on_error = Enum(
        ("keep", "rollback"),
        "keep",
        help="what happens to the agent's variables if a block raises an error: keep its changes, or roll back to "
        "the values before the block [keep]",
    ).tag(config=True, flags=("--on-error",))
    share = Enum(
        get_args(Share),
        "schema",
        help="the description of variables for the model: their schema, or also their first rows [schema]",
    ).tag(config=True, flags=("--share",))
    show = Enum(
        get_args(Show),
        "results",
        help="what the cell shows: only the answer, also results, also code, or also long text in full [results]",
    ).tag(config=True, flags=("--show",), team=True)
    unpickle = Bool(False, help="let -o copy values of any type; the agent's code may then run in your notebook").tag(
        flags=("--unpickle",)
    )

    ask = Enum(("buttons", "text"), "buttons", help="the form of questions: buttons or text").tag(config=True)
    image = Unicode("", help="the container image of --sandbox docker; empty for python:3-slim").tag(config=True)
    checkpoints = Bool(
        True,
        help="whether the agents' kernels take a checkpoint before each block, for %autogen undo and after a crash",
    ).tag(config=True)
    kernel_idle = CFloat(
        120.0, min=0, help="minutes without use after which a chat's kernel ends; a notice comes first; 0 means never"
    ).tag(config=True)
    kernel_limit = CInt(
        0, min=0, help="maximum number of agents' kernels; 0 means as many as memory allows, up to 16"
    ).tag(config=True)
    imports = Unicode(
        ",".join(block_limits.USUAL),
        help="modules that kernels import in advance, fewer if memory is small; separated by commas",
    ).tag(config=True)
    session_days = CFloat(
        30.0, min=0, help="days that the sessions of chats are stored after their last change; 0 stores none"
    ).tag(config=True)
    record = Unicode("", help="the file in which every reply of a model is recorded").tag(config=True)

    remark = Unicode("")
    every_block = Bool(False)
    policy_budget = Unicode("")
    pictures = Bool(False)

    @classmethod
    def from_options(cls, task: str, source: str = "", **values: Any) -> "Settings":
        """Checks the options of one cell or command and drops options that are None; errors begin with `source`."""
        options = {name: checked(name, value, source) for name, value in values.items() if value is not None}
        return cls._of(options, task=task, **options)

    @classmethod
    def _of(cls, options: Mapping[str, Any], **values: Any) -> "Settings":
        settings = Settings(**values)
        settings.options = options
        return settings

    def with_options(self, **values: Any) -> "Settings":
        """A copy with the options in `values` added or replaced."""
        options = {**self.options, **values}
        return self._of(options, task=self.task, **options)

    def for_resume(self, chat: str) -> "Settings":
        """The options to resume a run from its session, without `inputs`, which the session has stored."""
        flow = {name: getattr(self, name) for name in ("confirm", "human_input", "max_turns", "ask_person", "plan")}
        return self.with_options(**flow, every_block=self.every_block, chat=chat, new=False, template=False, inputs=[])

    def for_cell(self, cell: "Settings", *, attended: bool, sandboxed: bool = False) -> "Settings":
        """The values for a cell: its options, else the environment, else these defaults, restricted by the policy."""
        policy = policy_file.policy()
        values = {name: cell.options[name] if name in cell.options else self._default_value(name) for name in OPTIONS}
        requested = values["confirm"]
        confirm = policy.stricter_confirm(requested or ("risky" if sandboxed else "always"))
        notice = f"code runs without a question ({_source_of_confirm(cell)})" if confirm == "never" else ""
        budget = checked("budget", policy.budget, "your organisation's policy: ") if policy.budget else ""
        values |= {
            "confirm": confirm,
            "block_timeout": values["block_timeout"] or (0 if attended else UNATTENDED_TIMEOUT),
            "remark": " · ".join(filter(None, (notice, policy.text))),
            "every_block": cell.options.get("every_block", requested == "always") or policy.confirm == "always",
            "policy_budget": budget,
        }
        return self._of(cell.options, task=cell.task, **values)

    def _default_value(self, name: str) -> Any:
        variable = OPTIONS[name].metadata.get("environ", "")
        if text := os.environ.get(variable):
            return checked(name, text, f"{variable}: ")
        value = getattr(self, name)
        return checked(name, value, f"%config AutogenMagics.{name}: ") if value else value

    def unattended(self) -> "Settings":
        """The options for a run without a person; raises ConfigError if the options do not allow such a run."""
        # Impossible places raise here, before anything starts.
        place = self.place()
        confirm = self.confirm or ("risky" if place.is_sandbox else None)
        if confirm is None:
            way_out = policy_file.policy().way_out(
                "choose a sandbox (--sandbox bwrap or docker), or --confirm risky (refuses code that is not clearly "
                "harmless) or --confirm never (runs all code)"
            )
            raise ConfigError(f"nobody is here to read the code before it runs: {way_out}")
        if confirm == "always":
            way_out = policy_file.policy().way_out("choose risky or never, or use autogen-nb chat")
            raise ConfigError(f"the run is unattended, so --confirm always would refuse all code: {way_out}")
        self.check_saved()
        return self.with_options(confirm=confirm)

    def check_saved(self) -> None:
        """Raises ConfigError if a value contains a token, which a session or a journal would save."""
        address = urlsplit(self.kernel)
        if address.scheme in ("http", "https") and ("token" in address.query or address.username):
            way_out = "leave it out, and put it into AUTOGEN_NB_KERNEL_TOKEN"
            raise ConfigError(f"the address of --kernel contains a token, which would be saved: {way_out}")

    def to_json(self) -> dict[str, Any]:
        """The values that apply to a cell, for `from_json`."""
        values = {name: getattr(self, name) for name in (*OPTIONS, *_OTHER_STORED)}
        return {"values": values, "options": list(self.options)}

    @classmethod
    def from_json(cls, task: str, stored: Mapping[str, Any]) -> "Settings":
        """Reads the values of `to_json` that this release knows; raises SessionError if a value is invalid."""
        try:
            values = {name: value for name, value in stored["values"].items() if name in (*OPTIONS, *_OTHER_STORED)}
            return cls._of({name: values[name] for name in stored["options"] if name in values}, task=task, **values)
        except (TraitError, LookupError, TypeError, AttributeError) as error:
            raise SessionError(f"the stored settings are invalid: {error}") from error

    @property
    def mode(self) -> "Mode":
        return _MODES[self.human_input]

    @property
    def chat_flow(self) -> tuple[object, ...]:
        """The values that must be the same when a chat resumes from its log."""
        return self.confirm, self.human_input, self.max_turns, self.plan, self.pictures, bool(self.ask_person)

    @property
    def kernel_options(self) -> dict[str, Any]:
        return {"imports": self.preimports, "checkpoints": self.checkpoints, "guard": self.confirm != "never"}

    @property
    def preimports(self) -> tuple[str, ...]:
        return block_limits.preimports([name for module in self.imports.split(",") if (name := module.strip())])

    @property
    def default_place(self) -> Place:
        """The default place for code: the settings' kernel, or else the stronger of their sandbox and the policy's."""
        policy = policy_file.policy()
        sandbox = self.sandbox if self.kernel else policy.stricter_sandbox(self.sandbox)
        images = (self.image,) if self.image else ()
        return Place(sandbox, self.net and sandbox != "none", self.kernel, images, self.memory)

    def place(self, default: Place | None = None) -> Place:
        """The place that the options select, or else `default`, which is that of new settings if it is None."""
        default = Settings().default_place if default is None else default
        if not self.options.keys() & {"sandbox", "kernel", "net", "memory"}:
            return default
        # A sandbox replaces the default kernel, and a kernel replaces the default sandbox.
        sandbox = self.options.get("sandbox") or ("none" if self.kernel else default.sandbox)
        kernel = self.kernel or ("" if self.sandbox != "none" else default.kernel)
        net = self.options.get("net", default.net and sandbox != "none")
        place = Place(sandbox, net, kernel, default.images, self.memory)
        return place if self.memory or place.is_server else replace(place, memory=default.memory)


OPTIONS: Mapping[str, TraitType[Any, Any]] = {
    name: trait for name, trait in vars(Settings).items() if isinstance(trait, TraitType) and "flags" in trait.metadata
}


def checked(name: str, value: Any, source: str = "") -> Any:
    """Checks and returns the value of an option; errors begin with `source`."""
    trait = OPTIONS[name]
    option = trait.metadata["flags"][-1]
    if isinstance(trait, Enum) and value not in (values := trait.values or ()):
        raise ConfigError(f"{source}{option} is {value!r}; it must be one of {', '.join(values)}")
    try:
        return trait.metadata.get("check", lambda value, _: value)(value, option)
    except ConfigError as error:
        raise ConfigError(f"{source}{error}") from None


def _source_of_confirm(cell: Settings) -> str:
    if os.environ.get("AUTOGEN_NB_CONFIRM") == "never":
        return "AUTOGEN_NB_CONFIRM=never"
    return "--confirm never" if "confirm" in cell.options else "%config AutogenMagics.confirm"
