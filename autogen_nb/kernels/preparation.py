"""Installs this package's modules and the guard in a new kernel, before the agent's code runs.

One file contains all modules twice: compiled by this Python, and as source for kernels with another Python version.
Compiling is most of the work, so this process compiles the modules once, while the first kernel starts.
"""

import asyncio
import marshal
from collections.abc import Sequence
from functools import cache
from importlib.util import MAGIC_NUMBER
from pathlib import Path

from autogen_nb.errors import ExecutionError
from autogen_nb.kernels.guard_client import GuardClient
from autogen_nb.kernels.inside.guard_questions import FIELD
from autogen_nb.kernels.places.provisioner import KernelHandle
from autogen_nb.kernels.request import ExecuteRequest

_INSIDE = Path(__file__).parent / "inside"
_POLICY = Path(__file__).parent.parent / "core" / "policy"
_NAMES = (
    "encode",
    "figures",
    "fingerprints",
    "lost_values",
    "output_stream",
    "overlay_env",
    "pickles",
    "repair",
    "service",
)
_MODULES = {name: _INSIDE / f"{name}.py" for name in _NAMES}
_CHECKPOINT_MODULES = ("checkpoint", "lost_threads", "idle_pools")
_GUARD_MODULES = ("guard", "audit_events", "guard_questions", "guard_process_view", *_CHECKPOINT_MODULES)
_GUARD = {
    **{name: _INSIDE / f"{name}.py" for name in _GUARD_MODULES},
    **{name: _POLICY / f"{name}.py" for name in ("path_scope", "permissions")},
}
_BOOTSTRAP = _INSIDE / "bootstrap.py"
_IMPORT_TIMEOUT = 60.0
"""matplotlib's first import builds a list of fonts, which takes long."""


@cache
def pack_modules() -> bytes:
    sources = [
        {name: (path.read_text("utf-8"), f"<autogen_nb {name}>") for name, path in part.items()}
        for part in (_MODULES, _GUARD)
    ]
    codes = [{name: compile(*source, "exec") for name, source in part.items()} for part in sources]
    return marshal.dumps((MAGIC_NUMBER, marshal.dumps(codes), sources))


async def prepare(handle: KernelHandle, grace: float, prefix: str) -> None:
    guard = GuardClient(handle.files.is_remote)
    file = handle.folder / "own"
    file.write_bytes(await asyncio.to_thread(pack_modules))
    await handle.files.send(file)
    arguments = f"get_ipython(), {str(file)!r}, {FIELD!r}, {str(handle.outbox / 'over')!r}, {prefix!r}, "
    arguments += repr("" if handle.checkpoints is None else handle.checkpoints.path)
    source = f"(lambda own: (exec({_BOOTSTRAP.read_text('utf-8')!r}, own), own['install']({arguments})))({{}})"
    source = handle.files.with_remote_paths(source)
    request = ExecuteRequest(handle, source, grace=grace, silent=True, fields={FIELD: {"secret": guard.secret.hex()}})
    await request.wait()
    if request.end != "idle" or request.exit_code:
        raise ExecutionError(f"the agent's kernel could not be prepared: {request.failure or request.end}")
    handle.guard = guard
    file.unlink()
    await handle.files.drop(file)


async def import_ahead(handle: KernelHandle, name: str, grace: float) -> bool:
    source = f'__import__("sys").modules["autogen_nb_service"].import_ahead({name!r})'
    request = ExecuteRequest(handle, source, grace=grace, silent=True)
    try:
        async with asyncio.timeout(_IMPORT_TIMEOUT):
            await request.wait()
    except TimeoutError:
        return False
    return request.end == "idle" and not request.exit_code


def with_parents(names: Sequence[str]) -> list[str]:
    """The names of the modules, each after the names of its parent packages."""
    parents = [
        ".".join(parts[:end]) for name in names for parts in [name.split(".")] for end in range(1, len(parts) + 1)
    ]
    return list(dict.fromkeys(parents))
