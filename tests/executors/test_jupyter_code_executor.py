import asyncio
import importlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest

import autogen_nb
from autogen_nb.errors import ConfigError
from autogen_nb.executors.code_executor import CodeResult
from autogen_nb.executors.jupyter_code_executor import JupyterCodeExecutor
from autogen_nb.executors.jupyter_servers import JupyterConnectionInfo, LocalJupyterServer
from autogen_nb.messages import CodeBlock
from autogen_nb.run import CancellationToken
from tests.contract.servers import serving
from tests.processes import gone

pytestmark = pytest.mark.kernel


@pytest.mark.slow
def test_in_a_program(tmp_path: Path) -> None:
    (tmp_path / "before.txt").write_text("old")

    async def ran() -> tuple[list[CodeResult], list[Path], int | None]:
        async with JupyterCodeExecutor(work_dir=tmp_path, timeout=30) as executor:
            await asyncio.sleep(0)
            results = [
                await executor.execute_code_blocks([CodeBlock("python", code)])
                for code in ("x = 2\nopen('made.txt', 'w').write('new')", "print(x)", "1/0")
            ]
            await executor.restart()
            results.append(await executor.execute_code_blocks([CodeBlock("Python", "print('x' in globals())")]))
            return results, executor.list_files(), executor.pid

    results, files, pid = asyncio.run(ran())

    assert results[1] == CodeResult(0, "2")
    assert results[2].exit_code == 1
    assert "ZeroDivisionError" in results[2].output
    assert results[3].output == "False"
    assert tmp_path / "made.txt" in files
    assert pid is not None
    assert gone([pid])


def test_pictures_and_html_are_files(tmp_path: Path) -> None:
    show = (
        "from IPython.display import HTML, Image, display\ndisplay(Image(data=b'png', format='png'))\nHTML('<b>1</b>')"
    )

    with JupyterCodeExecutor(work_dir=tmp_path, timeout=30) as executor:
        result = executor.execute_code_blocks([CodeBlock("python", show)])

    assert [Path(file).suffix for file in result.output_files] == [".png", ".html"]
    assert [Path(file).read_bytes() for file in result.output_files] == [b"png", b"<b>1</b>"]
    assert {Path(file).parent for file in result.output_files} == {tmp_path}


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: JupyterCodeExecutor(work_dir="a", output_dir="b"), "name the same directory"),
        (lambda: JupyterCodeExecutor(timeout=0), "timeout is 0"),
    ],
)
def test_settings_that_are_invalid(make: Any, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        make()


def test_a_cancelled_token_runs_nothing() -> None:
    token = CancellationToken()
    token.cancel()

    with pytest.raises(ConfigError, match="was cancelled before"):
        asyncio.run(JupyterCodeExecutor().execute_code_blocks([], token))


DOORS = {
    "coding": "CodeBlock CodeExecutor CodeResult CommandLineCodeResult DockerCommandLineCodeExecutor IPythonCodeResult "
    "JupyterCodeExecutor LocalCommandLineCodeExecutor",
    "coding.base": "CodeBlock CodeExecutor CodeResult CommandLineCodeResult IPythonCodeResult",
    "coding.func_with_reqs": "Alias FunctionWithRequirements ImportFromModule with_requirements",
    "coding.jupyter": "DockerJupyterServer EmbeddedIPythonCodeExecutor JupyterCodeExecutor JupyterConnectionInfo "
    "LocalJupyterServer",
    "code_executors.docker": "DockerCommandLineCodeExecutor",
    "code_executors.docker_jupyter": "DockerJupyterCodeExecutor DockerJupyterServer JupyterConnectionInfo",
    "code_executors.jupyter": "JupyterCodeExecutor",
    "code_executors.local": "LocalCommandLineCodeExecutor",
}


@pytest.mark.parametrize("door", DOORS)
def test_names_are_where_autogen_has_them(door: str) -> None:
    module, names = importlib.import_module(f"autogen_nb.{door}"), DOORS[door].split()

    assert set(names) <= set(module.__all__)
    assert all(getattr(module, name) is getattr(autogen_nb, name) for name in names)


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
