"""Drives a flow: finds who answers its questions, and keeps and replays its log.

`drive` holds the logic; `events` and `aevents` only differ in how they wait.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, MutableSequence, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeGuard, get_args

from autogen_nb.core.chats.two_agent_chat import Flow
from autogen_nb.effects import ENDED, EffectJudged
from autogen_nb.engine import StreamBridge, engine
from autogen_nb.errors import ConfigError, SessionError
from autogen_nb.events import (
    ANSWERS,
    Answer,
    CodeInputAsked,
    CodeInputGiven,
    EffectAsked,
    Event,
    FunctionsAsked,
    FunctionsReturned,
    ModelDelta,
    ModelWaiting,
    OutputAdded,
    Question,
    ReasoningDelta,
    Recorded,
    Transient,
)
from autogen_nb.run.sync_bridge import heartbeat, holding, in_a_loop, interruptible, settle

Log: TypeAlias = MutableSequence[Recorded]
"""The record of a flow: a list will do."""

_QUESTIONS = get_args(Question)
_LOOK = 0.1
"""Seconds between two looks at which questions have come and gone while a person is asked."""


Inquired: TypeAlias = EffectJudged | CodeInputGiven


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question that comes up while one is answered, such as of code that runs.

    It is an item of a stream on the engine's loop, which waits there until it is answered. All but the first field is
    called in the caller's thread.
    """

    question: EffectAsked | CodeInputAsked
    answer: Callable[[Inquired], object]
    withdrawn: Callable[[], bool] = bool
    beside: Callable[[], Sequence["Inquiry"]] = tuple


@dataclass(frozen=True, slots=True)
class OnCaller:
    """The question is answered by a call in the caller's thread; the answer may be awaitable."""

    call: Callable[[], Any]


@dataclass(frozen=True, slots=True)
class OnEngine:
    """The question is answered on the engine's loop, by a stream whose last item is the answer.

    An `Inquiry` among its items is answered before the next item is taken.
    """

    stream: Callable[[], AsyncIterator[Transient | Inquiry | Answer]]


World: TypeAlias = Callable[[Question], OnCaller | OnEngine]
"""Says who answers a question."""


Stage: TypeAlias = StreamBridge[Transient | Inquiry | Answer]
Effect: TypeAlias = Event | OnCaller | Stage


def drive(flow: Flow, world: World, log: Log) -> Generator[Effect, Any, None]:
    """The events of a flow, and between them the effects that it needs: a call here, the next item of a pump."""
    position = 0

    def keep(event: Recorded) -> None:
        nonlocal position
        if position == len(log):
            log.append(event)
        elif log[position] != event:
            raise SessionError(
                f"the log does not belong to this chat: event {position} is {log[position]!r}, not {event!r}"
            )
        position += 1

    answer: Answer | None = None
    with contextlib.closing(flow):
        while True:
            try:
                event = flow.send(answer)
            except StopIteration:
                break
            answer = None
            keep(event)
            yield event
            if isinstance(event, _QUESTIONS):
                if position < len(log):
                    answer = _recorded(event, log[position])
                else:
                    answer = yield from _asked(event, world)
                    if not _fits(answer, event):
                        raise TypeError(f"{event!r} cannot be answered by {answer!r}")
                keep(answer)
                yield answer
    if position < len(log):
        raise SessionError(f"the log goes on after the end of this chat, with {log[position]!r}")


def _recorded(question: Question, answer: Recorded) -> Answer:
    if _fits(answer, question):
        return answer
    raise SessionError(f"the log does not belong to this chat: {question!r} is followed by {answer!r}")


def _fits(answer: object, question: Question) -> TypeGuard[Answer]:
    if isinstance(question, FunctionsAsked) and isinstance(answer, FunctionsReturned):
        return len(answer.contents) == len(question.calls)
    return isinstance(answer, ANSWERS[type(question)])


def _asked(question: Question, world: World) -> Generator[Effect, Any, Answer]:
    way = world(question)
    if isinstance(way, OnCaller):
        answer: Answer = yield way
        return answer
    pump = StreamBridge(way.stream)
    asked: dict[int, Inquiry] = {}
    while True:
        item: Transient | Inquiry | Answer = yield pump
        if isinstance(item, Inquiry):
            yield from _inquired(item, world, asked)
        elif isinstance(item, ModelDelta | ReasoningDelta | ModelWaiting | OutputAdded):
            yield item
        else:
            return item


def _inquired(inquiry: Inquiry, world: World, asked: dict[int, Inquiry]) -> Generator[Effect, Any, None]:
    """Shown like any question, as are those beside it; the log has them within the answer that they came up in.

    `asked` has each question that was put already, beside another one, by its identity, which none gets after it.
    """
    if id(inquiry) in asked or inquiry.withdrawn():
        return
    asked[id(inquiry)] = inquiry
    yield inquiry.question
    for number, (question, answer) in enumerate((yield OnCaller(lambda: _settled(inquiry, world, asked)))):
        if number:
            yield question
        yield kept(question, answer)


_Settled: TypeAlias = tuple[EffectAsked | CodeInputAsked, Inquired]


def _settled(inquiry: Inquiry, world: World, asked: dict[int, Inquiry]) -> list[_Settled] | Awaitable[list[_Settled]]:
    answer = _answered(inquiry, world)
    return _together(inquiry, answer, world, asked) if isinstance(answer, Awaitable) else [_give(inquiry, answer)]


async def _together(first: Inquiry, answer: Awaitable[Any], world: World, asked: dict[int, Inquiry]) -> list[_Settled]:
    settled: list[_Settled] = []
    waiting = {id(first): (first, asyncio.ensure_future(answer))}
    try:
        while waiting:
            tasks = [task for _, task in waiting.values()]
            await asyncio.wait(tasks, timeout=_LOOK, return_when=asyncio.FIRST_COMPLETED)
            for each, task in list(waiting.values()):
                if task.done():
                    settled.append(_give(each, task.result()))
                elif each.withdrawn():
                    await _cancelled(task)
                    settled.append(_give(each, None))
                else:
                    continue
                del waiting[id(each)]
            for each in first.beside() if waiting else ():
                if id(each) in asked or each.withdrawn():
                    continue
                asked[id(each)] = each
                more = _answered(each, world)
                if isinstance(more, Awaitable):
                    waiting[id(each)] = each, asyncio.ensure_future(more)
                else:
                    settled.append(_give(each, more))
    finally:
        for _, task in waiting.values():
            await _cancelled(task)
    # It is shown already.
    return sorted(settled, key=lambda each: each[0] is not first.question)


async def _cancelled(task: "asyncio.Future[Any]") -> None:
    task.cancel()
    await asyncio.wait([task])


def _answered(inquiry: Inquiry, world: World) -> Any:
    way = world(inquiry.question)
    assert isinstance(way, OnCaller), "who is asked while code runs is in the caller's thread"
    return way.call()


def _give(inquiry: Inquiry, answer: Any) -> _Settled:
    denied = isinstance(answer, EffectJudged) and not answer.allowed
    if inquiry.withdrawn() and not denied:
        answer = ENDED if isinstance(inquiry.question, EffectAsked) else CodeInputGiven(None)
    if not _fits(answer, inquiry.question):
        raise TypeError(f"{inquiry.question!r} cannot be answered by {answer!r}")
    assert isinstance(answer, EffectJudged | CodeInputGiven)
    inquiry.answer(answer)
    return inquiry.question, answer


def kept(question: EffectAsked | CodeInputAsked, answer: Inquired) -> Inquired:
    """The answer as it may be shown and kept: without a password."""
    if isinstance(question, CodeInputAsked) and question.password and isinstance(answer, CodeInputGiven):
        return replace(answer, text=None if answer.text is None else "")
    return answer


def events(
    flow: Flow, world: World, log: Log | None = None, tick: Callable[[], None] = lambda: None
) -> Generator[Event, None, None]:
    """The events of a flow, for a caller that waits; Ctrl-C lands in the caller and cancels what the engine does.

    `tick` is called ten times a second while the engine is at work.
    """
    if engine.here():
        raise ConfigError("a sync chat was started on the engine's own thread; await its async form instead")
    effects = drive(flow, world, [] if log is None else log)
    pump: Stage | None = None
    result: object = None
    # In a loop, asyncio's own handler would only cancel the task that is blocked here.
    with interruptible() if in_a_loop() else contextlib.nullcontext():
        try:
            while True:
                try:
                    effect = effects.send(result)
                except StopIteration:
                    return
                result = None
                if isinstance(effect, OnCaller):
                    with holding():
                        answer = effect.call()
                        result = settle(answer) if isinstance(answer, Awaitable) else answer
                elif isinstance(effect, StreamBridge):
                    pump = effect
                    result = pump.get(tick)
                else:
                    yield effect
        finally:
            effects.close()
            if pump is not None:
                pump.end()


async def aevents(flow: Flow, world: World, log: Log | None = None) -> AsyncGenerator[Event, None]:
    """The events of a flow, for a caller that awaits; cancelling the caller cancels what the engine does."""
    effects = drive(flow, world, [] if log is None else log)
    pump: Stage | None = None
    result: object = None
    with heartbeat():
        try:
            while True:
                try:
                    effect = effects.send(result)
                except StopIteration:
                    return
                result = None
                if isinstance(effect, OnCaller):
                    with interruptible():
                        answer = effect.call()
                    result = await answer if isinstance(answer, Awaitable) else answer
                elif isinstance(effect, StreamBridge):
                    pump = effect
                    result = await pump.aget()
                else:
                    yield effect
        finally:
            effects.close()
            if pump is not None:
                await pump.aend()
