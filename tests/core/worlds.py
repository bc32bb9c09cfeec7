"""Scripted worlds: plain functions that answer a flow's questions, and what plays a flow against one."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from autogen_nb.core.chats.reply_steps import AgentSpec, Asking, Step, Stop, generate_oai_reply
from autogen_nb.core.chats.team_replies import Respond, TeamReply, TeamState
from autogen_nb.core.chats.two_agent_chat import Flow
from autogen_nb.events import (
    Answer,
    CodeAsked,
    CodeRan,
    Ended,
    HumanInputAsked,
    HumanInputGiven,
    ModelAsked,
    ModelReplied,
    Question,
    Recorded,
    Said,
    TerminationAsked,
    TerminationJudged,
)
from autogen_nb.messages import Message
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
    settings.setdefault("termination", never)
    # The settings are those of AgentSpec, which checks none of them.
    return AgentSpec(name, steps, **settings)  # type: ignore[arg-type]


def never(_: Message) -> bool:
    return False


def model_agent(name: str = "assistant") -> AgentSpec:
    return spec(name, generate_oai_reply)


def say_always(text: str) -> Respond:
    def respond(_: TeamState, __: str) -> Asking[TeamReply | Stop]:
        return TeamReply(Message(text))
        yield  # a generator that asks nothing

    return respond


def said(*messages: str | Message) -> Iterator[ModelReplied]:
    return (ModelReplied(Message.of(message)) for message in messages)


def answered(
    models: Iterable[ModelReplied] = (),
    people: Iterable[str] = (),
    terminate: Callable[[TerminationAsked], bool] = lambda _: False,
    ran: Callable[[CodeAsked], CodeRan] | None = None,
) -> World:
    replies, words = iter(models), iter(people)

    def world(question: Question) -> Answer:
        match question:
            case ModelAsked():
                return next(replies)
            case HumanInputAsked():
                return HumanInputGiven(next(words))
            case TerminationAsked():
                return TerminationJudged(terminate(question))
            case CodeAsked():
                return (ran or echo)(question)
            case _:
                raise AssertionError(question)

    return world


def echo(question: CodeAsked) -> CodeRan:
    return CodeRan(0, tuple(Stream("stdout", block.code + "\n") for block in question.blocks), len(question.blocks))


def texts(events: list[Recorded]) -> list[str]:
    return [event.message.text for event in events if isinstance(event, Said)]


def end(events: list[Recorded]) -> str:
    last = events[-1]
    assert isinstance(last, Ended)
    return last.reason
