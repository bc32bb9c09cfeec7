"""The Jupyter executors with AutoGen's names: a kernel on this machine, on a server, or in a container."""

from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any

from autogen_nb.executors.code_executor import OwnedExecutor, one_directory
from autogen_nb.executors.jupyter_executor import JupyterExecutor
from autogen_nb.executors.jupyter_servers import DockerJupyterServer, LocalJupyterServer, place_of
from autogen_nb.kernels.transfer.variable_transfer import LIMIT, Handed, HandedVariable
from autogen_nb.run import in_background

_PYTHON = "python3"


class JupyterCodeExecutor(OwnedExecutor, JupyterExecutor):
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
        own = {"work_dir of the server": getattr(server, "work_dir", None)}
        cwd = one_directory(work_dir=work_dir, output_dir=output_dir, **own)
        super().__init__(timeout=timeout, work_dir=cwd, place=place_of(server, cwd, name), environ=environ)
        if hasattr(server, "holds"):
            server.holds(self)

    def put(self, values: Mapping[str, Any], *, limit: float = LIMIT) -> Coroutine[Any, Any, Handed]:
        """Binds copies of the values to their names in the kernel (`Kernel.put`); it may be awaited."""
        return in_background(super().put(values, limit=limit))

    def get(self, name: str, *, unpickle: bool = False) -> Coroutine[Any, Any, Any]:
        """A copy of a variable's value, as data only (`Kernel.get`), when it is awaited."""
        return in_background(super().get(name, unpickle=unpickle))

    def variables(self) -> Coroutine[Any, Any, tuple[HandedVariable, ...]]:
        """The variables that the agent's code made (`Kernel.variables`), when it is awaited."""
        return in_background(super().variables())


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
