import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from autogen_nb.errors import ExecutionError
from autogen_nb.kernels.kernel import Kernel
from tests.kernels.looping import shared_kernel


@pytest.mark.slow
def test_the_persons_configuration_does_not_leak_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    profile = home / ".ipython" / "profile_default"
    (profile / "startup").mkdir(parents=True)
    (profile / "startup" / "00.py").write_text("leaked = 'startup'")
    (profile / "ipython_config.py").write_text("c.InteractiveShellApp.exec_lines = ['leaked = 1']")
    (profile / "ipython_kernel_config.py").write_text("c.IPKernelApp.extensions = ['no_such_extension']")
    (tmp_path / "startup.py").write_text("leaked = 'PYTHONSTARTUP'")
    spec = home / "jupyter" / "kernels" / "python3"
    spec.mkdir(parents=True)
    (spec / "kernel.json").write_text(json.dumps({"argv": ["false"], "display_name": "x", "language": "python"}))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("IPYTHONDIR", str(home / ".ipython"))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(home / "jupyter"))
    monkeypatch.setenv("JUPYTER_DEFAULT_PROVISIONER_NAME", "no-such-provisioner")
    monkeypatch.setenv("PYTHONSTARTUP", str(tmp_path / "startup.py"))
    (tmp_path / "ipython_config.py").write_text("c.InteractiveShellApp.exec_lines = ['leaked = 2']")
    with shared_kernel(tmp_path) as agent:
        ran = agent.execute("print('leaked' in dir())")

    assert (ran.stdout, ran.outputs[1:]) == ("False\n", [])


def test_an_interpreter_without_ipykernel_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    python.chmod(0o700)

    monkeypatch.setattr(sys, "executable", str(python))

    with pytest.raises(ExecutionError, match=r"could not be started .*: ModuleNotFoundError: .* \(install ipykernel"):
        asyncio.run(Kernel(cwd=tmp_path).start())


def test_a_shutdown_during_the_start_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    async def start() -> None:
        kernel = Kernel(cwd=tmp_path)
        task = asyncio.ensure_future(kernel.start())
        await asyncio.sleep(0.05)
        await kernel.shutdown()
        await task

    with pytest.raises(ExecutionError, match="shut down while it started"):
        asyncio.run(start())
    assert list(tmp_path.iterdir()) == []


def test_a_deleted_folder_is_reported_with_a_way_out(tmp_path: Path) -> None:
    with pytest.raises(
        ExecutionError, match=r"the folder that the code was to run in, '.*gone', was deleted; go to .*%cd"
    ):
        asyncio.run(Kernel(cwd=tmp_path / "gone").start())


@pytest.mark.slow
def test_a_program_whose_own_folder_is_deleted_is_reported(tmp_path: Path) -> None:
    script = f"""
import os, shutil
from autogen_nb import JupyterCodeExecutor
from autogen_nb.errors import ExecutionError
from autogen_nb.messages import CodeBlock
os.chdir({str(tmp_path)!r})
executor = JupyterCodeExecutor(work_dir={str(tmp_path)!r})
shutil.rmtree({str(tmp_path)!r})
try:
    executor.execute_code_blocks([CodeBlock("python", "1")])
except ExecutionError as error:
    print(error)
os.chdir("/")
print(executor.execute_code_blocks([CodeBlock("python", "print(2)")]).output)
"""

    said = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    ).stdout

    assert said.splitlines() == [
        "the folder that this program works in was deleted; go to another one (%cd in a notebook), and run this again",
        "2",
    ]
