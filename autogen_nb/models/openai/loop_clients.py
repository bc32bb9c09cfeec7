"""A model's clients: one for each event loop, closed when the loop shuts down or the model is garbage-collected."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar
from weakref import WeakKeyDictionary, finalize, ref

from autogen_nb.models.config.account import Account

C = TypeVar("C")


@dataclass(frozen=True, slots=True)
class LoopClient(Generic[C]):
    """The openai client of one loop, and the generator that closes it."""

    client: C
    account: Account
    closer: AsyncGenerator[None, None]


LoopClients: TypeAlias = WeakKeyDictionary[asyncio.AbstractEventLoop, LoopClient[C]]


async def keep(
    owner: object,
    connections: LoopClients[C],
    client: C,
    close: Callable[[], Awaitable[None]],
    account: Account,
) -> None:
    """Keeps the client for the running loop until the loop shuts down or the owner is garbage-collected."""
    loop = asyncio.get_running_loop()
    closers: list[AsyncGenerator[None, None]] = []
    closer = _closing_generator(client, close, ref(connections), closers)
    # The loop knows a started async generator, and closes it at shutdown.
    await anext(closer)
    closers.append(closer)
    # `closers` keeps the sockets alive, so that the garbage collector does not finalise them together with the owner.
    finalize(owner, _close_later, loop, closers).atexit = False
    connections[loop] = LoopClient(client, account, closer)


async def _closing_generator(
    client: C,
    close: Callable[[], Awaitable[None]],
    connections: "ref[LoopClients[C]]",
    closers: list[AsyncGenerator[None, None]],
) -> AsyncGenerator[None, None]:
    # A strong reference to `connections` would keep the owner alive.
    try:
        yield
    finally:
        closers.clear()
        known, loop = connections(), asyncio.get_running_loop()
        if known is not None and loop in known and known[loop].client is client:
            del known[loop]
        await close()


def _close_later(loop: asyncio.AbstractEventLoop, closers: list[AsyncGenerator[None, None]]) -> None:
    async def close() -> None:
        for closer in closers.copy():
            await closer.aclose()

    if closers and not loop.is_closed():
        # The garbage collector may run in any thread, and the loop may be closed in the meantime.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(lambda: loop.create_task(close()))
