import asyncio
import json
from collections.abc import Iterator
from contextlib import aclosing

import pytest

from autogen_nb.core.ports import RunEnded
from autogen_nb.errors import ExecutionError
from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.kernels.places.jupyter_server import JupyterServerProvisioner, WebSocketChannels
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Output, Stream
from tests.contract.servers import Serving, Wire, serving
from tests.contract.ways import Ran, ran
from tests.kernels.looping import all_of

pytestmark = pytest.mark.places


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving("server", tmp_path_factory.mktemp("server")) as found:
        yield found


@pytest.fixture
def wire(server: Serving) -> Iterator[Wire]:
    made = Wire(int(server.url.rpartition(":")[2]))
    yield made
    made.close()


def test_a_run_outlives_a_cut_connection(server: Serving, wire: Wire) -> None:
    code = "import time\nprint('on', flush=True)\nfor i in range(20):\n    time.sleep(0.1)\n    print(i)\ndone = True"

    async def main() -> tuple[list[Output | RunEnded], list[Output | RunEnded]]:
        place = JupyterServerProvisioner(f"http://127.0.0.1:{wire.port}", token=server.token)
        executor = BlockExecutor(provisioner=place)
        found: list[Output | RunEnded] = []
        async with aclosing(executor.run([CodeBlock("python", code)])) as items:
            async for item in items:
                found.append(item)
                if item == Stream("stdout", "on\n"):
                    wire.cut()
        after = await all_of(executor.run([CodeBlock("python", "print(done)")]))
        await executor.stop()
        return found, after

    found, after = asyncio.run(main())

    assert Ran(found).text == "on\n" + "".join(f"{number}\n" for number in range(20))
    assert Ran(found).exit_code == 0
    assert Ran(after).text == "True\n"


def test_a_server_that_is_gone_is_a_lost_kernel(server: Serving, wire: Wire) -> None:
    code = "import time\nprint('on', flush=True)\ntime.sleep(99)"

    async def main() -> None:
        place = JupyterServerProvisioner(f"http://127.0.0.1:{wire.port}", token=server.token, patience=0.5)
        executor = BlockExecutor(provisioner=place)
        async with aclosing(executor.run([CodeBlock("python", code)])) as items:
            assert await anext(items) == Stream("stdout", "on\n")
            wire.close()
            with pytest.raises(ExecutionError, match="cannot be reached"):
                await anext(items)
        await executor.stop()

    asyncio.run(main())


async def _no_headers() -> dict[str, str]:
    return {}


def test_a_token_comes_from_the_environment(server: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGEN_NB_KERNEL_TOKEN", server.token)

    assert ran(BlockExecutor(provisioner=JupyterServerProvisioner(server.url)), ("python", "print(1)")).text == "1\n"


def test_a_server_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ExecutionError, match=r"http://127\.0\.0\.1:9 cannot be reached"):
        ran(BlockExecutor(provisioner=JupyterServerProvisioner("http://127.0.0.1:9")), ("python", "1"))


def test_nothing_is_left_on_the_server(server: Serving) -> None:
    async def main() -> tuple[bytes, bytes]:
        place = JupyterServerProvisioner(server.url, token=server.token)
        before = await place.ask("GET", "/api/kernels")
        executor = BlockExecutor(provisioner=place)
        await all_of(executor.run([CodeBlock("python", "import os; os._exit(1)")]))
        await executor.stop()
        return before, await place.ask("GET", "/api/kernels")

    before, after = (json.loads(text) for text in asyncio.run(main()))

    assert [kernel["id"] for kernel in after] == [kernel["id"] for kernel in before]


def test_requests_hold_text_and_no_user_name() -> None:
    async def main() -> list[str]:
        channels = WebSocketChannels("ws://127.0.0.1:1/channels", _no_headers, patience=1)
        channels.send("shell", "execute_request", {"code": "\ud83d \udc80"})
        return [str(text) for _, _, text in channels._unsent]

    (text,) = asyncio.run(main())
    message = json.loads(text.encode().decode())
    assert message["content"]["code"] == "\ud83d \udc80"
    assert message["header"]["username"] == "autogen_nb"
