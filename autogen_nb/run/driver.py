"""Drives a flow: gets the answers to its questions, and writes and replays its log."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, MutableSequence, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeGuard, get_args

from autogen_nb.core.chats.chat_flow import Flow
from autogen_nb.effects import ENDED, EffectJudged
from autogen_nb.engine import EngineCall, engine
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
    ModelReading,
    ModelRetry,
    OutputAdded,
    Question,
    ReasoningDelta,
    Recorded,
    Transient,
)
from autogen_nb.run.sync_bridge import CALLER_BLOCKED, Waits, during, heartbeat, in_a_loop, interruptible, settle

Log: TypeAlias = MutableSequence[Recorded]

_QUESTIONS = get_args(Question)
_INQUIRY_CHECK_SECONDS = 0.1


InquiryAnswer: TypeAlias = EffectJudged | CodeInputGiven


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question of running code, such as `input()`; the code waits until the caller's thread calls `answer`.

    `withdrawn` returns True if the code no longer needs an answer. `simultaneous` returns the inquiries of the same
    code that no earlier call has returned.
    """

    question: EffectAsked | CodeInputAsked
    answer: Callable[[InquiryAnswer], object]
    withdrawn: Callable[[], bool] = bool
    simultaneous: Callable[[], Sequence["Inquiry"]] = tuple


@dataclass(frozen=True, slots=True)
class OnCaller:
    """A call in the caller's thread that returns the answer, the work on the engine to get it, or an awaitable."""

    call: Callable[[], Any]


@dataclass(frozen=True, slots=True)
class OnEngine:
    """Work on the engine's loop: calls its argument with transients and inquiries, and returns the answer."""

    work: Callable[[Callable[[Transient | Inquiry], None]], Awaitable[Answer]]


World: TypeAlias = Callable[[Question], OnCaller | OnEngine]
"""Chooses how a question gets its answer."""


Stage: TypeAlias = EngineCall[Transient | Inquiry | Answer]
Step: TypeAlias = Event | OnCaller | Stage


def drive(flow: Flow, world: World, log: Log) -> Generator[Step, Any, None]:
    """Yields events, `OnCaller`s and `EngineCall`s; the caller sends the call's result, or the engine's next item."""
    position = 0

    def record(event: Recorded) -> None:
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
            record(event)
            yield event
            if isinstance(event, _QUESTIONS):
                if position < len(log):
                    answer = _logged_answer(event, log[position])
                else:
                    answer = yield from _find_answer(event, world)
                    if not _fits(answer, event):
                        raise TypeError(f"{event!r} cannot be answered by {answer!r}")
                record(answer)
                yield answer
    if position < len(log):
        raise SessionError(f"the log goes on after the end of this chat, with {log[position]!r}")


def _logged_answer(question: Question, answer: Recorded) -> Answer:
    if _fits(answer, question):
        return answer
    raise SessionError(f"the log does not belong to this chat: {question!r} is followed by {answer!r}")


def _fits(answer: object, question: Question) -> TypeGuard[Answer]:
    if isinstance(question, FunctionsAsked) and isinstance(answer, FunctionsReturned):
        return len(answer.contents) == len(question.calls)
    return isinstance(answer, ANSWERS[type(question)])


def _find_answer(question: Question, world: World) -> Generator[Step, Any, Answer]:
    responder = world(question)
    if isinstance(responder, OnCaller):
        answer: Answer | OnEngine = yield responder
        if not isinstance(answer, OnEngine):
            return answer
        responder = answer
    stage = EngineCall[Transient | Inquiry | Answer](responder.work)
    known: dict[int, Inquiry] = {}
    while True:
        item: Transient | Inquiry | Answer = yield stage
        if isinstance(item, Inquiry):
            yield from _show_inquiry(item, world, known)
        elif isinstance(item, ModelDelta | ReasoningDelta | ModelRetry | ModelReading | OutputAdded):
            yield item
        else:
            return item


def _show_inquiry(inquiry: Inquiry, world: World, known: dict[int, Inquiry]) -> Generator[Step, Any, None]:
    # `known` keeps each inquiry alive, so that Python does not give its id to another inquiry.
    if id(inquiry) in known or inquiry.withdrawn():
        return
    known[id(inquiry)] = inquiry
    yield inquiry.question
    for number, (question, answer) in enumerate((yield OnCaller(lambda: _settle(inquiry, world, known)))):
        if number:
            yield question
        yield without_password(question, answer)


_Exchange: TypeAlias = tuple[EffectAsked | CodeInputAsked, InquiryAnswer]


def _settle(inquiry: Inquiry, world: World, known: dict[int, Inquiry]) -> list[_Exchange] | Awaitable[list[_Exchange]]:
    answer = _call_responder(inquiry, world)
    return (
        _settle_together(inquiry, answer, world, known) if isinstance(answer, Awaitable) else [_send(inquiry, answer)]
    )


async def _settle_together(
    first: Inquiry, answer: Awaitable[Any], world: World, known: dict[int, Inquiry]
) -> list[_Exchange]:
    settled: list[_Exchange] = []
    waiting = {id(first): (first, asyncio.ensure_future(answer))}
    try:
        while waiting:
            tasks = [task for _, task in waiting.values()]
            await asyncio.wait(tasks, timeout=_INQUIRY_CHECK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            for inquiry, task in list(waiting.values()):
                if task.done():
                    settled.append(_send(inquiry, task.result()))
                elif inquiry.withdrawn():
                    await _cancel(task)
                    settled.append(_send(inquiry, None))
                else:
                    continue
                del waiting[id(inquiry)]
            for inquiry in first.simultaneous() if waiting else ():
                if id(inquiry) in known or inquiry.withdrawn():
                    continue
                known[id(inquiry)] = inquiry
                answer_or_task = _call_responder(inquiry, world)
                if isinstance(answer_or_task, Awaitable):
                    waiting[id(inquiry)] = inquiry, asyncio.ensure_future(answer_or_task)
                else:
                    settled.append(_send(inquiry, answer_or_task))
    finally:
        for _, task in waiting.values():
            await _cancel(task)
    # `_show_inquiry` has already yielded the first question, and expects its answer first.
    return sorted(settled, key=lambda item: item[0] is not first.question)


async def _cancel(task: "asyncio.Future[Any]") -> None:
    task.cancel()
    await asyncio.wait([task])


def _call_responder(inquiry: Inquiry, world: World) -> Any:
    responder = world(inquiry.question)
    assert isinstance(responder, OnCaller), "the caller's thread answers questions of running code"
    return responder.call()


def _send(inquiry: Inquiry, answer: Any) -> _Exchange:
    denied = isinstance(answer, EffectJudged) and not answer.allowed
    if inquiry.withdrawn() and not denied:
        answer = ENDED if isinstance(inquiry.question, EffectAsked) else CodeInputGiven(None)
    if not _fits(answer, inquiry.question):
        raise TypeError(f"{inquiry.question!r} cannot be answered by {answer!r}")
    assert isinstance(answer, EffectJudged | CodeInputGiven)
    inquiry.answer(answer)
    return inquiry.question, answer


def without_password(question: EffectAsked | CodeInputAsked, answer: InquiryAnswer) -> InquiryAnswer:
    if isinstance(question, CodeInputAsked) and question.password and isinstance(answer, CodeInputGiven):
        return replace(answer, text=None if answer.text is None else "")
    return answer


async def stream_events(
    flow: Flow, world: World, log: Log | None = None, tick: Callable[[], None] = lambda: None, *, waits: Waits = "async"
) -> AsyncGenerator[Event, None]:
    """Yields the events of a flow and calls `tick` regularly; an interrupt or a cancellation cancels the engine's work.

    If `waits` is "sync", the generator never suspends, so `iterate` can yield its events to a sync caller.
    """
    blocks = waits == "sync"
    if blocks and engine.is_current_thread():
        raise ConfigError("a sync chat was started on the engine's own thread; await its async form instead")
    steps = drive(flow, world, [] if log is None else log)
    stage: Stage | None = None
    answer: object = None
    # In a running loop, asyncio's handler of Ctrl-C cannot interrupt blocking code.
    blocking_context = interruptible() if in_a_loop() else contextlib.nullcontext()
    with blocking_context if blocks else heartbeat(tick):
        try:
            while True:
                try:
                    step = steps.send(answer)
                except StopIteration:
                    return
                answer = None
                if isinstance(step, OnCaller):
                    with during(CALLER_BLOCKED, True) if blocks else interruptible():
                        answer = step.call()
                        if blocks and isinstance(answer, Awaitable):
                            answer = settle(answer)
                    if isinstance(answer, Awaitable):
                        answer = await answer
                elif isinstance(step, EngineCall):
                    stage = step
                    answer = stage.get(tick) if blocks else await stage.aget()
                else:
                    yield step
        finally:
            steps.close()
            if stage is not None and blocks:
                stage.end()
            elif stage is not None:
                await stage.aend()
