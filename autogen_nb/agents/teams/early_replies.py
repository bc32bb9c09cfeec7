"""Asks the models of a round at the same time: its speakers do not hear each other, so their requests are known."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from autogen_nb.engine import engine
from autogen_nb.events import Answer
from autogen_nb.run import OnEngine

Work: TypeAlias = Callable[[Callable[[Any], None]], Awaitable[Answer]]


class EarlyReplies:
    def __init__(self) -> None:
        self._begun: dict[str, tuple[asyncio.Task[Answer], list[Any]]] = {}

    def alongside(self, work: Work, others: Mapping[str, Work]) -> OnEngine:
        """The work of the first speaker; the work of the others, by their names, begins with it."""

        async def begin(emit: Callable[[Any], None]) -> Answer:
            for name, other in others.items():
                pieces: list[Any] = []
                task = asyncio.ensure_future(other(pieces.append))
                # The run may end before this speaker's turn.
                task.add_done_callback(lambda done: done.cancelled() or done.exception())
                self._begun[name] = task, pieces
            return await work(emit)

        return OnEngine(begin)

    def take(self, name: str) -> OnEngine | None:
        """The rest of the speaker's work, if it has begun."""
        if name not in self._begun:
            return None
        task, pieces = self._begun.pop(name)

        async def end(emit: Callable[[Any], None]) -> Answer:
            answer = await task
            for piece in pieces:
                emit(piece)
            return answer

        return OnEngine(end)

    def drop(self) -> None:
        """Ends what has begun, and is not needed any more."""
        for task, _ in self._begun.values():
            engine.call_soon(task.cancel)
        self._begun.clear()
