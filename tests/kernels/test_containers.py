import asyncio
import os
import select
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from autogen_nb.errors import ConfigError
from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.kernels.limits.block_limits import Limits
from autogen_nb.kernels.places.container import IMAGE as USUAL
from autogen_nb.kernels.places.container import ContainerProvisioner, Exec, _forward, _portable
from autogen_nb.messages import CodeBlock
from tests.contract.conftest import engine
from tests.contract.ways import IMAGE, Ran, ran, skip_without_counters
from tests.kernels.looping import all_of
from tests.processes import waited

__all__ = ["engine"]

places = pytest.mark.places


def contained(folder: Path, *images: str, limits: Limits | None = None) -> BlockExecutor:
    place = ContainerProvisioner(cwd=folder, images=images or (USUAL,), limits=limits)
    return BlockExecutor(cwd=folder, provisioner=place, limits=limits)


def test_without_an_engine_there_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")

    with pytest.raises(ConfigError, match=r"no container engine answers .* set DOCKER_HOST .*use_docker=False"):
        contained(tmp_path)


def test_processor_time_is_no_limit_of_a_container(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"limits\['cpu'\] is not supported in a container"):
        contained(tmp_path, limits=Limits(cpu=3))


def test_this_machines_paths_stay_here() -> None:
    environ = {"PATH": "/x", "VIRTUAL_ENV": "/y", "LANG": "C.UTF-8", "ASKED_FOR": "1"}

    assert _portable(environ) == {"LANG": "C.UTF-8", "ASKED_FOR": "1", "HOME": "/tmp"}


class TestForReal:
    pytestmark = places

    def test_there_is_no_network_and_no_home(self, engine: Any, tmp_path: Path) -> None:
        code = f"import os, socket\nprint(os.path.exists({str(Path(__file__))!r}), socket.if_nameindex())"

        assert ran(contained(tmp_path, os.environ[IMAGE]), ("python", code)).text == "False [(1, 'lo')]\n"

    def test_a_crash_loses_only_the_block(self, engine: Any, tmp_path: Path) -> None:
        place = ContainerProvisioner(cwd=tmp_path, images=[os.environ[IMAGE]])
        kernel = BlockExecutor(cwd=tmp_path, provisioner=place, checkpoints=True)
        blocks = ("x = [1]\nnumbers = iter(range(9))", "x.append(next(numbers))\nimport os\nos._exit(1)")

        async def crash() -> list[Any]:
            try:
                for code in blocks:
                    *_, last = [item async for item in kernel.run([CodeBlock("python", code)])]
                after = [item async for item in kernel.run([CodeBlock("python", "print(x, next(numbers))")])]
                return [last, *after]
            finally:
                await kernel.stop()

        last, printed, _ = asyncio.run(crash())
        assert last.note.endswith("its variables are as they were before the block.")
        assert printed.text == "[1] 0\n"

    def test_the_container_ends_with_the_process(self, engine: Any, tmp_path: Path) -> None:
        program = (
            "import asyncio, os, signal, sys\n"
            "from pathlib import Path\n"
            "from autogen_nb.executors.block_executor import BlockExecutor\n"
            "from autogen_nb.kernels.places.container import ContainerProvisioner\n"
            "async def main():\n"
            f"    place = ContainerProvisioner(cwd=Path({str(tmp_path)!r}), images=[{os.environ[IMAGE]!r}])\n"
            f"    executor = BlockExecutor(cwd={str(tmp_path)!r}, provisioner=place)\n"
            "    await executor.start()\n"
            "    print(executor._provisioner._container.id, flush=True)\n"
            "    os.kill(os.getpid(), signal.SIGKILL)\n"
            "asyncio.run(main())\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, timeout=120, check=False
        )
        identifier = done.stdout.strip()

        assert identifier
        assert waited(lambda: not any(one.id == identifier for one in engine.containers.list()))

    @pytest.mark.parametrize(
        ("language", "code", "told"),
        [
            ("python", "x = b'x' * 900_000_000", "memory limit of 300 MB"),
            ("sh", "python3 -c \"x = b'x' * 900_000_000\"", "memory limit of 300 MB"),
            ("python", "import subprocess\nc = [subprocess.Popen(['sleep', '9']) for _ in range(99)]", "limit of 70"),
        ],
        ids=["memory", "memory in a shell block", "processes"],
    )
    def test_the_engine_keeps_the_limits(
        self, engine: Any, tmp_path: Path, language: str, code: str, told: str
    ) -> None:
        skip_without_counters()
        limits = Limits(memory=300 * 10**6, processes=70)
        executor = contained(tmp_path, os.environ[IMAGE], limits=limits)

        async def main() -> list[Ran]:
            try:
                blocks = [CodeBlock("python", "print(1)"), CodeBlock(language, code), CodeBlock("python", "print(2)")]
                return [Ran(await all_of(executor.run([block]))) for block in blocks]
            finally:
                await executor.stop()

        before, beyond, after = asyncio.run(main())

        assert (before.text, after.text) == ("1\n", "2\n")
        assert beyond.exit_code == 137
        assert told in beyond.note


class Sealed:
    def __init__(self, under: socket.socket) -> None:
        self._under = under
        self._held = b""

    def fileno(self) -> int:
        return self._under.fileno()

    def recv(self, size: int) -> bytes:
        self._held = self._held or self._under.recv(2**14)
        given, self._held = self._held[:size], self._held[size:]
        return given


def test_output_streams_over_tls() -> None:
    ours, engines = socket.socketpair()
    reading, writing = os.pipe()
    passing = threading.Thread(target=_forward, args=(Sealed(ours), writing, lambda: True), daemon=True)
    passing.start()

    engines.sendall(struct.pack(">BxxxL", 1, 3) + b"one")
    assert select.select([reading], [], [], 5)[0]
    assert os.read(reading, 100) == b"one"
    engines.sendall(struct.pack(">BxxxL", 1, 0) + struct.pack(">BxxxL", 2, 3)[:6])
    engines.sendall(struct.pack(">BxxxL", 2, 3)[6:] + b"two")
    assert os.read(reading, 100) == b"two"
    engines.close()
    passing.join(5)
    assert not passing.is_alive()
    ours.close()
    for end in (reading, writing):
        os.close(end)


class LateEngine:
    def __init__(self) -> None:
        self.inspected = 0
        self.ours, self._theirs = socket.socketpair()
        self._number: Path | None = None

    def exec_create(self, _container: str, command: list[str], **_: Any) -> dict[str, str]:
        self._number = Path(command[3])
        return {"Id": "exec"}

    def exec_start(self, _id: str, **_: Any) -> socket.socket:
        return self._theirs

    def exec_inspect(self, _id: str) -> dict[str, Any]:
        self.inspected += 1
        if self.inspected == 2:
            threading.Thread(target=self._run).start()
        return {"Running": False, "ExitCode": 3 if self._number and self._number.exists() else 0}

    def _run(self) -> None:
        assert self._number is not None
        self._number.write_text("7")
        self.ours.sendall(struct.pack(">BxxxL", 1, 2) + b"1\n")


@pytest.mark.skipif(os.name != "posix", reason="elsewhere there are no such sockets")
def test_a_program_that_begins_late_has_its_output_and_exit_code(tmp_path: Path) -> None:
    engine = LateEngine()
    container = SimpleNamespace(id="container", client=SimpleNamespace(api=engine))

    async def reached_limit() -> str:
        return ""

    async def main() -> tuple[bytes, int]:
        program = Exec(container, None, tmp_path, reached_limit)
        await program.begin(["python", "-c", "print(1)"], tmp_path, {})
        async with asyncio.timeout(30):
            code = await program.exited
        output = os.read(program.pipe, 100)
        os.close(program.pipe)
        return output, code

    assert asyncio.run(main()) == (b"1\n", 3)
    engine.ours.close()
