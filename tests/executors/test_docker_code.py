import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from autogen_nb.errors import ExecutionError
from autogen_nb.executors.command_line_code_executor import DockerCommandLineCodeExecutor
from autogen_nb.executors.jupyter_code_executor import DockerJupyterCodeExecutor, DockerJupyterServer
from autogen_nb.messages import CodeBlock
from tests.contract.conftest import engine
from tests.contract.ways import image

__all__ = ["engine"]

pytestmark = pytest.mark.places

NETWORK = CodeBlock("python", "import socket; print([name for _, name in socket.if_nameindex()])")
# Another run of these tests may use the same engine.
NAME = f"autogen-nb-test-{os.getpid()}"


@pytest.fixture
def named(engine: Any) -> Iterator[Callable[[], list[str]]]:
    def all_of_them() -> list[Any]:
        return list(engine.containers.list(all=True, ignore_removed=True, filters={"name": NAME}))

    yield lambda: [each.status for each in all_of_them()]
    for each in all_of_them():
        each.remove(force=True)


@pytest.mark.parametrize(
    ("settings", "left"),
    [({}, []), ({"auto_remove": False}, ["exited"]), ({"stop_container": False}, ["running"])],
    ids=["nothing", "ended", "running"],
)
def test_what_is_left(
    settings: dict[str, Any], left: list[str], named: Callable[[], list[str]], tmp_path: Path
) -> None:
    executor = DockerCommandLineCodeExecutor(image(), NAME, work_dir=tmp_path, timeout=3, **settings)
    with executor:
        found = executor.execute_code_blocks([CodeBlock("python", "open('made', 'w').close(); print(1)")])
        late = executor.execute_code_blocks([CodeBlock("sh", "sleep 60")])
        assert named() == ["running"]

    assert found.output == "1"
    assert late.exit_code == 124
    assert (tmp_path / "made").exists()
    assert named() == left


def test_an_image_that_cannot_be_had(engine: Any, tmp_path: Path) -> None:
    executor = DockerCommandLineCodeExecutor("localhost:1/not/there:1", work_dir=tmp_path)

    with pytest.raises(ExecutionError, match=r"docker pull localhost:1/not/there:1"):
        asyncio.run(executor.start())


@pytest.mark.parametrize("kind", ["command line", "jupyter"])
def test_no_network_unless_asked_for(kind: str, engine: Any, tmp_path: Path) -> None:
    def made(*, net: bool) -> DockerCommandLineCodeExecutor | DockerJupyterCodeExecutor:
        if kind == "jupyter":
            server = DockerJupyterServer(custom_image_name=image(), net=net)
            return DockerJupyterCodeExecutor(server, work_dir=tmp_path)
        return DockerCommandLineCodeExecutor(image(), work_dir=tmp_path, net=net)

    found = []
    for net in (False, True):
        with made(net=net) as executor:
            found.append(executor.execute_code_blocks([NETWORK]).output)

    assert found[0] == "['lo']"
    assert len(found[1]) > len(found[0])
