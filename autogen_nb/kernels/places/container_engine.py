"""Connects to Docker or Podman, and finds or builds images."""

import io
import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from autogen_nb.errors import ConfigError, ExecutionError

_ADVICE = (
    "start one (Docker Desktop, `systemctl start docker`, `podman system service`), or set DOCKER_HOST to its address"
)


def engine_error() -> type[Exception]:
    error: type[Exception] = import_module("docker.errors").DockerException
    return error


def connect_engine() -> Any:
    try:
        docker = import_module("docker")
    except ImportError as error:
        raise ConfigError(
            "a container needs the Docker library for Python, which is not installed: `pip install autogen-nb[docker]`"
        ) from error
    address = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock" if os.name == "posix" else "")
    socket = address.removeprefix("unix://")
    try:
        # Without this file, `docker.from_env` leaves a socket open.
        if socket != address and not Path(socket).exists():
            raise FileNotFoundError(f"there is no {socket}")  # noqa: TRY301 - reported below, like other errors
        client = docker.from_env()
        client.ping()
    # docker does not wrap the exceptions of `requests`.
    except Exception as error:
        raise ConfigError(
            f"no container engine answers ({error}): {_ADVICE}, or run code without a container (use_docker=False)"
        ) from error
    return client


def find_image(client: Any, names: Sequence[str]) -> str:
    errors = import_module("docker.errors")
    reasons = []
    for name in names:
        try:
            try:
                client.images.get(name)
            except errors.ImageNotFound:
                client.images.pull(name)
        except errors.DockerException as error:
            reasons.append(f"{name!r}: {error}")
        else:
            return name
    raise ExecutionError(
        f"no image is available ({'; '.join(reasons)}): get one by `docker pull {names[0]}` or `docker build -t NAME .`"
        ", and pass its name as use_docker='NAME'"
    )


def kernel_dockerfile(base: str) -> str:
    return f"FROM {base}\nRUN python3 -c 'import ipykernel' || python3 -m pip install --no-cache-dir ipykernel\n"


def build_kernel_image(client: Any, name: str, base: str) -> None:
    """Builds the image `name` from `base` and ipykernel, unless `name` exists."""
    errors = import_module("docker.errors")
    try:
        try:
            client.images.get(name)
        except errors.ImageNotFound:
            client.images.build(fileobj=io.BytesIO(kernel_dockerfile(base).encode()), tag=name, rm=True)
    except errors.DockerException as error:
        raise ExecutionError(
            f"no image with ipykernel can be built from {base!r} ({error}): build one where the network is available, "
            "and pass its name as DockerJupyterServer(custom_image_name=...)"
        ) from error
