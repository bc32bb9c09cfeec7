"""Every way to run code, made ready for tests that do not care which it is."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, ExitStack, aclosing, closing, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

import pytest

from autogen_nb.core.ports import Executor, RunEnded
from autogen_nb.engine import engine, stream_items
from autogen_nb.errors import ConfigError
from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.executors.command_line_code_executor import DockerCommandLineCodeExecutor, LocalCommandLineCodeExecutor
from autogen_nb.executors.jupyter_code_executor import (
    DockerJupyterCodeExecutor,
    DockerJupyterServer,
    JupyterCodeExecutor,
)
from autogen_nb.kernels.limits.block_limits import Limits
from autogen_nb.kernels.places.bubblewrap import BubblewrapProvisioner
from autogen_nb.kernels.places.container import ContainerProvisioner, connect_engine
from autogen_nb.kernels.places.jupyter_server import JupyterServerProvisioner
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Failure, Output, Result, Stream
from tests.contract.servers import App, serving
from tests.kernels.looping import Loop, all_of

T = TypeVar("T")
GRACE = 3.0
LIMITS = Limits.of({"output": "2 MB", "memory": "600 MB", "processes": 150})
IMAGE = "AGENT_IMAGE"
"""The variable that names an image with a kernel; `scripts/containers.sh` sets it."""


class Cannot(Exception):
    """A way that this machine does not have what it needs for; the message says what."""


class OnTheEngine:
    def run(self, work: Coroutine[Any, Any, T], seconds: float = 60) -> T:
        return engine.submit(work).result(seconds)

    def close(self) -> None:
        """The engine goes on."""


class Runs(Executor, Protocol):
    timeout: float | None

    async def interrupt(self) -> None:
        """Interrupts the block that runs."""


class Agent:
    """An executor with a loop to run it on."""

    def __init__(self, loop: Loop | OnTheEngine, executor: Runs, folder: Path) -> None:
        self.loop = loop
        self.executor = executor
        self.folder = folder

    def run(self, *blocks: tuple[str, str], timeout: float | None = None) -> "Ran":
        self.executor.timeout = timeout
        return self._ran(self.executor.run([CodeBlock(*block) for block in blocks]))

    def python(self, code: str, timeout: float | None = None) -> "Ran":
        return self.run(("python", code), timeout=timeout)

    def answered(self, code: str, answers: dict[str, str]) -> "Ran":
        self.executor.timeout = None
        attended = cast("Any", self.executor).attended
        return self._ran(stream_items(lambda emit: attended([CodeBlock("python", code)], emit, Answers(answers))))

    def given_up(self, language: str, code: str) -> None:
        async def close() -> None:
            async with aclosing(self._begun(language, code)) as items:
                await anext(items)

        self.executor.timeout = None
        self.loop.run(close())

    def interrupted(self, language: str, code: str) -> "Ran":
        async def interrupt() -> list[Output | RunEnded]:
            found: list[Output | RunEnded] = []
            async with aclosing(self._begun(language, code)) as items:
                # `print` writes a line and its end one after the other.
                while not any("\n" in item.text for item in found if isinstance(item, Stream)):
                    found.append(await anext(items))
                await self.executor.interrupt()
                return [*found, *[item async for item in items]]

        self.executor.timeout = None
        return Ran(self.loop.run(interrupt()))

    def _ran(self, items: Any) -> "Ran":
        return Ran(self.loop.run(all_of(items), 120))

    def _begun(self, language: str, code: str) -> Any:
        return self.executor.run([CodeBlock(language, code)])


class Ran:
    def __init__(self, items: list[Output | RunEnded]) -> None:
        last = items[-1]
        assert isinstance(last, RunEnded)
        self.exit_code = last.exit_code
        self.ran = last.ran
        self.note = last.note
        self.outputs = [item for item in items[:-1] if not isinstance(item, RunEnded)]

    @property
    def text(self) -> str:
        return "".join(_text(item) for item in self.outputs)


def _text(item: Output) -> str:
    match item:
        case Stream():
            return item.text
        case Failure():
            return f"{item.ename}: {item.evalue}\n"
        case Result():
            return f"{item.data.get('text/plain', '')}\n"
    return ""


def ran(executor: Executor, *blocks: tuple[str, str]) -> Ran:
    """Runs the blocks, and stops the executor."""

    async def items() -> list[Output | RunEnded]:
        try:
            return await all_of(executor.run([CodeBlock(*block) for block in blocks]))
        finally:
            await executor.stop()

    return Ran(asyncio.run(items()))


@dataclass(frozen=True)
class Way:
    """How an executor for a folder is made, and where that is seen."""

    name: str
    make: Callable[[Path, ExitStack], tuple[Any, Path]]
    keeps: bool = True
    limited: bool = True
    watched: bool = True
    marks: tuple[Any, ...] = ()
    loop: Callable[[], Loop | OnTheEngine] = Loop


def plain(make: Callable[[Path], Any]) -> Callable[[Path, ExitStack], tuple[Any, Path]]:
    return lambda folder, _: (make(folder), folder)


def _on_server(app: App) -> Callable[[Path, ExitStack], tuple[BlockExecutor, Path]]:
    def make(folder: Path, stack: ExitStack) -> tuple[BlockExecutor, Path]:
        server = stack.enter_context(serving(app, folder))
        place = JupyterServerProvisioner(server.url, token=server.token)
        return BlockExecutor(cwd=folder / "nowhere", grace=GRACE, limits=LIMITS, provisioner=place), server.root

    return make


def _container(folder: Path) -> ContainerProvisioner:
    return ContainerProvisioner(cwd=folder, images=[image()], limits=LIMITS)


def image() -> str:
    name = os.environ.get(IMAGE)
    if name is None:
        raise Cannot(os.environ.get("NO_ENGINE", f"{IMAGE} names no image (`make places` brings engine and image)"))
    try:
        with closing(connect_engine()) as client:
            client.images.get(name)
    except (ConfigError, import_module("docker.errors").ImageNotFound) as error:
        raise Cannot(f"docker: {error}") from error
    return name


def skip_without_counters() -> None:
    if not Path("/sys/fs/cgroup/cgroup.controllers").exists():
        pytest.skip("cgroup version 1 does not say which limit of a container ended the code (docs/not-defended.md)")


def _bubblewrap() -> BubblewrapProvisioner:
    try:
        return BubblewrapProvisioner()
    except ConfigError as error:
        raise Cannot(str(error)) from error


_LIMITED: dict[str, Any] = {"grace": GRACE, "limits": LIMITS}
_CODE: dict[str, Any] = {"limited": False, "loop": OnTheEngine}
_PLACES: dict[str, Any] = {"marks": (pytest.mark.places,)}

WAYS = (
    Way("kernel", plain(lambda folder: BlockExecutor(cwd=folder, **_LIMITED))),
    Way("kernel-bwrap", plain(lambda folder: BlockExecutor(cwd=folder, provisioner=_bubblewrap(), **_LIMITED))),
    Way("command-line", plain(lambda folder: BlockExecutor(in_kernel=False, cwd=folder, **_LIMITED)), keeps=False),
    Way(
        "command-line-bwrap",
        plain(lambda folder: BlockExecutor(in_kernel=False, cwd=folder, provisioner=_bubblewrap(), **_LIMITED)),
        keeps=False,
    ),
    Way("code-local", plain(lambda folder: LocalCommandLineCodeExecutor(work_dir=folder)), keeps=False, **_CODE),
    Way("code-jupyter", plain(lambda folder: JupyterCodeExecutor(work_dir=folder)), **_CODE),
    Way(
        "kernel-docker",
        plain(lambda folder: BlockExecutor(cwd=folder, provisioner=_container(folder), **_LIMITED)),
        **_PLACES,
    ),
    Way(
        "command-line-docker",
        plain(
            lambda folder: BlockExecutor(
                in_kernel=False, cwd=folder, environ={}, provisioner=_container(folder), **_LIMITED
            )
        ),
        keeps=False,
        **_PLACES,
    ),
    Way(
        "code-docker",
        plain(lambda folder: DockerCommandLineCodeExecutor(image(), work_dir=folder)),
        keeps=False,
        **_CODE,
        **_PLACES,
    ),
    Way(
        "code-docker-jupyter",
        plain(
            lambda folder: DockerJupyterCodeExecutor(DockerJupyterServer(custom_image_name=image()), work_dir=folder)
        ),
        **_CODE,
        **_PLACES,
    ),
    Way("kernel-on-server", _on_server("server"), watched=False, **_PLACES),
    Way("kernel-on-gateway", _on_server("gateway"), watched=False, **_PLACES),
)


@contextmanager
def running(way: Way, folder: Path) -> Iterator[Agent]:
    loop = way.loop()
    try:
        with ExitStack() as stack:
            executor, seen = way.make(folder, stack)
            yield Agent(loop, executor, seen)
            loop.run(executor.stop())
    finally:
        loop.close()


def kernel(folder: Path, **options: Any) -> AbstractContextManager[Agent]:
    """An agent whose kernel no other test uses."""
    return running(Way("own", plain(lambda cwd: BlockExecutor(cwd=cwd, **options))), folder)


class Answers:
    """An inquirer that types what a person would."""

    def __init__(self, answers: dict[str, str]) -> None:
        self._answers = answers

    async def typed(self, prompt: str, password: bool) -> str:
        return self._answers[prompt]
