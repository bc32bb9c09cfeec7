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
    """Every event of a flow, its questions followed by the world's answers."""
    return outcome(flow, world)[0]


def outcome(asking: Asking[T], world: World) -> tuple[list[Recorded], T]:
    """Every event of a flow or a step of one, and what it comes to."""
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
    """A world that gives these answers in turn; asked once more, it fails."""
    left = iter(answers)
    return lambda _: next(left)


def spec(name: str = "user", *steps: Step, **settings: object) -> AgentSpec:
    """An agent that tests nothing and says nothing, but for what is given."""
    settings.setdefault("termination", never)
    # The settings are those of AgentSpec, which checks none of them.
    return AgentSpec(name, steps, **settings)  # type: ignore[arg-type]


def never(_: Message) -> bool:
    """No message ends the chat."""
    return False


def model_agent(name: str = "assistant") -> AgentSpec:
    """An agent that a model speaks for."""
    return spec(name, generate_oai_reply)


def say_always(text: str) -> Respond:
    """A member of a team that always says the same."""

    def respond(_: TeamState, __: str) -> Asking[TeamReply | Stop]:
        return TeamReply(Message(text))
        yield  # a generator that asks nothing

    return respond


def said(*messages: str | Message) -> Iterator[ModelReplied]:
    """A model's replies."""
    return (ModelReplied(Message.of(message)) for message in messages)


def answered(
    models: Iterable[ModelReplied] = (),
    people: Iterable[str] = (),
    terminate: Callable[[TerminationAsked], bool] = lambda _: False,
    ran: Callable[[CodeAsked], CodeRan] | None = None,
) -> World:
    """A world of models, people, predicates and executors; code prints itself unless `ran` says otherwise."""
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
    """Code that prints itself."""
    return CodeRan(0, tuple(Stream("stdout", block.code + "\n") for block in question.blocks), len(question.blocks))


def texts(events: list[Recorded]) -> list[str]:
    """What was said, in order."""
    return [event.message.text for event in events if isinstance(event, Said)]


def end(events: list[Recorded]) -> str:
    """The reason for which a chat ended."""
    last = events[-1]
    assert isinstance(last, Ended)
    return last.reason
