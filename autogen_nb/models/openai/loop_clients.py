"""The connections of a model: one client for each loop, closed when the loop shuts down or the model is dropped."""

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
    """The client of one loop, which is openai's, and the generator whose end closes it."""

    client: C
    account: Account
    life: AsyncGenerator[None, None]


LoopClients: TypeAlias = WeakKeyDictionary[asyncio.AbstractEventLoop, LoopClient[C]]


async def keep(
    owner: object,
    connections: LoopClients[C],
    client: C,
    close: Callable[[], Awaitable[None]],
    account: Account,
) -> None:
    """Keeps the client for the running loop, for as long as both the loop and the owner are there."""
    loop = asyncio.get_running_loop()
    held: list[AsyncGenerator[None, None]] = []
    life = _life(client, close, ref(connections), held)
    # Once begun, the generator is known to the loop, which closes it when it shuts down.
    await anext(life)
    held.append(life)
    # What is garbage together is finalised together: the sockets of an owner that is dropped must not be among it.
    finalize(owner, _let_go, loop, held).atexit = False
    connections[loop] = LoopClient(client, account, life)


async def _life(
    client: C,
    close: Callable[[], Awaitable[None]],
    connections: "ref[LoopClients[C]]",
    held: list[AsyncGenerator[None, None]],
) -> AsyncGenerator[None, None]:
    # A reference that is not weak would keep an owner that is dropped alive.
    try:
        yield
    finally:
        held.clear()
        known, loop = connections(), asyncio.get_running_loop()
        if known is not None and loop in known and known[loop].client is client:
            del known[loop]
        await close()


def _let_go(loop: asyncio.AbstractEventLoop, held: list[AsyncGenerator[None, None]]) -> None:
    async def close() -> None:
        for life in held.copy():
            await life.aclose()

    if held and not loop.is_closed():
        # Garbage is collected in any thread, and the loop may be closed meanwhile.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(lambda: loop.create_task(close()))
