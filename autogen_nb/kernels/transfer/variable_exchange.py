"""Transfers values between a notebook and a kernel, through files in the kernel's private folder.

The kernel's side is `inside/service.py`, whose functions run in silent requests.
"""

import asyncio
import json
import keyword
import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from autogen_nb.errors import TransferError
from autogen_nb.kernels.kernel import Kernel
from autogen_nb.kernels.places.provisioner import KernelHandle
from autogen_nb.kernels.transfer.decode import decode
from autogen_nb.kernels.transfer.describe import Cluster, cluster_of
from autogen_nb.kernels.transfer.pickles import load
from autogen_nb.kernels.transfer.variable_transfer import (
    CLUSTER,
    TRANSFER_LIMIT,
    HandedVariable,
    TransferRecord,
    fingerprints_of,
    missing_variable,
    pack,
    packed_files,
    parse_variables,
    printable,
)
from autogen_nb.outputs import Failure, Output
from autogen_nb.trusted.held_folder import HeldFolder

_REPLY_BYTES = 16 * 2**20
_MAX_COPY = 256 * 2**20
"""`put` stores a copy of values up to this size, in bytes."""


async def put(
    kernel: Kernel, values: Mapping[str, Any], *, limit: float = TRANSFER_LIMIT, copy: Path | None = None
) -> TransferRecord:
    """Copies all values into the kernel, or none. Also stores small values in the folder `copy`, for `put_copy`."""
    _check_names(values)
    handle = await _python_kernel(kernel)
    with HeldFolder(handle.folder) as held, _new_folder(held, handle.folder) as folder:
        cluster = cluster_of(values)
        await asyncio.to_thread(pack, values, folder, limit=limit, cluster=cluster)
        if cluster is not None:
            # A stored copy would contain the cluster's certificates, and be useless after the cluster's end.
            copy = None
            if handle.guard is not None:
                await handle.guard.allow_address(*cluster.endpoint)
        stored = copy is not None and await asyncio.to_thread(_copy_small, folder, copy)
        overwritten = await _load(kernel, handle, values, folder, cluster)
    fingerprints = await asyncio.to_thread(fingerprints_of, values)
    return TransferRecord(fingerprints, overwritten, copy if stored else None)


async def put_copy(kernel: Kernel, names: Sequence[str], copy: Path) -> None:
    """Copies values into the kernel from the folder that `put` wrote; this process does not unpickle them."""
    _check_names(names)
    handle = await _python_kernel(kernel)
    with HeldFolder(handle.folder) as held, _new_folder(held, handle.folder) as folder:
        await asyncio.to_thread(shutil.copytree, copy, folder, dirs_exist_ok=True)
        await _load(kernel, handle, names, folder)


async def _load(
    kernel: Kernel, handle: KernelHandle, names: Iterable[str], folder: Path, cluster: Cluster | None = None
) -> tuple[str, ...]:
    await handle.files.send(folder)
    connection = "" if cluster is None else str(folder / CLUSTER)
    reply = await _call(kernel, handle, "load", files=packed_files(names, folder), cluster=connection)
    await handle.files.drop(folder)
    fields = reply if isinstance(reply, dict) else {}
    if "cluster" in fields:
        raise TransferError(
            f"the agent's kernel cannot connect to the Dask cluster ({printable(fields['cluster'])}); a sandbox needs "
            "--net, and a container needs an address that it can reach; nothing was handed over"
        )
    if "name" in fields:
        raise TransferError(
            f"`{printable(fields['name'])}` cannot be handed over: the agent's kernel could not load it "
            f"({printable(fields.get('why'))}); nothing was handed over"
        )
    overwritten = fields.get("overwritten")
    return tuple(filter(str.isidentifier, map(str, overwritten if isinstance(overwritten, list) else ())))


async def get(kernel: Kernel, name: str, *, unpickle: bool = False) -> Any:
    """Returns a copy of a variable's value. `unpickle` allows any object, whose code then runs in this process."""
    _check_names((name,))
    handle = await _python_kernel(kernel)
    with _new_folder(handle.held_outbox, handle.outbox) as folder:
        await handle.files.send(folder)
        writer = "pickles" if unpickle else "encode"
        reply = await _call(kernel, handle, "save", writer=writer, name=name, folder=str(folder))
        if not isinstance(reply, dict) or "missing" in reply:
            raise missing_variable(name, reply.get("missing") if isinstance(reply, dict) else None)
        if "refused" in reply:
            more = "" if unpickle else "; unpickle=True (in a cell: --unpickle) copies any type, and may run its code"
            raise TransferError(printable(f"`{name}{reply.get('path', '')}` {reply['refused']}{more}"))
        await handle.files.fetch(folder)
        try:
            held = handle.held_outbox.folder(folder.name)
        except OSError as error:
            raise TransferError(f"`{name}` cannot be copied back: {error}") from error
        with held:
            return await asyncio.to_thread(_read, name, held, unpickle=unpickle)


async def variables(kernel: Kernel) -> tuple[HandedVariable, ...]:
    """The variables of the agent's code, except private names, modules, functions and classes."""
    return parse_variables(await _call(kernel, await _python_kernel(kernel), "variables"))


async def _python_kernel(kernel: Kernel) -> KernelHandle:
    handle = await kernel.usable()
    if not handle.is_python:
        raise TransferError(
            f"the agent's kernel runs {handle.language or 'no Python'}: only a Python kernel has variables "
            "that can be copied or listed"
        )
    return handle


async def _call(kernel: Kernel, handle: KernelHandle, function: str, **arguments: Any) -> Any:
    reply = handle.outbox / f"reply-{uuid.uuid4().hex}.json"
    # The arguments are JSON in a string literal, so no value runs as code.
    source = f"{function!r}, {json.dumps(arguments)!r}, {str(reply)!r}"
    source = handle.files.with_remote_paths(f'__import__("sys").modules["autogen_nb_service"].answer({source})')
    reason = "the agent's kernel did not answer"

    def note_failure(output: Output) -> None:
        nonlocal reason
        if isinstance(output, Failure):
            reason = f"{output.ename}: {output.evalue}"

    outcome = await kernel.execute(source, note_failure, silent=True, changes_state=function == "load")
    if not outcome.ok:
        raise TransferError(printable(outcome.note or reason))
    await handle.files.fetch(reply)
    try:
        with handle.held_outbox.open(reply.name) as file:
            return json.loads(file.read(_REPLY_BYTES))
    except (OSError, ValueError, RecursionError) as error:
        raise TransferError(f"the agent's kernel gave an unreadable answer: {error}") from error
    finally:
        with suppress(OSError):
            handle.held_outbox.remove(reply.name)


def _check_names(names: Iterable[str]) -> None:
    for name in names:
        if not name.isidentifier() or keyword.iskeyword(name):
            raise TransferError(f"{name!r} is not a variable name")


@contextmanager
def _new_folder(held: HeldFolder, path: Path) -> Iterator[Path]:
    new_folder = path / f"hand-{uuid.uuid4().hex}"
    try:
        held.folder(new_folder.name, make=True).close()
    except OSError as error:
        # The disk is full, or the agent's code has removed the folder.
        raise TransferError(f"the folder for copied values cannot be created: {error}") from error
    try:
        yield new_folder
    finally:
        with suppress(OSError):
            held.clear(new_folder.name)


def _copy_small(folder: Path, copy: Path) -> bool:
    """Copies the files if they are small enough; returns True if there is a copy."""
    if sum(file.stat().st_size for file in folder.iterdir()) > _MAX_COPY:
        return False
    try:
        shutil.copytree(folder, copy, copy_function=shutil.copyfile)
    except OSError:
        shutil.rmtree(copy, ignore_errors=True)
    return copy.is_dir()


def _read(name: str, folder: HeldFolder, *, unpickle: bool) -> Any:
    try:
        return load("value", folder.opener) if unpickle else decode(folder)
    except Exception as error:
        # A class's own code may raise any exception.
        why = f"it cannot be unpickled here ({type(error).__name__}: {error})" if unpickle else error
        raise TransferError(f"`{name}` cannot be copied back: {why}") from error
