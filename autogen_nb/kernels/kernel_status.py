"""The status of a kernel, and the decision about a block that does not stop."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from autogen_nb.kernels.limits.block_limits import Limits
from autogen_nb.kernels.transfer.variable_transfer import HandedVariable


@dataclass(frozen=True, slots=True)
class StuckBlock:
    variables: tuple[HandedVariable, ...] | None


StuckAnswer: TypeAlias = Literal["wait", "kill", "later"]
"""The decision about a block that does not stop; "later" if nobody can decide before the next cell."""
OnStuck: TypeAlias = Callable[[StuckBlock], Awaitable[StuckAnswer]]


@dataclass(frozen=True, slots=True)
class KernelStatus:
    """`seconds` and `blocks` count from the kernel's start. `memory` is in bytes, with child processes.

    `memory` is None if the kernel's processes are not visible on this machine.
    """

    state: Literal["off", "starting", "idle", "busy"]
    pid: int | None = None
    seconds: float = 0.0
    blocks: int = 0
    memory: int | None = None
    limits: Limits = field(default_factory=Limits)
