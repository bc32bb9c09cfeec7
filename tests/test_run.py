import asyncio
import threading
from collections.abc import Callable

import pytest

from autogen_nb import run
from autogen_nb.core.chats.chat_flow import Flow, two_agent_chat
from autogen_nb.core.chats.reply_steps import AgentSpec, generate_function_call_reply, generate_oai_reply
from autogen_nb.engine import engine
from autogen_nb.errors import ConfigError
from autogen_nb.events import (
    Answer,
    Event,
    FunctionsReturned,
    HumanInputAsked,
    ModelAsked,
    ModelDelta,
    Question,
    Recorded,
    Returned,
    Transient,
)
from autogen_nb.messages import Message
from autogen_nb.run import OnCaller, OnEngine, iterate, settle, stream_events, surfaces
from tests.driven import adriven, driven, nobody

Drive = Callable[..., list[Event]]
both = pytest.mark.parametrize("drive", [driven, adriven], ids=["waited for", "awaited"])


def flow() -> Flow:
    return two_agent_chat(
        AgentSpec("user", (generate_function_call_reply,)),
        AgentSpec("assistant", (generate_oai_reply,)),
        opening=Message("go"),
    )


def test_sync_chat_and_sync_call_on_the_engine_are_refused() -> None:
    async def chat() -> None:
        driven(flow(), nobody)

    async def call() -> None:
        engine.call(asyncio.sleep(0))

    for adapter in (chat, call):
        with pytest.raises(ConfigError, match="await its async form"):
            engine.call(adapter())


@both
@pytest.mark.parametrize("wrong", [None, "hi", Returned((Message("hi"),)), FunctionsReturned(())])
def test_answer_of_the_wrong_kind_is_refused_before_it_is_kept(drive: Drive, wrong: object) -> None:
    log: list[Recorded] = []
    person_first = two_agent_chat(AgentSpec("user"), AgentSpec("assistant"), opening="person")

    with pytest.raises(TypeError, match="cannot be answered by"):
        drive(person_first, lambda _: OnCaller(lambda: wrong), log)

    assert isinstance(log[-1], HumanInputAsked)


class Hanging:
    def __init__(self) -> None:
        self.begun = threading.Event()
        self.let_go = threading.Event()

    async def work(self, emit: Callable[[Transient], None]) -> Answer:
        try:
            emit(ModelDelta("assistant", "hel"))
            self.begun.set()
            await asyncio.Event().wait()
            raise AssertionError("nobody sets the event")
        finally:
            await asyncio.sleep(0.02)
            self.let_go.set()

    def world(self, _: Question) -> OnEngine:
        return OnEngine(self.work)


def test_caller_who_leaves_cancels_the_stream() -> None:
    hanging = Hanging()
    log: list[Recorded] = []
    seen = iterate(stream_events(flow(), hanging.world, log, waits="sync"))
    next(event for event in seen if isinstance(event, ModelDelta))

    seen.close()

    assert hanging.let_go.is_set()
    assert log[-1] == ModelAsked("assistant", "user", 1)


def test_caller_is_told_that_time_passes() -> None:
    ticks: list[None] = []

    class Enough(Exception):
        pass

    def tick() -> None:
        ticks.append(None)
        if len(ticks) == 2:
            raise Enough

    with pytest.raises(Enough):
        list(iterate(stream_events(flow(), Hanging().world, tick=tick, waits="sync")))


def test_settled_work_returns_or_raises() -> None:
    async def work(value: int) -> float:
        return 6 / value

    async def inside(value: int) -> float:
        return settle(work(value))

    assert settle(work(3)) == asyncio.run(inside(3)) == 2
    with pytest.raises(ZeroDivisionError):
        settle(work(0))
    with pytest.raises(ZeroDivisionError):
        asyncio.run(inside(0))


def test_without_a_place_the_error_says_what_to_import(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surfaces, "_find", None)

    assert run.describer() is None
    with pytest.raises(ConfigError, match="import names from autogen_nb"):
        run.surface()
