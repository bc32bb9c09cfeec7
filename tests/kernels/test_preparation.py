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
