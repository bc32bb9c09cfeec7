"""Our own code in a fresh kernel: brought there before any of the agent's, the guard with it."""

from collections.abc import Sequence

from autogen_nb.errors import ExecutionError
from autogen_nb.kernels import calls, guarding
from autogen_nb.kernels.guarding import Guarding
from autogen_nb.kernels.launching import Launched
from autogen_nb.kernels.request import Request


async def prepare(launched: Launched, grace: float, prefix: str) -> None:
    """Brings our own code into a Python kernel.

    `prefix` is where the interpreter lies whose environment for installing it has been given; "" is any.

    Raises
    ------
    ExecutionError
        When it cannot be had there.
    """
    guard = Guarding()
    own = launched.files.there(calls.layering(str(launched.folder / "over"), prefix))
    source = f"{calls.installing()}\n{own}{guarding.installing()}"
    request = _ours(launched, source, grace, guard)
    await _through(request)
    if request.end != "idle" or request.exit_code:
        raise ExecutionError(f"the agent's kernel could not be prepared: {request.failure or request.end}")
    launched.guarding = guard


async def warm(launched: Launched, names: Sequence[str], grace: float) -> None:
    """Has modules imported ahead of use, in a thread of the kernel's that makes way for blocks."""
    source = calls.calling("warm", {"names": list(names)}, launched.folder / "warm.json")
    await _through(_ours(launched, launched.files.there(source), grace))


def _ours(launched: Launched, source: str, grace: float, guard: Guarding | None = None) -> Request:
    fields = None if guard is None else guard.secretly()
    return Request(launched, source, ask=None, timeout=None, grace=grace, silent=True, fields=fields)


async def _through(request: Request) -> None:
    while await request.next() is not None:
        pass
