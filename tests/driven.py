"""Worlds for the driver: models and executors that stream on the engine, people who answer in the caller's thread."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from functools import partial

from autogen_nb.core.chats.chat_flow import Flow
from autogen_nb.events import (
    Answer,
    CodeAsked,
    Event,
    ModelAsked,
    ModelDelta,
    OutputAdded,
    Question,
    Recorded,
    Transient,
)
from autogen_nb.outputs import Stream
from autogen_nb.run import Log, OnCaller, OnEngine, World, iterate, stream_events

SHOWN: dict[type, Transient] = {
    ModelAsked: ModelDelta("assistant", "..."),
    CodeAsked: OutputAdded("user", Stream("stdout", "...")),
}


def live(answer: Callable[[Question], Answer]) -> World:
    async def work(question: Question, emit: Callable[[Transient], None]) -> Answer:
        emit(SHOWN[type(question)])
        await asyncio.sleep(0)
        return answer(question)

    async def awaited(question: Question) -> Answer:
        await asyncio.sleep(0)
        return answer(question)

    def world(question: Question) -> OnCaller | OnEngine:
        if type(question) in SHOWN:
            return OnEngine(partial(work, question))
        return OnCaller(lambda: (awaited if "Human" in type(question).__name__ else answer)(question))

    return world


def nobody(question: Question) -> OnCaller | OnEngine:
    raise AssertionError(question)


def driven(flow: Flow, world: World, log: Log | None = None) -> list[Event]:
    return list(iterate(stream_events(flow, world, log, waits="sync")))


def adriven(flow: Flow, world: World, log: Log | None = None) -> list[Event]:
    async def main() -> list[Event]:
        return [event async for event in stream_events(flow, world, log)]

    return asyncio.run(main())


def from_log(whole: list[Recorded], log: Log) -> Callable[[Question], Answer]:
    def answer(_: Question) -> Answer:
        found = whole[len(log)]
        assert isinstance(found, Answer)
        return found

    return answer


def in_process(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=60, check=False
    )


SLOPES = """
import json, os, sys, autogen_nb

OURS = os.path.dirname(autogen_nb.__file__)

def counted(run, number, without):
    ran = 0

    def each(frame, event, _):
        nonlocal ran
        ran += event == "opcode"
        return each

    def entered(frame, event, _):
        code, caller = frame.f_code, frame.f_back
        if not code.co_filename.startswith(OURS) or code.co_name in without:
            return None
        if code.co_name == "<genexpr>" and caller is not None and caller.f_code.co_name in without:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return each

    sys.settrace(entered)
    try:
        run(number)
    finally:
        sys.settrace(None)
    return ran

def slopes(run, few, more, many, without=()):
    run(2)
    ran = [counted(run, number, without) for number in (few, more, many)]
    print(json.dumps([(ran[1] - ran[0]) / (more - few), (ran[2] - ran[1]) / (many - more)]))
"""
"""A program that prints how many bytecode instructions of the package each further message takes, early and late."""
