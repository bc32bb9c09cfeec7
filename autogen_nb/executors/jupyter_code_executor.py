"""The Jupyter executors with AutoGen's names: a kernel on this machine, on a server, or in a container."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autogen_nb.executors.code_executor import OwnedExecutor, one_directory
from autogen_nb.executors.jupyter_servers import DockerJupyterServer, LocalJupyterServer, place_of

_PYTHON = "python3"


class JupyterCodeExecutor(OwnedExecutor):
    """Runs code in its own Jupyter kernel, which keeps its state between blocks.

    The other parameters are those of `OwnedExecutor`.

    Parameters
    ----------
    jupyter_server
        Where the kernel runs: a `JupyterConnectionInfo`, `DockerJupyterServer` or `LocalJupyterServer`; None means this
        machine.
    kernel_name
        The kernelspec; ``python3`` means this interpreter, or the server's.
    output_dir
        AgentChat's name for `work_dir`.
    environ
        The kernel's environment; None uses the harmless variables of this process.
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
        # AgentChat passes the kernel's name as the first parameter.
        name = jupyter_server if isinstance(jupyter_server, str) else kernel_name
        server = LocalJupyterServer() if jupyter_server is None or name is jupyter_server else jupyter_server
        server_directory = {"work_dir of the server": getattr(server, "work_dir", None)}
        cwd = one_directory(work_dir=work_dir, output_dir=output_dir, **server_directory)
        super().__init__(timeout=timeout, work_dir=cwd, place=place_of(server, cwd, name), environ=environ)
        if hasattr(server, "executors"):
            server.executors.add(self)


class EmbeddedIPythonCodeExecutor(JupyterCodeExecutor):
    """A `JupyterCodeExecutor` on this machine, with AutoGen 0.2's name and order of parameters."""

    def __init__(
        self, timeout: float = 60, kernel_name: str = _PYTHON, output_dir: str | Path | None = None, **more: Any
    ) -> None:
        super().__init__(None, kernel_name, timeout, output_dir, **more)


class DockerJupyterCodeExecutor(JupyterCodeExecutor):
    """Runs code in a kernel in a container that sees only the working directory, by default without a network.

    The other parameters are those of `JupyterCodeExecutor`.

    Parameters
    ----------
    jupyter_server
        The container; None uses `DockerJupyterServer()`.

    Raises
    ------
    ConfigError
        If the engine or the Docker library is missing; the message says what to do.
    """

    def __init__(self, jupyter_server: Any = None, **more: Any) -> None:
        super().__init__(jupyter_server or DockerJupyterServer(), **more)
