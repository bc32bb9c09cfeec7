"""Scripted worlds: plain functions that answer a flow's questions, and what plays a flow against one."""

from collections.abc import Callable
from typing import TypeVar

from autogen_nb.core.chats.chat_flow import Flow
from autogen_nb.core.chats.reply_steps import AgentSpec, Asking, Step
from autogen_nb.events import Answer, CodeAsked, CodeRan, Question, Recorded, Said
from autogen_nb.outputs import Stream

T = TypeVar("T")
World = Callable[[Question], Answer]


def play(flow: Flow, world: World) -> list[Recorded]:
    return outcome(flow, world)[0]


def outcome(asking: Asking[T], world: World) -> tuple[list[Recorded], T]:
    kept: list[Recorded] = []
    answer: Answer | None = None
    while True:
        try:
            event = asking.send(answer)
        except StopIteration as stop:
            return kept, stop.value
        kept.append(event)
        answer = None
        if isinstance(event, Question):
            answer = world(event)
            kept.append(answer)


def scripted(*answers: Answer) -> World:
    left = iter(answers)
    return lambda _: next(left)


def spec(name: str = "user", *steps: Step, **settings: object) -> AgentSpec:
    settings.setdefault("termination", lambda _: False)
    # The settings are those of AgentSpec, which checks none of them.
    return AgentSpec(name, steps, **settings)  # type: ignore[arg-type]


def echo(question: CodeAsked) -> CodeRan:
    return CodeRan(0, tuple(Stream("stdout", block.code + "\n") for block in question.blocks), len(question.blocks))


def texts(events: list[Recorded]) -> list[str]:
    return [event.message.text for event in events if isinstance(event, Said)]
