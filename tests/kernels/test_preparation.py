"""Our own code in a fresh kernel: there for any Python, and nothing else is changed for it."""

import sys
from pathlib import Path

import pytest

from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.effects import Effect, Permissions
from autogen_nb.kernels import preparation
from autogen_nb.kernels.guard_client import Guarded
from tests.kernels.looping import shared_kernel

pytestmark = pytest.mark.kernel

DEAF = """\
import os, signal, sys
if any(each.endswith("kernel_main.py") for each in sys.orig_argv):
    from ipykernel.kernelbase import Kernel
    async def stop(self, *given):
        open("heard", "w").close()
        os.kill(os.getpid(), signal.SIGSTOP)
    Kernel.execute_request = stop
"""


@pytest.mark.slow
def test_a_kernel_of_another_python_gets_our_code_as_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation, "MAGIC_NUMBER", b"another")
    preparation._packed.cache_clear()
    try:
        with shared_kernel(tmp_path) as kernel:
            kernel.do(kernel.kernel.put({"x": [1, 2]}))
            permissions = Guarded(Permissions((Effect("compute"),)), PathScope(str(tmp_path), "", "/home/nobody"))
            denied = kernel.execute("print(x)\nopen('/etc/motd-of-ours', 'w')", permissions=permissions)
    finally:
        preparation._packed.cache_clear()

    assert denied.stdout == "[1, 2]\n"
    assert denied.failures == ["PermissionError"]


@pytest.mark.slow
def test_nothing_of_it_is_left_on_the_disk(tmp_path: Path) -> None:
    with shared_kernel(tmp_path) as kernel:
        code = "import os\nfrom ipykernel.connect import get_connection_file\n"
        listed = kernel.execute(f"{code}print(os.listdir(os.path.dirname(get_connection_file())))").stdout

    assert "'k.json'" in listed
    assert "'own'" not in listed


@pytest.mark.slow
def test_the_debugger_is_not_loaded_and_can_be(tmp_path: Path) -> None:
    with shared_kernel(tmp_path) as kernel:
        assert kernel.execute("import sys; print('debugpy' in sys.modules)").stdout == "False\n"
        assert kernel.execute("import debugpy; print(debugpy.__name__)").stdout == "debugpy\n"


@pytest.mark.slow
def test_a_kernel_that_does_not_hear_is_started_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "deaf").mkdir()
    (tmp_path / "deaf" / "sitecustomize.py").write_text(DEAF)
    python = tmp_path / "python"
    python.write_text(f"""#!/bin/sh
if mkdir {tmp_path}/once 2>/dev/null; then export PYTHONPATH={tmp_path}/deaf:$PYTHONPATH; fi
exec {sys.executable} "$@"
""")
    python.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(python))

    with shared_kernel(tmp_path) as kernel:
        assert kernel.execute("print(1)").stdout == "1\n"

    assert (tmp_path / "heard").exists()
