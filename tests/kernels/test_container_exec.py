import asyncio
import os
import socket
import struct
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from autogen_nb.kernels.places.container_exec import Exec


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
