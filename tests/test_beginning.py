"""Work that a program may await, or call and leave to itself."""

import asyncio
import threading

import pytest

from autogen_nb.run import engine, in_background


async def where() -> str:
    """The thread that this runs in."""
    await asyncio.sleep(0)
    return threading.current_thread().name


def test_without_a_loop_it_is_over_when_the_call_returns() -> None:
    done: list[str] = []

    async def work() -> int:
        done.append(await where())
        return 7

    waiting = in_background(work())

    assert done == ["autogen_nb engine"]
    assert asyncio.run(waiting) == 7


def test_without_a_loop_errors_come_at_once() -> None:
    async def fails() -> None:
        raise ValueError(7)

    with pytest.raises(ValueError, match="7"):
        _ = in_background(fails())


def test_with_a_loop_it_runs_whether_or_not_it_is_awaited() -> None:
    over = threading.Event()

    async def work() -> str:
        found = await where()
        over.set()
        return found

    async def program() -> list[str]:
        _ = in_background(work())
        assert over.wait(30)
        # Awaited as it is, as a task, and by `gather`.
        return [
            await in_background(work()),
            await asyncio.create_task(in_background(work())),
            *await asyncio.gather(in_background(work())),
        ]

    assert asyncio.run(program()) == ["autogen_nb engine"] * 3


@pytest.mark.parametrize("as_task", [False, True])
@pytest.mark.parametrize("steps", [0, 1])
def test_who_gives_up_cancels_it(as_task: bool, steps: int) -> None:
    begins, ended = threading.Event(), threading.Event()

    async def work() -> None:
        begins.set()
        try:
            await asyncio.sleep(99)
        finally:
            ended.set()

    async def program() -> None:
        waiting = in_background(work())
        assert begins.wait(30)
        task = asyncio.create_task(waiting) if as_task else asyncio.ensure_future(_awaited(waiting))
        for _ in range(steps or not as_task):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(program())

    assert ended.wait(30)


def test_on_the_engine_it_is_the_work_itself() -> None:
    async def outer() -> str:
        return await in_background(where())

    assert engine.call(outer()) == "autogen_nb engine"


def test_it_can_be_closed() -> None:
    async def program() -> None:
        in_background(where()).close()

    asyncio.run(program())


async def _awaited(waiting: object) -> None:
    await waiting  # type: ignore[misc]  # it is a coroutine's stand-in
