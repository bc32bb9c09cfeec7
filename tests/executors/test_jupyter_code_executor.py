import asyncio
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest

from autogen_nb.executors.jupyter_code_executor import JupyterCodeExecutor, JupyterConnectionInfo, LocalJupyterServer
from autogen_nb.messages import CodeBlock
from tests.contract.servers import serving

pytestmark = pytest.mark.kernel


def test_pictures_and_html_are_files(tmp_path: Path) -> None:
    show = (
        "from IPython.display import HTML, Image, display\ndisplay(Image(data=b'png', format='png'))\nHTML('<b>1</b>')"
    )

    with JupyterCodeExecutor(work_dir=tmp_path, timeout=30) as executor:
        result = executor.execute_code_blocks([CodeBlock("python", show)])

    assert [Path(file).suffix for file in result.output_files] == [".png", ".html"]
    assert [Path(file).read_bytes() for file in result.output_files] == [b"png", b"<b>1</b>"]
    assert {Path(file).parent for file in result.output_files} == {tmp_path}


@pytest.mark.places
def test_on_a_server(tmp_path: Path) -> None:
    with serving("server", tmp_path) as server:
        parts = urlsplit(server.url)
        info = JupyterConnectionInfo(str(parts.hostname), use_https=False, port=parts.port, token=server.token)
        with JupyterCodeExecutor(info) as executor:
            plain = executor.execute_code_blocks([CodeBlock("python", "x = 1\nprint(x)")])
        with JupyterCodeExecutor(SimpleNamespace(connection_info=info)) as executor:
            connectable = executor.execute_code_blocks([CodeBlock("python", "print(2)")])

    assert (plain.output, connectable.output) == ("1", "2")


@pytest.mark.slow
def test_a_server_of_ours_ends_its_kernels(tmp_path: Path) -> None:
    async def awaited() -> JupyterCodeExecutor:
        async with LocalJupyterServer() as server:
            executor = JupyterCodeExecutor(server, work_dir=tmp_path)
            await executor.execute_code_blocks([CodeBlock("python", "pass")], None)
            assert executor.pid is not None
        return executor

    with LocalJupyterServer() as server:
        executor = JupyterCodeExecutor(server, work_dir=tmp_path)
        executor.execute_code_blocks([CodeBlock("python", "pass")])

    assert executor.pid is None
    assert asyncio.run(awaited()).pid is None
