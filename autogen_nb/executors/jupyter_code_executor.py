"""The Jupyter executors with AutoGen's names: a kernel on this machine, on a server, or in a container."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.core.ports import Inquirer, RunEnded
from autogen_nb.effects import Permissions
from autogen_nb.executors.code_executor import OwnedExecutor, one_directory
from autogen_nb.executors.jupyter_executor import JupyterExecutor
from autogen_nb.executors.jupyter_servers import DockerJupyterServer, LocalJupyterServer, place_of
from autogen_nb.kernels.request import Ask
from autogen_nb.kernels.transfer.variable_transfer import Handed, HandedVariable
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Output
from autogen_nb.run import in_background

_PYTHON = "python3"


class JupyterCodeExecutor(OwnedExecutor):
    """Runs code in a Jupyter kernel of its own, which keeps its state from block to block.

    The other parameters are those of `OwnedExecutor`.

    Parameters
    ----------
    jupyter_server
        Where the kernel runs: a `JupyterConnectionInfo`, a `DockerJupyterServer`, a `LocalJupyterServer`; None is this
        machine.
    kernel_name
        The kernelspec; ``python3`` is this interpreter, or the server's.
    output_dir
        AgentChat's name for `work_dir`.
    environ
        The kernel's environment; None is what is harmless of this process's.
    """

    def __init__(
        self,
        jupyter_server: Any = None,
        kernel_name: str = _PYTHON,
        timeout: float = 60,
        output_dir: str | Path | None = None,
        *,
        work_dir: str | Path | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        # AgentChat's first parameter is the kernel's name.
        name = jupyter_server if isinstance(jupyter_server, str) else kernel_name
        server = LocalJupyterServer() if jupyter_server is None or name is jupyter_server else jupyter_server
        cwd = one_directory(work_dir=work_dir, output_dir=output_dir, **_own_directory(server))
        self._kernel = JupyterExecutor(cwd=cwd, place=place_of(server, cwd, name), environ=environ)
        super().__init__(self._kernel, timeout=timeout, work_dir=cwd)
        if hasattr(server, "holds"):
            server.holds(self)

    @property
    def pid(self) -> int | None:
        """The number of the kernel's process; None while there is none, or none of this machine."""
        return self._kernel.pid

    @property
    def ask(self) -> Ask | None:
        """Who answers `input()` in the code; without one, `input()` raises there."""
        return self._kernel.ask

    @ask.setter
    def ask(self, asked: Ask | None) -> None:
        self._kernel.ask = asked

    async def attended(
        self,
        blocks: Sequence[CodeBlock],
        inquirer: Inquirer | None,
        permissions: Permissions | None = None,
        scope: PathScope | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the code is interrupted, not this coroutine
    ) -> AsyncGenerator[Output | RunEnded]:
        """What `run` gives, with somebody there to ask; see `autogen_nb.core.ports.AttendedExecutor`."""
        run = self._kernel.attended(blocks, inquirer, permissions, scope, timeout)
        async with aclosing(self._told(run)) as items:
            async for item in items:
                yield item

    def put(self, values: Mapping[str, Any]) -> Any:
        """Binds copies of the values to their names in the kernel (`Kernel.put`); it may be awaited."""
        return in_background(self._put(values))

    def get(self, name: str) -> Any:
        """A copy of a variable's value, as data only (`Kernel.get`), when it is awaited."""
        return in_background(self._kernel.get(name))

    def variables(self) -> Any:
        """The variables that the agent's code made (`Kernel.variables`), when it is awaited."""
        return in_background(self._listed())

    async def _put(self, values: Mapping[str, Any]) -> Handed:
        return await self._kernel.put(values)

    async def _listed(self) -> tuple[HandedVariable, ...]:
        return await self._kernel.variables()


class EmbeddedIPythonCodeExecutor(JupyterCodeExecutor):
    """A `JupyterCodeExecutor` on this machine, by AutoGen 0.2's name and with its parameters in its order."""

    def __init__(
        self, timeout: float = 60, kernel_name: str = _PYTHON, output_dir: str | Path | None = None, **more: Any
    ) -> None:
        super().__init__(None, kernel_name, timeout, output_dir, **more)


class DockerJupyterCodeExecutor(JupyterCodeExecutor):
    """Runs code in a kernel in a container that sees the working directory alone, and no network unless asked for.

    The other parameters are those of `JupyterCodeExecutor`.

    Parameters
    ----------
    jupyter_server
        The container; None is that of `DockerJupyterServer()`.

    Raises
    ------
    ConfigError
        When there is no engine, or no Docker library; the message says what to do.
    """

    def __init__(self, jupyter_server: Any = None, **more: Any) -> None:
        super().__init__(jupyter_server or DockerJupyterServer(), **more)


def _own_directory(server: Any) -> dict[str, Path]:
    own = getattr(server, "work_dir", None)
    return {} if own is None else {"work_dir of the server": own}
