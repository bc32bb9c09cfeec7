"""Questions that come up while code runs: asked in the caller's thread, shown, and kept within the answer."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable

import pytest

from autogen_nb.core.chats.two_agent_chat import Flow
from autogen_nb.effects import Effect, EffectJudged
from autogen_nb.events import (
    Answer,
    CodeAsked,
    CodeInputAsked,
    CodeInputGiven,
    CodeRan,
    EffectAsked,
    Event,
    ModelReplied,
    OutputAdded,
    Question,
    Recorded,
    Transient,
)
from autogen_nb.messages import CodeBlock, Message
from autogen_nb.outputs import Stream
from autogen_nb.run import Inquired, Inquiry, OnCaller, OnEngine, World
from tests.driven import adriven, driven, streaming

Drive = Callable[..., list[Event]]
both = pytest.mark.parametrize("drive", [driven, adriven], ids=["waited for", "awaited"])
ACT = EffectAsked("user", Effect("network", "api.example.org", "connects to api.example.org"))
PASSWORD = CodeInputAsked("user", "Password: ", password=True)


def flow() -> Flow:
    """One block of code."""
    answer = yield CodeAsked("user", (CodeBlock("python", "x"),))
    assert isinstance(answer, CodeRan)


def inquired(
    question: EffectAsked | CodeInputAsked, seen: list[Inquired]
) -> AsyncIterator[Transient | Inquiry | Answer]:
    """A run that asks once, on the engine's loop."""

    async def stream() -> AsyncIterator[Transient | Inquiry | Answer]:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Inquired] = loop.create_future()
        yield Inquiry(question, lambda given: loop.call_soon_threadsafe(answer.set_result, given))
        seen.append(await answer)
        yield CodeRan(0, inner=(question, seen[0]))

    return stream()


def world(question: EffectAsked | CodeInputAsked, answer: Inquired, seen: list[Inquired], threads: list[int]) -> World:
    """A person who gives this answer while code runs."""

    def answered() -> Inquired:
        threads.append(threading.get_ident())
        return answer

    def asked(each: Question) -> OnCaller | OnEngine:
        return OnEngine(lambda: inquired(question, seen)) if isinstance(each, CodeAsked) else OnCaller(answered)

    return asked


@both
def test_code_that_runs_asks_and_goes_on_with_the_answer(drive: Drive) -> None:
    log: list[Recorded] = []
    seen: list[Inquired] = []
    threads: list[int] = []
    given = EffectJudged(allowed=True, by="you")

    events = drive(flow(), world(ACT, given, seen, threads), log)

    assert events[1:3] == [ACT, given]
    assert log == [events[0], CodeRan(0, inner=(ACT, given))]
    assert seen == [given]
    assert threads == [threading.get_ident()]


@both
def test_every_question_of_many_is_answered(drive: Drive) -> None:
    many, places = 50, set[int]()

    def inquiry(answer: "asyncio.Future[Inquired]") -> Inquiry:
        """A question, in the memory of one that is gone where there is such memory."""
        loop = asyncio.get_running_loop()
        spare = [Inquiry(ACT, lambda given: loop.call_soon_threadsafe(answer.set_result, given)) for _ in range(500)]
        found = next((each for each in spare if id(each) in places), spare[0])
        places.add(id(found))
        return found

    async def stream() -> AsyncIterator[Transient | Inquiry | Answer]:
        for number in range(many):
            answer: asyncio.Future[Inquired] = asyncio.get_running_loop().create_future()
            yield inquiry(answer)
            await asyncio.wait_for(answer, 60)
            yield OutputAdded("user", Stream("stdout", f"{number}\n"))
        yield CodeRan(0)

    def asked(each: Question) -> OnCaller | OnEngine:
        given = EffectJudged(allowed=True, by="you")
        return OnEngine(stream) if isinstance(each, CodeAsked) else OnCaller(lambda: given)

    events = drive(flow(), asked, [])

    assert sum(isinstance(event, EffectJudged) for event in events) == many


@both
def test_password_is_given_to_the_code_alone(drive: Drive) -> None:
    seen: list[Inquired] = []

    events = drive(flow(), world(PASSWORD, CodeInputGiven("hunter2"), seen, []))

    assert seen == [CodeInputGiven("hunter2")]
    assert events[1:3] == [PASSWORD, CodeInputGiven("")]


@both
def test_replay_asks_nobody(drive: Drive) -> None:
    given = EffectJudged(allowed=False, reason="no")
    log: list[Recorded] = [CodeAsked("user", (CodeBlock("python", "x"),)), CodeRan(1, inner=(ACT, given))]

    events = drive(flow(), lambda _: streaming(ModelReplied(Message("not asked"))), log)

    assert events == log


@both
def test_wrong_kind_of_answer_is_an_error(drive: Drive) -> None:
    with pytest.raises(TypeError, match="cannot be answered"):
        drive(flow(), world(ACT, CodeInputGiven("yes"), [], []))
