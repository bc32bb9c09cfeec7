import asyncio
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any
from urllib.parse import urlsplit

import pytest

import autogen_nb
from autogen_nb.coding import CodeBlock, DockerCommandLineCodeExecutor, LocalCommandLineCodeExecutor
from autogen_nb.errors import ConfigError
from autogen_nb.executors.code_executor import CodeResult
from autogen_nb.executors.command_line_code_executor import with_requirements
from autogen_nb.executors.execute_code import create_virtual_env
from autogen_nb.executors.jupyter_code_executor import DockerJupyterServer, JupyterConnectionInfo, LocalJupyterServer
from autogen_nb.kernels.places.container import IMAGE, build_kernel_image
from autogen_nb.run import CancellationToken
from tests.contract.servers import serving
from tests.executors.wheels import wheel
from tests.processes import gone, waited

Make = Callable[..., Any]
EITHER = pytest.mark.parametrize(
    "make", [LocalCommandLineCodeExecutor, autogen_nb.JupyterCodeExecutor], ids=["local", "jupyter"]
)


def block(code: str, language: str = "python") -> CodeBlock:
    return CodeBlock(code=code, language=language)


def greeting(name: str) -> str:
    return f"Hello, {name}!"


@pytest.mark.slow
@EITHER
def test_waiting(make: Make, tmp_path: Path) -> None:
    executor = make(work_dir=tmp_path / "deep" / "er", timeout=30)
    first = executor.execute_code_blocks(code_blocks=[block("open('a.txt', 'w').close(); print(1)"), block("2/0")])
    executor.restart()
    with executor as entered:
        second = entered.execute_code_blocks([block("print(2)")])
    executor.stop()
    executor.stop()

    assert first.exit_code == 1
    assert first.output.startswith("1\n")
    assert "ZeroDivisionError" in first.output
    assert (second.exit_code, second.output) == (0, "2")
    assert tmp_path / "deep" / "er" / "a.txt" in executor.list_files()


@pytest.mark.slow
@EITHER
def test_awaiting(make: Make, tmp_path: Path) -> None:
    beats: list[float] = []

    async def beat() -> None:
        while True:
            beats.append(time.monotonic())
            await asyncio.sleep(0.01)

    async def ran() -> list[CodeResult]:
        beating = asyncio.ensure_future(beat())
        async with make(work_dir=tmp_path) as executor:
            code = [block("import time; time.sleep(0.5); print(1)")]
            found = [await executor.execute_code_blocks(code, CancellationToken())]
            await executor.restart()
            found.append(await executor.execute_code_blocks([block("print(2)")], cancellation_token=None))
            # What has waited may be awaited, too.
            found.append(await executor.execute_code_blocks([block("print(3)")]))
        beating.cancel()
        return found

    assert [result.output for result in asyncio.run(ran())] == ["1", "2", "3"]
    assert len(beats) > 3


@EITHER
def test_a_cancelled_token_ends_the_code_and_begins_none(make: Make, tmp_path: Path) -> None:
    code = "import os\nopen('pid.part', 'w').write(str(os.getpid()))\nos.rename('pid.part', 'pid')\nwhile True: pass"

    async def ran() -> int:
        token = CancellationToken()
        executor = make(work_dir=tmp_path)
        running = asyncio.ensure_future(executor.execute_code_blocks([block(code)], token))
        # It is another process that tells.
        while not (tmp_path / "pid").exists():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        token.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        with pytest.raises(ConfigError, match="was cancelled before"):
            await executor.execute_code_blocks([], token)
        await executor.stop()
        return int((tmp_path / "pid").read_text())

    assert gone([asyncio.run(ran())])


@pytest.mark.slow
@EITHER
@pytest.mark.parametrize("language", ["python", "sh"])
def test_stopping_ends_what_runs(make: Make, language: str, tmp_path: Path) -> None:
    shell = "sleep 98765 &\necho $$ $! >pids.part; mv pids.part pids; wait"
    code = {"sh": shell, "python": f"import subprocess; subprocess.run(['sh', '-c', {shell!r}])"}[language]
    executor = make(work_dir=tmp_path, timeout=300)
    found: list[CodeResult] = []
    running = threading.Thread(target=lambda: found.append(executor.execute_code_blocks([block(code, language)])))
    running.start()
    waited((tmp_path / "pids").exists)
    executor.stop()
    running.join(30)
    pids = [int(each) for each in (tmp_path / "pids").read_text().split()]

    assert gone(pids)
    assert [result.exit_code != 0 for result in found] == [True]
    assert executor.execute_code_blocks([block("print(1)")]).output == "1"
    executor.stop()


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: LocalCommandLineCodeExecutor(timeout=0), "timeout is 0"),
        (lambda: LocalCommandLineCodeExecutor(work_dir=3), "work_dir is 3"),  # type: ignore[arg-type]
        (lambda: LocalCommandLineCodeExecutor(functions_module="a b"), "functions_module is 'a b'"),
        (lambda: LocalCommandLineCodeExecutor(functions_module="import"), "functions_module is 'import'"),
        (lambda: LocalCommandLineCodeExecutor(functions_module=""), "functions_module is ''"),
        (
            lambda: LocalCommandLineCodeExecutor(virtual_env_context="venv"),
            r"virtual_env_context is 'venv'.*EnvBuilder",
        ),
        (
            lambda: LocalCommandLineCodeExecutor(virtual_env_context=SimpleNamespace(env_exe="/nowhere/python")),
            "which has no Python interpreter",
        ),
        (lambda: autogen_nb.JupyterCodeExecutor(work_dir="a", output_dir="b"), "each set the working directory"),
        (lambda: autogen_nb.JupyterCodeExecutor("no-such-kernel"), "there is no kernelspec 'no-such-kernel'"),
        (lambda: autogen_nb.JupyterCodeExecutor(object()), "jupyter_server is <object"),
    ],
    ids="timeout work_dir module keyword no-module venv no-python directories kernel server".split(),
)
def test_settings_that_are_invalid(make: Make, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        make()


def test_without_an_engine_the_error_says_how_to_mend(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")

    for make in (DockerCommandLineCodeExecutor, autogen_nb.DockerJupyterCodeExecutor):
        with pytest.raises(ConfigError, match=r"no container engine answers .*systemctl start docker"):
            make(work_dir=tmp_path)


def test_functions_are_imported_by_code(tmp_path: Path) -> None:
    executor = LocalCommandLineCodeExecutor(work_dir=tmp_path, functions=[greeting], functions_module="tools")
    code = "from tools import greeting\nprint(greeting('Ada'))\nopen('tools.py', 'w').write('')"

    assert [executor.execute_code_blocks([block(code)]).output for _ in range(2)] == ["Hello, Ada!"] * 2
    assert executor.functions == [greeting]
    assert executor.functions_module == "tools"
    assert "def greeting(name: str) -> str:" in executor.format_functions_for_prompt()


@pytest.mark.slow
def test_packages_of_functions_are_installed_for_the_code_alone(tmp_path: Path) -> None:
    needing = with_requirements(python_packages=[str(wheel(tmp_path, "autogen_nb_needed"))])(greeting)
    look = block("import autogen_nb_needed as it; print(it.value, it.__file__)")
    with LocalCommandLineCodeExecutor(work_dir=tmp_path / "work", functions=[needing]) as executor:
        found = executor.execute_code_blocks([look]).output

    assert found.startswith("from the wheel ")
    assert not found.split()[-1].startswith(sys.prefix)
    assert not Path(found.split()[-1]).exists()


@pytest.mark.slow
def test_what_code_installs_is_there_for_the_next_block_alone(tmp_path: Path) -> None:
    pip = ["pip", "install", "--no-index", str(wheel(tmp_path, "autogen_nb_installed"))]
    blocks = [
        block(f"import subprocess; subprocess.run({pip!r}, check=True, capture_output=True)"),
        block("import autogen_nb_installed as it; print(it.value)"),
    ]
    executor = LocalCommandLineCodeExecutor(work_dir=tmp_path / "work")
    found = executor.execute_code_blocks(blocks)
    _ = executor.stop()

    assert found.output == "from the wheel"
    assert executor.execute_code_blocks(blocks[1:]).exit_code == 1


def temporary_is_private(executor: Any) -> bool:
    found = executor.execute_code_blocks([block("import tempfile; print(tempfile.gettempdir())")])
    private = bool(found.output.strip() != tempfile.gettempdir())
    user = autogen_nb.UserProxyAgent("user", code_execution_config={"executor": executor})
    assert user.code is not None
    assert executor.private_temporary is user.code.scope.private_temporary is private
    return private


def test_a_virtual_environment(tmp_path: Path) -> None:
    context = create_virtual_env(tmp_path / "env", with_pip=False)
    executor = LocalCommandLineCodeExecutor(virtual_env_context=context, work_dir=tmp_path)
    code = "import sys; print(sys.prefix)"
    found = executor.execute_code_blocks([block(code), block(f"python -c '{code}'", "sh")])

    assert found.output.split() == [str(tmp_path / "env")] * 2
    assert not temporary_is_private(executor)


@EITHER
def test_private_temporary_matches_the_temporary_folder(make: Make, tmp_path: Path) -> None:
    with make(work_dir=tmp_path) as executor:
        assert temporary_is_private(executor)


def test_languages_that_are_only_saved(tmp_path: Path) -> None:
    executor = LocalCommandLineCodeExecutor(work_dir=tmp_path, execution_policies={"sh": False, "python": True})
    found = executor.execute_code_blocks([block("# filename: a.sh\ntouch ran", "sh"), block("print(1)")])

    assert found.exit_code == 0
    assert found.output.endswith("\n1")
    assert "a.sh but not run" in found.output
    assert (tmp_path / "a.sh").exists()
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("cleanup", [False, True])
def test_files_of_blocks(cleanup: bool, tmp_path: Path) -> None:
    executor = LocalCommandLineCodeExecutor(work_dir=tmp_path, cleanup_temp_files=cleanup)
    plain = executor.execute_code_blocks([block("print(__file__)")])
    named = executor.execute_code_blocks([block("# filename: sub/named.py\nprint(1)")])
    outside = executor.execute_code_blocks([block("# filename: ../out.py\nprint(1)")])
    long = executor.execute_code_blocks([block(f"# filename: {'x' * 300}.py\nprint(1)")])

    assert plain.code_file == (None if cleanup else plain.output)
    assert named.code_file == str(tmp_path / "sub" / "named.py")
    assert (outside.exit_code, outside.code_file) == (1, None)
    assert (long.exit_code, long.code_file, "cannot be saved" in long.output) == (1, None, True)
    assert [path.name for path in executor.list_files()] == [
        *([] if cleanup else [Path(plain.output).name]),
        "named.py",
    ]


HINTED = {
    "open('out/a.csv')": True,
    "open('./out/a.csv')": True,
    "print(\"No such file or directory: 'out/a.csv'\")": False,
    "open('out/b.csv')": False,
    f"open('out/{'x' * 250}')": False,
}


@EITHER
def test_a_missing_file_under_the_name_of_the_directory(make: Make, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.csv").write_text("1")
    with make(work_dir=tmp_path / "out") as executor:
        outputs = {code: executor.execute_code_blocks([block(code)]).output for code in HINTED}

    assert {code: output.endswith("is 'a.csv' here.") for code, output in outputs.items()} == HINTED


def test_pictures_and_html_are_files(tmp_path: Path) -> None:
    show = (
        "from IPython.display import HTML, Image, display\ndisplay(Image(data=b'png', format='png'))\nHTML('<b>1</b>')"
    )

    with autogen_nb.JupyterCodeExecutor(work_dir=tmp_path, timeout=30) as executor:
        result = executor.execute_code_blocks([block(show)])

    assert [Path(file).suffix for file in result.output_files] == [".png", ".html"]
    assert [Path(file).read_bytes() for file in result.output_files] == [b"png", b"<b>1</b>"]
    assert {Path(file).parent for file in result.output_files} == {tmp_path}


@pytest.mark.places
def test_on_a_server(tmp_path: Path) -> None:
    with serving("server", tmp_path) as server:
        parts = urlsplit(server.url)
        info = JupyterConnectionInfo(str(parts.hostname), use_https=False, port=parts.port, token=server.token)
        with autogen_nb.JupyterCodeExecutor(info) as executor:
            plain = executor.execute_code_blocks([block("x = 1\nprint(x)")])
        with autogen_nb.JupyterCodeExecutor(SimpleNamespace(connection_info=info)) as executor:
            connectable = executor.execute_code_blocks([block("print(2)")])

    assert (plain.output, connectable.output) == ("1", "2")


def test_the_dockerfile_is_that_of_the_image_which_is_built() -> None:
    errors = pytest.importorskip("docker.errors")
    built: list[str] = []

    class Images:
        def get(self, name: str) -> None:
            raise errors.ImageNotFound(name)

        def build(self, *, fileobj: IO[bytes], **_options: Any) -> None:
            built.append(fileobj.read().decode())

    build_kernel_image(SimpleNamespace(images=Images()), "kernel", IMAGE)

    assert built == [DockerJupyterServer.DEFAULT_DOCKERFILE]


@pytest.mark.slow
def test_a_server_of_ours_ends_its_kernels(tmp_path: Path) -> None:
    async def awaited() -> autogen_nb.JupyterCodeExecutor:
        async with LocalJupyterServer() as server:
            executor = autogen_nb.JupyterCodeExecutor(server, work_dir=tmp_path)
            await executor.execute_code_blocks([block("pass")], None)
            assert executor.pid is not None
        return executor

    with LocalJupyterServer() as server:
        executor = autogen_nb.JupyterCodeExecutor(server, work_dir=tmp_path)
        executor.execute_code_blocks([block("pass")])

    assert executor.pid is None
    assert asyncio.run(awaited()).pid is None
