"""Defaults for all cells: ``%config AutogenMagics`` and the environment."""

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
from autogen_nb.notebook.rendering.styles import Show
from autogen_nb.trusted import policy_file

if TYPE_CHECKING:
    from autogen_nb.executors.block_executor import BlockExecutor

UNATTENDED_TIMEOUT = 300.0
"""The time limit for a block in an unattended run, in seconds."""

_UNASKED = "code runs without a question ({})"


OptionDefaults = type(
    "OptionDefaults",
    (Configurable,),
    {name: option.setting for name, option in OPTIONS.items() if option.setting is not None},
)
"""The settings that supply the defaults of options."""


# mypy does not accept a class made by `type` as a base.
class Defaults(OptionDefaults):  # type: ignore[misc, valid-type]
    """The settings of a notebook: the defaults of the options, and a few without an option."""

    ask = Enum(("buttons", "text"), "buttons", help="the form of questions: buttons or text").tag(config=True)
    image = Unicode("", help="the container image of --sandbox docker; empty for python:3-slim").tag(config=True)
    kernel_idle = CFloat(
        120.0, min=0, help="minutes without use until a chat's kernel ends, after a notice; 0 means never"
    ).tag(config=True)
    kernel_limit = CInt(
        0, min=0, help="maximum number of agents' kernels; 0 means as many as memory allows, up to 16"
    ).tag(config=True)
    imports = Unicode(
        ",".join(machine_memory.USUAL),
        help="modules that kernels import in advance, fewer if memory is small; separated by commas",
    ).tag(config=True)
    record = Unicode("", help="the file that records every reply of a model").tag(config=True)

    @property
    def preimports(self) -> tuple[str, ...]:
        """The modules that the kernels import in advance."""
        return machine_memory.preimports([name for module in self.imports.split(",") if (name := module.strip())])

    def usual(self, name: str) -> Any:
        """Returns the setting of an option, or the option's default."""
        given, option = getattr(self, name), OPTIONS[name]
        return option.value(given, f"%config AutogenMagics.{name}: ") if given else option.default

    @property
    def where(self) -> ExecutionTarget:
        """Returns the default target for code, at least as restricted as the policy requires."""
        sandbox, kernel, net = self.usual("sandbox"), self.usual("kernel") or "", bool(self.usual("net"))
        images = (self.image,) if self.image else ()
        where = ExecutionTarget(sandbox, net and place_kind(sandbox).net, kernel, images)
        policy = policy_file.policy()
        if kernel or policy.suffices(sandbox):
            return where
        return ExecutionTarget(policy.sandbox, net, images=images)


@dataclass(frozen=True, slots=True, kw_only=True)
class CellSettings(CellOptions):
    """The values for one cell: its options, then the environment, then the settings."""

    confirm: Confirm
    human_input: Mode
    max_turns: int
    share: Share
    show: Show
    cell_options: CellOptions
    remark: str
    every_block: bool = False
    policy_budget: str | None = None
    pictures: bool = False

    @property
    def chat_flow(self) -> tuple[Confirm, Mode, int, bool, bool]:
        return self.confirm, self.human_input, self.max_turns, self.pictures, bool(self.ask_person)


def cell_settings(
    options: CellOptions,
    defaults: Defaults,
    *,
    attended: bool,
    sandboxed: bool = False,
    policy: OrganisationPolicy = NO_POLICY,
) -> CellSettings:
    """Combines options, environment and defaults, at least as strict as the policy."""
    values = {name: _value(name, getattr(options, name), defaults) for name in OPTIONS}
    requested = values["confirm"]
    confirm = policy.stricter_confirm(requested or ("risky" if sandboxed else "always"))
    unasked = _UNASKED.format(_never_by(options)) if confirm == "never" else ""
    values |= {
        "confirm": confirm,
        "block_timeout": values["block_timeout"] or (None if attended else UNATTENDED_TIMEOUT),
    }
    return CellSettings(
        task=options.task,
        **values,
        cell_options=options,
        remark=" · ".join(filter(None, (unasked, policy.text))),
        every_block="always" in (requested, policy.confirm),
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
    """Returns the target that the options select, or else `usual`."""
    if options.sandbox is None and options.kernel is None and options.net is None:
        return usual
    # A sandbox replaces the default kernel, and a kernel replaces the default sandbox.
    sandbox = options.sandbox or ("none" if options.kernel else usual.sandbox)
    kernel = options.kernel or ("" if options.sandbox not in (None, "none") else usual.kernel)
    net = usual.net and place_kind(sandbox, kernel).net if options.net is None else options.net
    return ExecutionTarget(sandbox, net, kernel, usual.images)


@dataclass(frozen=True, slots=True)
class FirstKernel:
    """An executor that is already starting, and its target."""

    where: ExecutionTarget
    executor: "BlockExecutor"


def begin_first_kernel(cwd: Path, defaults: Defaults) -> FirstKernel | None:
    """Starts a kernel with the default settings; None if that could cost money or is not allowed.

    It runs before the heavy imports, so it imports little itself.
    """
    # The first cell reports errors of the target.
    with suppress(AutogenError):
        where = defaults.where
        policy_file.policy().check_walls(where.sandbox, "this notebook")
        # A sandbox needs the chat's folder, which is not known yet.
        if not (where.costly or where.walled):
            where.check(cwd)
            executor = where.executor(cwd=cwd, imports=defaults.preimports)
            # If the start fails, the first use starts the kernel again and reports the error.
            engine.submit(executor.start()).add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            return FirstKernel(where, executor)
    return None
