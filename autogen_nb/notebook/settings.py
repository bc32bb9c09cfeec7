"""What holds for every cell that says nothing else: ``%config AutogenMagics`` and the environment."""

import os
from dataclasses import dataclass
from typing import get_args

from traitlets import Bool, CFloat, CInt, Enum, Unicode
from traitlets.config import Configurable

from autogen_nb.agents.parts.execution_target import SANDBOXES, ExecutionTarget
from autogen_nb.core.chats.human_input import Mode
from autogen_nb.core.policy.organisation_policy import NO_POLICY, OrganisationPolicy
from autogen_nb.effects import CONFIRMS, Confirm
from autogen_nb.errors import ConfigError
from autogen_nb.kernels.limits import machine_memory
from autogen_nb.notebook.options import HUMAN_INPUTS, SHARES, CellOptions
from autogen_nb.trusted.policy_file import policy

UNATTENDED_TIMEOUT = 300.0
"""Seconds for one block of code where nobody is there to stop it."""

_UNASKED = "code runs unasked ({})"


class Defaults(Configurable):
    """The defaults of ``%%autogen``, each of which a cell's option overrides."""

    model = Unicode("", help="a model's name, 'offline', or 'replay:FILE'").tag(config=True)
    confirm = Enum(
        ("", *CONFIRMS), "", help="when you are asked before code runs; '' for always, and for risky in a sandbox"
    ).tag(config=True)
    human_input = Enum(tuple(HUMAN_INPUTS), "never", help="when the agents ask for your words").tag(config=True)
    max_turns = CInt(20, min=1, help="replies of the assistant in one cell at most").tag(config=True)
    block_timeout = CFloat(
        0.0, min=0.0, help="seconds for one block of code; 0 for no limit where a person is there, else 300"
    ).tag(config=True)
    human_timeout = CFloat(0.0, min=0.0, help="seconds that a panel waits for you; 0 for no limit").tag(config=True)
    ask_person = Enum(
        ("auto", "on", "off"),
        "auto",
        help="whether the model may ask you by a tool; auto where models are known to call",
    ).tag(config=True)
    budget = Unicode("", help="dollars ('0.50') or tokens ('20000 tokens') that one chat may take").tag(config=True)
    ask = Enum(("buttons", "text"), "buttons", help="how you are asked: by buttons, or in words").tag(config=True)
    sandbox = Enum(SANDBOXES, "none", help="walls around the code of chats that begin").tag(config=True)
    net = Bool(False, help="whether code in a sandbox may use the network").tag(config=True)  # traitlets' way
    kernel = Unicode("", help="an installed kernel's name or a server's address, for chats that begin").tag(config=True)
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
    share = Enum(SHARES, "schema", help="what the model is told of variables: schema, or rows too").tag(config=True)
    record = Unicode("", help="a file that every reply of a model is recorded in").tag(config=True)

    @property
    def preimports(self) -> tuple[str, ...]:
        """The modules that a kernel of this notebook imports ahead of use."""
        return machine_memory.preimports([name for each in self.imports.split(",") if (name := each.strip())])

    @property
    def where(self) -> ExecutionTarget:
        """Where the code of a chat runs that says nothing else; never with less walls than the policy asks for.

        Raises
        ------
        ConfigError
            When the settings exclude each other, or the organisation's policy cannot be used.
        """
        images = (self.image,) if self.image else ()
        where, law = ExecutionTarget(self.sandbox, self.net and self.sandbox != "none", self.kernel, images), policy()
        if self.kernel or law.suffices(where.sandbox):
            return where
        return ExecutionTarget(law.sandbox, self.net, images=images)


@dataclass(frozen=True, slots=True)
class CellSettings:
    """What holds for one cell.

    Parameters
    ----------
    most
        The budget of the organisation's policy.
    asks
        Whether the model may ask the person by a tool; None where that depends on the model.
    """

    confirm: Confirm
    human_input: Mode
    max_turns: int
    block_timeout: float | None
    remark: str
    budget: str | None = None
    human_timeout: float | None = None
    pictures: bool = False
    most: str | None = None
    asks: bool | None = None

    @property
    def flow(self) -> tuple[Confirm, Mode, int, bool, bool]:
        """What the course of the chat depends on."""
        return self.confirm, self.human_input, self.max_turns, self.pictures, bool(self.asks)

    @property
    def at_most(self) -> str:
        """The budget that no option can pass, in words; "" for none."""
        return f" (at most {self.most}, by your organisation's policy)" if self.most else ""


def terms(
    options: CellOptions,
    defaults: Defaults,
    *,
    attended: bool,
    walled: bool = False,
    law: OrganisationPolicy = NO_POLICY,
) -> CellSettings:
    """The terms of a cell: its own options, then the environment, then the defaults; never less than the policy's.

    Parameters
    ----------
    walled
        Whether its code runs in a sandbox.
    law
        The organisation's policy.

    Raises
    ------
    ConfigError
        When the environment or the policy says what no option could.
    """
    unasked = os.environ.get("AUTOGEN_NB_CONFIRM")
    if unasked and unasked not in get_args(Confirm):
        raise ConfigError(f"AUTOGEN_NB_CONFIRM is {unasked!r}; it must be one of {', '.join(CONFIRMS)}")
    usual = "risky" if walled else "always"
    wanted: Confirm = options.confirm or unasked or defaults.confirm or usual  # type: ignore[assignment]  # checked above and by the trait
    confirm = law.confirmed(wanted)
    timeout = options.block_timeout or defaults.block_timeout or (None if attended else UNATTENDED_TIMEOUT)
    return CellSettings(
        confirm,
        options.human_input or HUMAN_INPUTS[defaults.human_input],
        options.max_turns or defaults.max_turns,
        timeout,
        " · ".join(
            filter(None, (_UNASKED.format(_never_by(options, unasked)) if confirm == "never" else "", law.text))
        ),
        options.budget or _budget(defaults),
        options.human_timeout or defaults.human_timeout or None,
        asks=_asks(options, defaults),
        most=_parsed(law.budget, "your organisation's policy") if law.budget else None,
    )


def _budget(defaults: Defaults) -> str | None:
    """The sum that no option names, from the environment or the defaults."""
    for source, budget in (
        ("AUTOGEN_NB_BUDGET", os.environ.get("AUTOGEN_NB_BUDGET")),
        ("%config AutogenMagics.budget", defaults.budget),
    ):
        if budget:
            return _parsed(budget, source)
    return None


def _parsed(budget: str, source: str) -> str:
    # Not before one is named: the models come with it.
    from autogen_nb.models.wrappers.budget import Budget

    try:
        Budget.parse(budget)
    except ConfigError as error:
        raise ConfigError(f"{source}: {error}") from None
    return budget


def _asks(options: CellOptions, defaults: Defaults) -> bool | None:
    """Whether the model may ask the person; None where that depends on the model."""
    usual = {"on": True, "off": False}.get(defaults.ask_person)
    return usual if options.ask_person is None else options.ask_person


def _never_by(options: CellOptions, unasked: str | None) -> str:
    """What a person must change to be asked."""
    if unasked == "never":
        return "AUTOGEN_NB_CONFIRM=never"
    return "--confirm never" if options.confirm else "%config AutogenMagics.confirm"
