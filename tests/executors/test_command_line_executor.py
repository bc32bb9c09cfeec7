import os
import sys
from pathlib import Path

import pytest

from autogen_nb.executors.block_executor import BlockExecutor
from tests.contract.ways import ran


@pytest.mark.skipif(os.name != "posix", reason="a script of the shell stands in for another Python")
def test_another_python_on_path_is_not_taken(tmp_path: Path) -> None:
    other = tmp_path / "bin"
    other.mkdir()
    for name in ("python", "python3"):
        (other / name).write_text("#!/bin/sh\necho another\n")
        (other / name).chmod(0o755)
    own = Path(sys.executable).parent
    executor = BlockExecutor(in_kernel=False, cwd=tmp_path, environ={"PATH": f"{other}:{own}:/usr/bin:/bin"})
    code = "import sys; print(sys.prefix)"

    assert ran(executor, ("python", code), ("sh", f"python -c '{code}'")).text == f"{sys.prefix}\n{sys.prefix}\n"
