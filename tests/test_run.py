"""The driver: who answers, how a caller waits, and what is left when something breaks."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

import autogen_nb
from autogen_nb import run
from autogen_nb.core.chats.reply_steps import AgentSpec, generate_function_call_reply, generate_oai_reply
from autogen_nb.core.chats.two_agent_chat import Flow, two_agent_chat
from autogen_nb.errors import ConfigError, ModelUnavailable
from autogen_nb.events import (
    Answer,
    Event,
    FunctionsReturned,
    HumanInputAsked,
    HumanInputGiven,
    ModelAsked,
    ModelDelta,
    ModelReplied,
    OpeningGiven,
    Question,
    Recorded,
    Said,
    Transient,
)
from autogen_nb.human.terminal_human import TerminalHuman
from autogen_nb.messages import Message
from autogen_nb.run import Engine, OnCaller, OnEngine, Surface, World, aevents, engine, events, settle, surfaces
from autogen_nb.views.plain_view import PlainView
from tests.driven import adriven, driven, nobody, streaming

REPLIED = ModelReplied(Message("hello"))
CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
Drive = Callable[..., list[Event]]
both = pytest.mark.parametrize("drive", [driven, adriven], ids=["waited for", "awaited"])


def flow() -> Flow:
    """A chat of one question to a model."""
    return two_agent_chat(
        AgentSpec("user", (generate_function_call_reply,)),
        AgentSpec("assistant", (generate_oai_reply,)),
        opening=Message("go"),
    )


def person_first() -> Flow:
    """A chat of one question to a person."""
    return two_agent_chat(AgentSpec("user"), AgentSpec("assistant"), opening="person")


def of(*items: Transient | Answer) -> World:
    """A world whose every answer is such a stream."""
    return lambda _: streaming(*items)


def here(call: Callable[[], Any]) -> World:
    """A world whose every answer is such a call."""
    return lambda _: OnCaller(call)


@both
def test_deltas_come_between_question_and_answer(drive: Drive) -> None:
    log: list[Recorded] = []
    deltas = [ModelDelta("assistant", text) for text in ("hel", "lo")]

    seen = drive(flow(), of(*deltas, REPLIED), log)

    assert seen[2:6] == [ModelAsked("assistant", "user", 1), *deltas, REPLIED]
    assert log == [event for event in seen if event not in deltas]


@both
def test_question_is_in_the_log_before_the_world_is_asked(drive: Drive) -> None:
    log: list[Recorded] = []
    before: list[Recorded] = []

    def world(_: Question) -> OnEngine:
        before.extend(log)
        return streaming(REPLIED)

    drive(flow(), world, log)

    assert before[-1] == ModelAsked("assistant", "user", 1)


@both
def test_answers_of_the_caller_are_given_in_its_thread(drive: Drive) -> None:
    threads: list[threading.Thread] = []

    def call() -> Answer:
        threads.append(threading.current_thread())
        return HumanInputGiven("hi")

    drive(person_first(), here(call))

    assert threads == [threading.current_thread()]


@both
def test_streams_run_on_the_engine(drive: Drive) -> None:
    found: list[bool] = []

    async def stream() -> AsyncIterator[Transient | Answer]:
        found.append(engine.here())
        yield REPLIED

    drive(flow(), lambda _: OnEngine(stream))

    assert found == [True]
    assert not engine.here()


def test_sync_chat_works_inside_a_running_loop() -> None:
    async def answer() -> Answer:
        await asyncio.sleep(0)
        return HumanInputGiven("hi")

    async def cell() -> list[list[Event]]:
        return [driven(flow(), of(REPLIED)), driven(person_first(), here(answer))]

    by_model, by_person = asyncio.run(cell())

    assert REPLIED in by_model
    assert HumanInputGiven("hi") in by_person


def test_awaited_answer_leaves_the_loop_free() -> None:
    async def main() -> list[Event]:
        heard = asyncio.Event()

        async def answer() -> Answer:
            await heard.wait()
            return HumanInputGiven("hi")

        asyncio.get_running_loop().call_soon(heard.set)
        return [event async for event in aevents(person_first(), here(answer))]

    assert HumanInputGiven("hi") in asyncio.run(main())


def test_sync_chat_on_the_engine_is_refused() -> None:
    async def adapter() -> None:
        driven(flow(), nobody)

    with pytest.raises(ConfigError, match="await its async form"):
        engine.call(adapter())


def test_sync_call_on_the_engine_is_refused() -> None:
    async def nothing() -> None:
        return

    async def adapter() -> None:
        engine.call(nothing())

    with pytest.raises(ConfigError, match="await its async form"):
        engine.call(adapter())


class Broken(BaseException):
    """Ends more than an Exception does."""


@both
@pytest.mark.parametrize("error", [ModelUnavailable("no route", model="m"), Broken(), SystemExit(3)])
def test_failure_of_a_model_reaches_the_caller_and_the_log_can_be_resumed(drive: Drive, error: BaseException) -> None:
    log: list[Recorded] = []

    async def stream() -> AsyncIterator[Transient | Answer]:
        yield ModelDelta("assistant", "hel")
        raise error

    with pytest.raises(type(error)) as caught:
        drive(flow(), lambda _: OnEngine(stream), log)

    assert caught.value is error
    assert log[-1] == ModelAsked("assistant", "user", 1)
    assert drive(flow(), of(REPLIED), log)[-1] == log[-1]
    assert REPLIED in log


@both
def test_failure_of_a_callback_reaches_the_caller_and_the_log_can_be_resumed(drive: Drive) -> None:
    log: list[Recorded] = []

    with pytest.raises(ZeroDivisionError):
        drive(person_first(), here(lambda: 1 // 0), log)

    assert isinstance(log[-1], HumanInputAsked)
    assert Said("user", "assistant", Message("hi")) in drive(person_first(), here(lambda: HumanInputGiven("hi")), log)


@both
@pytest.mark.parametrize("wrong", [None, "hi", OpeningGiven(Message("hi")), FunctionsReturned(())])
def test_answer_of_the_wrong_kind_is_refused_before_it_is_kept(drive: Drive, wrong: object) -> None:
    log: list[Recorded] = []

    with pytest.raises(TypeError, match="cannot be answered by"):
        drive(person_first(), here(lambda: wrong), log)

    assert isinstance(log[-1], HumanInputAsked)


@both
def test_stream_without_an_answer_is_an_error(drive: Drive) -> None:
    with pytest.raises(LookupError, match="without an answer"):
        drive(flow(), of(ModelDelta("assistant", "hel")))


class Hanging:
    """A stream that writes once and then waits for ever; it tells when it has begun and when it has let go."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.let_go = threading.Event()

    async def stream(self) -> AsyncIterator[Transient | Answer]:
        """The stream."""
        try:
            yield ModelDelta("assistant", "hel")
            self.begun.set()
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.02)
            self.let_go.set()

    def world(self, _: Question) -> OnEngine:
        """A world that answers nothing else."""
        return OnEngine(self.stream)


def test_caller_who_leaves_cancels_the_stream() -> None:
    hanging = Hanging()
    log: list[Recorded] = []
    seen = events(flow(), hanging.world, log)
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
        list(events(flow(), Hanging().world, tick=tick))


def test_cancelled_caller_cancels_the_stream() -> None:
    hanging = Hanging()
    log: list[Recorded] = []

    async def chat() -> None:
        async for event in aevents(flow(), hanging.world, log):
            assert event

    async def main() -> None:
        task = asyncio.ensure_future(chat())
        while not hanging.begun.is_set():  # noqa: ASYNC110  # the event is another thread's
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert hanging.let_go.is_set()

    asyncio.run(main())

    assert log[-1] == ModelAsked("assistant", "user", 1)
    assert REPLIED in adriven(flow(), of(REPLIED), log)


def test_stream_outlives_a_loop_that_was_closed_under_it() -> None:
    resume = threading.Event()

    async def stream() -> AsyncIterator[Transient | Answer]:
        yield ModelDelta("assistant", "hel")
        await asyncio.to_thread(resume.wait)
        yield REPLIED

    pump = run.StreamBridge(stream)
    loop = asyncio.new_event_loop()
    loop.run_until_complete(pump.aget())
    waiting = loop.create_task(pump.aget())
    loop.run_until_complete(asyncio.sleep(0))
    waiting.cancel()
    loop.run_until_complete(asyncio.wait([waiting]))
    loop.close()
    resume.set()

    assert pump.get(lambda: None) == REPLIED


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


def test_endings_can_be_taken_back() -> None:
    own = Engine()

    async def ending() -> None:
        raise AssertionError

    forget = own.at_exit(ending)
    forget()
    forget()

    assert own._endings == []


def test_a_program_has_its_terminal() -> None:
    _ = autogen_nb.AssistantAgent

    assert run.surface() == Surface(PlainView, TerminalHuman)


def test_without_a_place_the_error_says_what_to_import(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surfaces, "_find", None)

    assert not run.has_surface()
    with pytest.raises(ConfigError, match="import autogen_nb"):
        run.surface()
