"""Starts a kernel with a provisioner, and installs this package's modules before the agent's code runs.

One file contains all modules twice: compiled by this Python, and as source for kernels with another Python version.
Compiling is most of the work, so this process compiles the modules once, while the first kernel starts.
"""

import asyncio
import marshal
import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib.util import MAGIC_NUMBER
from itertools import accumulate
from pathlib import Path

from autogen_nb.errors import ExecutionError
from autogen_nb.kernels.places.local import folder_for_sockets
from autogen_nb.kernels.places.provisioner import KernelHandle, LaunchSpec, Provisioner
from autogen_nb.kernels.processes import private_folders
from autogen_nb.kernels.request import ExecuteRequest
from autogen_nb.trusted.held_folder import HeldFolder, clear

_START_TIMEOUT = 60.0
_TAIL_BYTES = 2_000
_DELETED = "the folder that {} was deleted; go to another one (%cd in a notebook), and run this again"


async def launch(provisioner: Provisioner, launch_spec: LaunchSpec) -> KernelHandle:
    folder = private_folders.make(provisioner.folders or folder_for_sockets())
    outbox = Path(tempfile.mkdtemp(prefix="", dir=provisioner.outboxes or folder))
    handle, launch_spec = None, replace(launch_spec, folder=folder, outbox=outbox)
    try:
        handle = await provisioner.start(launch_spec)
        async with asyncio.timeout(_START_TIMEOUT):
            await handle.await_answer(0.25)
            if handle.checkpoints is not None:
                # Connects to the supervisor before the kernel does.
                await handle.unless_ended(handle.checkpoints.connect())
    except BaseException as error:
        tail = _read_tail(launch_spec.folder) or _read_tail(launch_spec.outbox)
        if handle is not None:
            await handle.end(grace=0)
        clear(launch_spec.outbox)
        private_folders.remove(folder)
        if isinstance(error, OSError | TimeoutError | ChildProcessError):
            deleted = _describe_deleted(launch_spec.cwd) if provisioner.shares_disk else ""
            raise ExecutionError(_DELETED.format(deleted) if deleted else _error_message(error, tail)) from error
        raise
    return handle


def _read_tail(folder: Path) -> str:
    with suppress(OSError), HeldFolder(folder.parent) as parent, parent.open(f"{folder.name}/log") as log:
        log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL_BYTES))
        return str(log.read(_TAIL_BYTES).decode(errors="replace")).strip()
    return ""


def _describe_deleted(cwd: Path) -> str:
    """Describes the deleted working directory, this process's or the kernel's; "" if both exist."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return "this program works in"
    return "" if cwd.is_dir() else f"the code was to run in, {str(cwd)!r},"


def _error_message(error: Exception, tail: str) -> str:
    default_reason = str(error) or f"it did not answer within {_START_TIMEOUT:g} s"
    reason = tail.splitlines()[-1].strip() if tail else default_reason
    hint = " (install ipykernel for this interpreter)" if "No module named" in reason else ""
    message = f"the agent's kernel could not be started with {sys.executable}: {reason}{hint}"
    return f"{message}\n{tail}" if "\n" in tail else message


_KERNELS = Path(__file__).parent
_MODULES = {
    "inside": "checkpoint encode figures idle_pools lost_threads lost_values output_stream overlay_env repair service",
    "transfer": "fingerprints pickles sizes",
}
_IMPORT_TIMEOUT = 60.0
"""matplotlib's first import builds a list of fonts, which takes long."""


@cache
def pack_modules() -> bytes:
    paths = [_KERNELS / folder / f"{name}.py" for folder, names in _MODULES.items() for name in names.split()]
    sources = {path.stem: (path.read_text("utf-8"), f"<autogen_nb {path.stem}>") for path in paths}
    codes = {name: compile(*source, "exec") for name, source in sources.items()}
    return marshal.dumps((MAGIC_NUMBER, marshal.dumps(codes), sources))


async def prepare(handle: KernelHandle, grace: float, prefix: str) -> None:
    file = handle.folder / "own"
    file.write_bytes(await asyncio.to_thread(pack_modules))
    await handle.files.send(file)
    arguments = f"get_ipython(), {str(file)!r}, {str(handle.outbox / 'over')!r}, {prefix!r}, "
    arguments += repr("" if handle.checkpoints is None else handle.checkpoints.path)
    bootstrap = (_KERNELS / "inside" / "bootstrap.py").read_text("utf-8")
    source = f"(lambda own: (exec({bootstrap!r}, own), own['install']({arguments})))({{}})"
    source = handle.files.with_remote_paths(source)
    request = ExecuteRequest(handle, source, grace=grace, silent=True)
    await request.wait()
    if request.end != "idle" or request.exit_code:
        raise ExecutionError(f"the agent's kernel could not be prepared: {request.failure or request.end}")
    file.unlink()
    await handle.files.drop(file)


async def import_ahead(handle: KernelHandle, name: str, grace: float) -> bool:
    source = f'__import__("sys").modules["autogen_nb_service"].import_ahead({name!r})'
    request = ExecuteRequest(handle, source, grace=grace, silent=True)
    with suppress(TimeoutError):
        async with asyncio.timeout(_IMPORT_TIMEOUT):
            await request.wait()
        return request.end == "idle" and not request.exit_code
    return False


def with_parents(names: Sequence[str]) -> list[str]:
    """The names of the modules, each after the names of its parent packages."""
    return list(dict.fromkeys(each for name in names for each in accumulate(name.split("."), "{}.{}".format)))
