"""What holds for every cell that says nothing else: ``%config AutogenMagics`` and the environment."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traitlets import CFloat, CInt, Enum, Unicode
from traitlets.config import Configurable

from autogen_nb.agents.parts.execution_target import ExecutionTarget
from autogen_nb.core.chats.human_input import Mode
from autogen_nb.core.policy.organisation_policy import NO_POLICY, OrganisationPolicy
from autogen_nb.effects import Confirm
from autogen_nb.engine import engine
from autogen_nb.errors import AutogenError
from autogen_nb.kernels.limits import machine_memory
from autogen_nb.kernels.places import place_kind
from autogen_nb.kernels.transfer.describe import Share
from autogen_nb.notebook.options import OPTIONS, CellOptions
from autogen_nb.trusted import policy_file

if TYPE_CHECKING:
    from autogen_nb.executors.jupyter_executor import JupyterExecutor

UNATTENDED_TIMEOUT = 300.0
"""Seconds for one block of code where nobody is there to stop it."""

_UNASKED = "code runs unasked ({})"


OptionDefaults = type(
    "OptionDefaults",
    (Configurable,),
    {name: option.setting for name, option in OPTIONS.items() if option.setting is not None},
)
"""A setting for each option that has one."""


# A class made by `type` is no type to mypy.
class Defaults(OptionDefaults):  # type: ignore[misc, valid-type]
    """The settings of a notebook: those of the options, each of which a cell's option overrides, and some besides."""

    ask = Enum(("buttons", "text"), "buttons", help="how you are asked: by buttons, or in words").tag(config=True)
    image = Unicode("", help="the container image of --sandbox docker; empty for python:3-slim").tag(config=True)
    kernel_idle = CFloat(
        120.0, min=0, help="minutes without use after which a chat's kernel ends, told before; 0 for never"
    ).tag(config=True)
    kernel_limit = CInt(0, min=0, help="kernels of agents at once; 0 for what the memory allows, 16 at most").tag(
        config=True
    )
    imports = Unicode(
        ",".join(machine_memory.USUAL),
        help="modules that kernels import ahead of use, fewer where memory is small; names with commas between",
    ).tag(config=True)
    record = Unicode("", help="a file that every reply of a model is recorded in").tag(config=True)

    @property
    def preimports(self) -> tuple[str, ...]:
        """The modules that a kernel of this notebook imports ahead of use."""
        return machine_memory.preimports([name for each in self.imports.split(",") if (name := each.strip())])

    def usual(self, name: str) -> Any:
        """What the setting of an option says; the option's default where it says nothing."""
        given, option = getattr(self, name), OPTIONS[name]
        return option.value(given, f"%config AutogenMagics.{name}: ") if given else option.default

    @property
    def where(self) -> ExecutionTarget:
        """Where the code of a chat runs that says nothing else; never with less walls than the policy asks for."""
        sandbox, kernel, net = self.usual("sandbox"), self.usual("kernel") or "", bool(self.usual("net"))
        images = (self.image,) if self.image else ()
        where = ExecutionTarget(sandbox, net and place_kind(sandbox).net, kernel, images)
        policy = policy_file.policy()
        if kernel or policy.suffices(sandbox):
            return where
        return ExecutionTarget(policy.sandbox, net, images=images)


@dataclass(frozen=True, slots=True, kw_only=True)
class CellSettings(CellOptions):
    """What holds for one cell: its options, with the environment's word and the settings where it gives none."""

    confirm: Confirm
    human_input: Mode
    max_turns: int
    share: Share
    given: CellOptions
    remark: str
    every_block: bool = False
    policy_budget: str | None = None
    pictures: bool = False

    @property
    def chat_flow(self) -> tuple[Confirm, Mode, int, bool, bool]:
        """What the course of the chat depends on."""
        return self.confirm, self.human_input, self.max_turns, self.pictures, bool(self.ask_person)


def cell_settings(
    options: CellOptions,
    defaults: Defaults,
    *,
    attended: bool,
    sandboxed: bool = False,
    policy: OrganisationPolicy = NO_POLICY,
) -> CellSettings:
    """The cell's own options, then the environment, then the defaults; never below the policy."""
    values = {name: _value(name, getattr(options, name), defaults) for name in OPTIONS}
    wanted = values["confirm"]
    confirm = policy.stricter_confirm(wanted or ("risky" if sandboxed else "always"))
    unasked = _UNASKED.format(_never_by(options)) if confirm == "never" else ""
    values |= {
        "confirm": confirm,
        "block_timeout": values["block_timeout"] or (None if attended else UNATTENDED_TIMEOUT),
    }
    return CellSettings(
        task=options.task,
        **values,
        given=options,
        remark=" · ".join(filter(None, (unasked, policy.text))),
        every_block="always" in (wanted, policy.confirm),
        policy_budget=OPTIONS["budget"].value(policy.budget, "your organisation's policy: ") if policy.budget else None,
    )


def _value(name: str, given: Any, defaults: Defaults) -> Any:
    option = OPTIONS[name]
    if given != option.default:
        return given
    if text := os.environ.get(option.environ):
        return option.value(text, f"{option.environ}: ")
    return option.default if option.setting is None else defaults.usual(name)


def _never_by(options: CellOptions) -> str:
    if os.environ.get("AUTOGEN_NB_CONFIRM") == "never":
        return "AUTOGEN_NB_CONFIRM=never"
    return "--confirm never" if options.confirm else "%config AutogenMagics.confirm"


def target_of(options: CellOptions, usual: ExecutionTarget) -> ExecutionTarget:
    """Where a cell's options say that code runs; `usual` where they say nothing."""
    if options.sandbox is None and options.kernel is None and options.net is None:
        return usual
    # A sandbox takes the place of a kernel that the settings name, and the other way round.
    sandbox = options.sandbox or ("none" if options.kernel else usual.sandbox)
    kernel = options.kernel or ("" if options.sandbox not in (None, "none") else usual.kernel)
    net = usual.net and place_kind(sandbox, kernel).net if options.net is None else options.net
    return ExecutionTarget(sandbox, net, kernel, usual.images)


@dataclass(frozen=True, slots=True)
class FirstKernel:
    """An executor that starts already, and where its code runs."""

    where: ExecutionTarget
    executor: "JupyterExecutor"


def begin_first_kernel(cwd: Path, defaults: Defaults) -> FirstKernel | None:
    """A kernel as the settings have it, being started; None where that would cost somebody, or may not be.

    It starts before the rest of what cells need is loaded: little is imported here.
    """
    # What is wrong with a place is told by the first cell.
    with suppress(AutogenError):
        where = defaults.where
        policy_file.policy().check_walls(where.sandbox, "this notebook")
        # Behind walls it writes in the folder of its chat, which is not known yet.
        if not (where.costly or where.walled):
            where.check(cwd)
            executor = where.executor(cwd=cwd, imports=defaults.preimports)
            # A kernel that does not start is told when it is first needed, by the start that happens then.
            engine.submit(executor.start()).add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            return FirstKernel(where, executor)
    return None
