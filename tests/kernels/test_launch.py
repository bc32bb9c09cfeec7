import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from autogen_nb.errors import ExecutionError
from autogen_nb.kernels.lifecycle import launch
from autogen_nb.kernels.places.environment import scrub_environment
from autogen_nb.kernels.places.local import LOCAL
from autogen_nb.kernels.places.place import LaunchSpec

pytestmark = pytest.mark.kernel


def test_a_deleted_folder_is_reported_with_a_way_out(tmp_path: Path) -> None:
    with pytest.raises(
        ExecutionError, match=r"the folder that the code was to run in, '.*gone', was deleted; go to .*%cd"
    ):
        asyncio.run(launch(LOCAL, LaunchSpec(tmp_path / "gone", scrub_environment({}))))


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
