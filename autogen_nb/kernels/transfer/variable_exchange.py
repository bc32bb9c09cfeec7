"""What passes between a notebook and one kernel: values there and back, by files of the kernel's private folder."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any, Protocol

from autogen_nb.errors import ExecutionError, TransferError
from autogen_nb.kernels.outcome import BlockOutcome
from autogen_nb.kernels.places.place import KernelFiles, KernelHandle
from autogen_nb.kernels.preparation import call_source
from autogen_nb.kernels.transfer import variable_transfer
from autogen_nb.outputs import Failure, Output


class Execute(Protocol):
    """Runs code of ours between blocks: `Kernel.execute`."""

    def __call__(self, code: str, *, silent: bool) -> AsyncGenerator[Output | BlockOutcome]:
        """Outputs as they come, then one `BlockOutcome`."""


class VariableExchange:
    """Calls of `service` in the kernel that runs, with what goes in and comes out as files.

    Parameters
    ----------
    start
        Starts the kernel where none runs.
    launched
        The kernel that was started last, if any.
    execute
        Runs code in it.
    """

    def __init__(
        self, start: Callable[[], Awaitable[None]], launched: Callable[[], KernelHandle | None], execute: Execute
    ) -> None:
        self._start = start
        self._launched = launched
        self._execute = execute
        self._count = itertools.count()

    async def put(self, values: Mapping[str, Any], *, limit: float) -> variable_transfer.Handed:
        """Binds copies of the values in the kernel: all of them, or none."""
        variable_transfer.check_names(values)
        await self._start()
        with variable_transfer.folder(self._there().folder) as folder:
            files = await asyncio.to_thread(variable_transfer.pack, values, folder, limit=limit)
            await self._files().send(folder)
            overwritten = variable_transfer.check_loaded(await self._call("load", files=files))
            await self._files().drop(folder)
        return await asyncio.to_thread(variable_transfer.Handed.of, values, overwritten)

    async def get(self, name: str, *, unpickle: bool) -> Any:
        """A copy of a variable's value; as data only, unless `unpickle`."""
        variable_transfer.check_names((name,))
        await self._start()
        save, read = ("save_pickled", variable_transfer.read_pickled) if unpickle else ("save", variable_transfer.read)
        with variable_transfer.folder(self._there().folder) as folder:
            await self._files().send(folder)
            variable_transfer.check_saved(name, await self._call(save, name=name, folder=str(folder)))
            await self._files().fetch(folder)
            return await asyncio.to_thread(read, name, folder)

    async def variables(self) -> tuple[variable_transfer.HandedVariable, ...]:
        """The variables that the agent's code made."""
        await self._start()
        return variable_transfer.variables(await self._call("variables"))

    async def _call(self, function: str, **arguments: Any) -> Any:
        """What a function of `service` returns; it runs between blocks."""
        reply = self._there().folder / f"reply-{next(self._count)}.json"
        await self._run(self._files().there(call_source(function, arguments, reply)))
        await self._files().fetch(reply)
        return variable_transfer.read_reply(reply)

    async def _run(self, code: str) -> None:
        why = "the agent's kernel did not answer"
        async with aclosing(self._execute(code, silent=True)) as items:
            async for item in items:
                if isinstance(item, Failure):
                    why = f"{item.ename}: {item.evalue}"
                if isinstance(item, BlockOutcome) and not item.ok:
                    raise TransferError(variable_transfer.printable(item.note or why))

    def _files(self) -> KernelFiles:
        launched = self._there()
        if not launched.python:
            raise TransferError(
                f"the agent's kernel runs {launched.language or 'no Python'}: only a Python kernel has variables "
                "that can be handed over, taken back or listed"
            )
        return launched.files

    def _there(self) -> KernelHandle:
        launched = self._launched()
        if launched is None:
            raise ExecutionError("the agent's kernel is gone")
        return launched
