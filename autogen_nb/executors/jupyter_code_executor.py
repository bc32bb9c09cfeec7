"""The Jupyter executors with AutoGen's names: a kernel on this machine, on a server, or in a container."""

import hashlib
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import WeakSet

from autogen_nb.errors import ConfigError, ExecutionError
from autogen_nb.executors.code_executor import OwnedExecutor, OwnedResource, one_directory
from autogen_nb.executors.command_line_code_executor import container_settings
from autogen_nb.kernels.places.container import IMAGE, ContainerProvisioner, build_kernel_image, kernel_dockerfile
from autogen_nb.kernels.places.local import LOCAL
from autogen_nb.kernels.places.provisioner import Provisioner
from autogen_nb.run import in_background

_PYTHON = "python3"


@dataclass(eq=False)
class JupyterConnectionInfo:
    """The address of a running Jupyter Server or Gateway.

    Parameters
    ----------
    host
        The name or IP address.
    use_https
        True to connect by TLS.
    port
        The port; None means the default port of HTTP or HTTPS.
    token
        The authentication token.
    """

    host: str
    use_https: bool
    port: int | None = None
    token: str | None = field(default=None, repr=False)


class _ManagedServer(OwnedResource):
    """A server managed by this package; stopping it stops its executors."""

    def __init__(self) -> None:
        self.executors: WeakSet[OwnedExecutor] = WeakSet()

    def stop(self) -> Coroutine[Any, Any, None]:
        """Ends the kernels on the server; the result may be awaited."""
        return in_background(self._stop())

    async def _stop(self) -> None:
        for executor in list(self.executors):
            await executor.stop()


class LocalJupyterServer(_ManagedServer):
    """Kernels on this machine, without a server: no port is opened, and no token is needed."""


class DockerJupyterServer(_ManagedServer):
    """A container for a kernel, connected by sockets that only the kernel and this process see; no port is opened.

    `container_name`, `auto_remove`, `stop_container`, `bind_dir` and `net` are those of
    `DockerCommandLineCodeExecutor`.

    Parameters
    ----------
    custom_image_name
        An image with ipykernel. By default, an image is built from `base_image` at first use; the build may need
        the network.
    docker_env
        Environment variables for the container.
    work_dir
        The working directory; None means that of the executor.
    base_image
        An image with ``python3``, and with pip or ipykernel.
    expose_port, token
        Accepted for compatibility: no port is opened, and no token is needed.
    """

    DEFAULT_DOCKERFILE = kernel_dockerfile(IMAGE)

    def __init__(
        self,
        *,
        custom_image_name: str | None = None,
        docker_env: Mapping[str, str] | None = None,
        expose_port: int = 8888,  # noqa: ARG002  # for compatibility
        token: Any = None,  # noqa: ARG002  # for compatibility
        work_dir: str | Path | None = None,
        base_image: str = IMAGE,
        **container: Any,
    ) -> None:
        super().__init__()
        digest = hashlib.sha256(base_image.encode()).hexdigest()[:12]
        self.image = custom_image_name or f"autogen-nb-kernel:{digest}"
        self.base = None if custom_image_name else base_image
        self.work_dir = None if work_dir is None else Path(work_dir).absolute()
        self.settings = container_settings({"environment": docker_env}, **container)


class _KernelContainer(ContainerProvisioner):
    """A container that must have ipykernel; its image is built from `base`, unless `base` is None."""

    def __init__(self, base: str | None, **options: Any) -> None:
        super().__init__(**options)
        self._base = base

    async def why_no_kernel(self) -> str:
        """Returns "", or raises an error if the image has no ipykernel."""
        if await super().why_no_kernel():
            raise ExecutionError(
                f"the image {self.image!r} has no ipykernel: pass it as DockerJupyterServer(base_image=...), which "
                "installs ipykernel in a new image, or use DockerCommandLineCodeExecutor, which needs no ipykernel"
            )
        return ""

    def _make(self) -> tuple[Any, Any]:
        if self._base is not None:
            build_kernel_image(self._client, self.images[0], self._base)
        return super()._make()


def _provisioner_for(server: Any, cwd: Path, kernel: str) -> Provisioner:
    if isinstance(server, DockerJupyterServer):
        if kernel != _PYTHON:
            raise ConfigError(f"kernel_name is {kernel!r}; in a container it must be 'python3', the image's own Python")
        return _KernelContainer(server.base, cwd=cwd, images=[server.image], **server.settings)
    if isinstance(server, LocalJupyterServer):
        from autogen_nb.kernels.places.kernelspec import KernelspecProvisioner

        return LOCAL if kernel == _PYTHON else KernelspecProvisioner(kernel)
    info = getattr(server, "connection_info", server)
    if not hasattr(info, "host"):
        raise ConfigError(
            f"jupyter_server is {server!r}; it must be a JupyterConnectionInfo(host, use_https, port, token), "
            "a DockerJupyterServer() or a LocalJupyterServer()"
        )
    from autogen_nb.kernels.places.jupyter_server import JupyterServerProvisioner

    scheme, port = "https" if getattr(info, "use_https", False) else "http", getattr(info, "port", None)
    address = f"{scheme}://{info.host}{'' if port is None else f':{port}'}"
    return JupyterServerProvisioner(address, token=getattr(info, "token", None), spec=kernel)


class JupyterCodeExecutor(OwnedExecutor):
    """Runs code in its own Jupyter kernel, which keeps its state between blocks.

    The other parameters are those of `OwnedExecutor`.

    Parameters
    ----------
    jupyter_server
        Where the kernel runs: a `JupyterConnectionInfo`, `DockerJupyterServer` or `LocalJupyterServer`; None means this
        machine.
    kernel_name
        The name of the kernelspec; ``python3`` means this interpreter, or that of the server.
    output_dir
        AgentChat's name for `work_dir`.
    environ
        The kernel's environment; on this machine, None means the harmless variables of this process.
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
        provisioner = _provisioner_for(server, cwd, name)
        super().__init__(timeout=timeout, work_dir=cwd, provisioner=provisioner, environ=environ)
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
        If the container engine or the Docker library is missing; the message says what to do.
    """

    def __init__(self, jupyter_server: Any = None, **more: Any) -> None:
        super().__init__(jupyter_server or DockerJupyterServer(), **more)
