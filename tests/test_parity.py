import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RUN = ROOT / "tests" / "parity" / "measured" / "run.py"


@pytest.mark.slow
def test_same_as_autogen(tmp_path: Path) -> None:
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))

    done = subprocess.run(
        [sys.executable, str(RUN)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
    )

    assert done.stdout.splitlines()[-1:] == ["19 same of 19"], done.stdout + done.stderr
