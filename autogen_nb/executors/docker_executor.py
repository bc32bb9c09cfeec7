"""Runs code blocks in a container: in a kernel where the image has one, by command line where it has none."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.core.ports import Inquirer, RunEnded
from autogen_nb.effects import Permissions
from autogen_nb.errors import ConfigError, ExecutionError, TransferError
from autogen_nb.executors.block_runs import make
from autogen_nb.executors.command_line_executor import CommandLineExecutor
from autogen_nb.executors.jupyter_executor import JupyterExecutor
from autogen_nb.kernels.kernel_status import KernelStatus, OnStuck
from autogen_nb.kernels.limits.block_limits import Limits
from autogen_nb.kernels.places.container import IMAGE, ContainerPlace
from autogen_nb.kernels.places.environment import scrubbed
from autogen_nb.kernels.request import Ask
from autogen_nb.kernels.transfer.variable_transfer import LIMIT, Handed, HandedVariable
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Output

_NO_KERNEL = (
    "The image {image!r} has no ipykernel that could be used, so each block runs as a program of its own, "
    "and no variables are kept between blocks."
)


class DockerExecutor:
    """Runs blocks in a container that starts at first use; an `autogen_nb.core.ports.Executor`.

    Parameters
    ----------
    cwd
        The directory that code runs in, shared with the container; it is made, with its parents, if it is not there.
    images
        Names of images; the first that is here or can be pulled is taken.
    timeout
        Seconds for one block, from its start to idle; None waits for ever.
    ask
        Answers `input()` in the code, where the image has a kernel; without it, `input()` raises there.
    environ
        Variables for the code, beside the container's own and the locale.
    grace
        Seconds that code has to yield to an interrupt before it is killed.
    net
        Whether the code may use the network.
    limits
        What the code may use at most: memory and processes by the engine, for all in the container, output for each
        block; None is the usual limits, as far as the engine can keep them.

    Raises
    ------
    ConfigError
        When there is no engine, no Docker library, or a limit that a container cannot keep; the message says what
        to do.
    """

    walls = "docker"

    def __init__(
        self,
        *,
        cwd: str | Path = ".",
        images: Sequence[str] = (IMAGE,),
        timeout: float | None = None,
        ask: Ask | None = None,
        environ: Mapping[str, str] | None = None,
        grace: float = 5.0,
        net: bool = False,
        limits: Limits | None = None,
    ) -> None:
        if limits is not None and limits.cpu is not None:
            raise ConfigError("limits['cpu'] cannot be kept in a container: leave it out, or use timeout=")
        self.cwd = Path(cwd).absolute()
        self.timeout = timeout
        self.ask = ask
        self._place = ContainerPlace(cwd=self.cwd, images=images, net=net, limits=limits)
        self._limits = limits
        self._environ = scrubbed({}) if environ is None else environ
        self._grace = grace
        self._inner: JupyterExecutor | CommandLineExecutor | None = None
        self._told = False
        self._pending = ""
        self.on_stuck: OnStuck | None = None
        self.admit: Callable[[], None] | None = None

    @property
    def _held(self) -> JupyterExecutor | None:
        return self._inner if isinstance(self._inner, JupyterExecutor) else None

    @property
    def alive(self) -> bool:
        """Whether the kernel in the container runs."""
        return self._held is not None and self._held.alive

    @property
    def busy(self) -> bool:
        """Whether code runs in that kernel."""
        return self._held is not None and self._held.busy

    @property
    def pid(self) -> int | None:
        """None: its processes have numbers of their own."""
        return None

    @property
    def status(self) -> KernelStatus:
        """How that kernel is; one that is off where the image has none."""
        return KernelStatus("off") if self._held is None else self._held.status

    async def start(self) -> None:
        """Starts the container, and the kernel where the image has one.

        Raises
        ------
        ExecutionError
            When no image can be had, or the container or the kernel does not start.
        """
        inner = await self._chosen()
        if isinstance(inner, JupyterExecutor):
            await inner.start()

    async def run(self, blocks: Sequence[CodeBlock]) -> AsyncGenerator[Output | RunEnded]:
        """Outputs as they come, then exactly one `RunEnded`; blocks after a failed one do not run.

        Raises
        ------
        ExecutionError
            When no image can be had, or the container or the kernel does not start.
        """
        async with aclosing(self.attended(blocks, None)) as items:
            async for item in items:
                yield item

    async def attended(
        self,
        blocks: Sequence[CodeBlock],
        inquirer: Inquirer | None,
        permissions: Permissions | None = None,
        scope: PathScope | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the code is interrupted, not this coroutine
    ) -> AsyncGenerator[Output | RunEnded]:
        """What `run` gives, with somebody to ask where the image has a kernel (`JupyterExecutor.attended`)."""
        inner = await self._chosen()
        seconds = self.timeout if timeout is None else timeout
        if isinstance(inner, JupyterExecutor):
            inner.ask = self.ask
            run = inner.attended(blocks, inquirer, permissions, scope, seconds)
        else:
            run = inner.run(blocks, seconds)
        async with aclosing(run) as items:
            async for item in items:
                yield self._with_note(item) if isinstance(item, RunEnded) else item

    async def restart(self) -> None:
        """Ends the kernel in the container, whatever it does, and starts a fresh one.

        Raises
        ------
        ExecutionError
            When the image has no kernel, or it does not start.
        """
        inner = await self._chosen()
        if not isinstance(inner, JupyterExecutor):
            raise ExecutionError(f"the image {self._place.image!r} has no kernel that could be restarted")
        await inner.restart()

    async def stop(self, told: str = "") -> None:
        """Ends the container and all in it; it may be called twice, and a later use starts a new one.

        `told` is what the next block is told of it.
        """
        self._pending = told
        inner, self._inner = self._inner, None
        if inner is not None:
            await inner.stop()
        await self._place.close()

    async def interrupt(self) -> None:
        """Interrupts the block that runs, if any."""
        if self._inner is not None:
            await self._inner.interrupt()

    async def put(self, values: Mapping[str, Any], *, limit: float = LIMIT) -> Handed:
        """Binds copies of the values to their names in the kernel (`Kernel.put`)."""
        return await (await self._kernel()).put(values, limit=limit)

    async def get(self, name: str, *, unpickle: bool = False) -> Any:
        """A copy of a variable's value, as data only unless `unpickle` says otherwise (`Kernel.get`)."""
        return await (await self._kernel()).get(name, unpickle=unpickle)

    async def variables(self) -> tuple[HandedVariable, ...]:
        """The variables that the agent's code made (`Kernel.variables`)."""
        return await (await self._kernel()).variables()

    async def _kernel(self) -> JupyterExecutor:
        inner = await self._chosen()
        if not isinstance(inner, JupyterExecutor):
            raise TransferError(f"the image {self._place.image!r} has no kernel that could hold variables")
        return inner

    async def _chosen(self) -> JupyterExecutor | CommandLineExecutor:
        make(self.cwd)
        if self._inner is None:
            kind = JupyterExecutor if await self._place.has_kernel() else CommandLineExecutor
            self._inner = kind(
                cwd=self.cwd, environ=self._environ, grace=self._grace, place=self._place, limits=self._limits
            )
        if isinstance(self._inner, JupyterExecutor):
            self._inner.on_stuck, self._inner.admit = self.on_stuck, self.admit
        return self._inner

    def _with_note(self, end: RunEnded) -> RunEnded:
        notes, self._pending = [self._pending, end.note], ""
        if not self._told and self._held is None:
            self._told = True
            notes.append(_NO_KERNEL.format(image=self._place.image))
        return RunEnded(end.exit_code, end.ran, " ".join(filter(None, notes)))
