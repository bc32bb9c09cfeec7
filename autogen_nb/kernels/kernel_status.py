"""What a kernel says of itself to a person."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from autogen_nb.kernels.limits.block_limits import Limits
from autogen_nb.kernels.transfer.variable_transfer import HandedVariable


@dataclass(frozen=True, slots=True)
class StuckBlock:
    """Code that did not yield to a person's interrupt."""

    variables: tuple[HandedVariable, ...] | None


StuckAnswer: TypeAlias = Literal["wait", "kill", "later"]
"""What becomes of such code: "later" says that nobody can be asked before the next cell."""
OnStuck: TypeAlias = Callable[[StuckBlock], Awaitable[StuckAnswer]]


@dataclass(frozen=True, slots=True)
class KernelStatus:
    """How a kernel is: `seconds` since its start, `blocks` it ran, `memory` in bytes with all that it started.

    `memory` is None where its processes are not on this machine, and so cannot be measured.
    """

    state: Literal["off", "starting", "idle", "busy"]
    pid: int | None = None
    seconds: float = 0.0
    blocks: int = 0
    memory: int | None = None
    limits: Limits = field(default_factory=Limits)
