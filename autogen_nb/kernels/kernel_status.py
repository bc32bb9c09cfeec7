"""The status of a kernel."""

from dataclasses import dataclass, field
from typing import Literal

from autogen_nb.kernels.limits.block_limits import Limits


@dataclass(frozen=True, slots=True)
class KernelStatus:
    """`seconds` and `blocks` count from the kernel's start. `memory` is in bytes and includes child processes.

    `memory` is None if the kernel's processes are not visible on this machine.
    """

    state: Literal["off", "starting", "idle", "busy"]
    pid: int | None = None
    seconds: float = 0.0
    blocks: int = 0
    memory: int | None = None
    limits: Limits = field(default_factory=Limits)
