"""Starting a kernel: what may go wrong between the process and its first answer."""

import asyncio
from pathlib import Path

import pytest

from autogen_nb.kernels.lifecycle import launch
from autogen_nb.kernels.places.environment import scrub_environment
from autogen_nb.kernels.places.local import LOCAL
from autogen_nb.kernels.places.place import LaunchSpec

pytestmark = pytest.mark.kernel

DEAF = """
from time import monotonic
from ipykernel.kernelbase import Kernel

taken = Kernel.shell_channel_thread_main
first = []

async def forgets(self, message):
    first.append(monotonic())
    # By then whoever waits for the kernel has heard from it on iopub.
    if monotonic() - first[0] > 0.6:
        await taken(self, message)

Kernel.shell_channel_thread_main = forgets
"""


@pytest.mark.slow
def test_requests_that_a_starting_kernel_forgets_are_repeated(tmp_path: Path) -> None:
    """A kernel that does not answer its first requests, as ipykernel now and then does not, comes up all the same."""
    (tmp_path / "sitecustomize.py").write_text(DEAF)
    environ = {**scrub_environment({}), "PYTHONPATH": str(tmp_path)}

    async def main() -> bool:
        launched = await launch(LOCAL, LaunchSpec(tmp_path, environ))
        alive = launched.alive
        await launched.end(grace=0)
        return alive

    assert asyncio.run(main())
