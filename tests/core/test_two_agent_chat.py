"""The two-agent chat: openings, turns, ends, and what holds for any world whatever it answers."""

import pytest

from autogen_nb.core.chats.code_step import RunCode
from autogen_nb.core.chats.reply_steps import (
    AgentSpec,
    Asking,
    ConversationState,
    Outcome,
    Stop,
    check_termination_and_human_reply,
)
from autogen_nb.core.chats.two_agent_chat import Opening, two_agent_chat
from autogen_nb.events import (
    Answer,
    ApprovalGiven,
    ChatStarted,
    Ended,
    HumanInputAsked,
    HumanInputGiven,
    ModelAsked,
    ModelReplied,
    OpeningAsked,
    OpeningGiven,
    Recorded,
    Said,
    SummaryAsked,
    SummaryGiven,
)
from autogen_nb.messages import Message
from tests.core.worlds import answered, end, model_agent, play, said, scripted, spec, texts

GO = Message("go")
ON = Message("on")


def user(**settings: object) -> AgentSpec:
    """An agent that runs code, asks its person, and goes on by itself."""
    steps = (check_termination_and_human_reply, RunCode(confirm="always"))
    return spec("user", *steps, **settings)


def test_events_of_a_small_chat() -> None:
    replied = ModelReplied(Message("hello"), model="m")

    events = play(two_agent_chat(spec(), model_agent(), opening=Message("hi")), scripted(replied))

    assert events == [
        ChatStarted("user", "assistant"),
        Said("user", "assistant", Message("hi")),
        ModelAsked("assistant", "user", 1),
        replied,
        Said("assistant", "user", Message("hello")),
        Ended("answered", "user has nothing to add."),
    ]


@pytest.mark.parametrize(
    ("max_turns", "spoken"),
    [
        (0, []),
        (1, ["go", "a"]),
        (2, ["go", "a", "on", "b"]),
        (3, ["go", "a", "on", "b", "on", "c"]),
    ],
)
def test_initiator_sends_at_most_so_many_messages(max_turns: int, spoken: list[str]) -> None:
    flow = two_agent_chat(spec(default_reply=ON), model_agent(), opening=GO, max_turns=max_turns)

    events = play(flow, answered(said(*"abcd")))

    assert texts(events) == spoken
    assert events[-1] == Ended("max_turns", "The limit of turns was reached.")


def test_chat_may_end_before_its_limit_of_turns() -> None:
    events = play(two_agent_chat(spec(), model_agent(), opening=GO, max_turns=5), answered(said("a")))

    assert end(events) == "answered"


@pytest.mark.parametrize("initiating", [True, False])
def test_default_reply_keeps_both_going(initiating: bool) -> None:
    empty, silent = spec("empty", default_reply=Message("")), spec("silent")
    pair = (empty, silent) if initiating else (silent, empty)

    events = play(two_agent_chat(*pair, opening=GO), scripted())

    assert texts(events) == [["go"], ["go", ""]][not initiating]
    assert events[-1] == Ended("answered", "silent has nothing to add.")


def test_empty_messages_are_exchanged_until_the_limit() -> None:
    one, two = (
        spec(name, check_termination_and_human_reply, default_reply=Message(""), max_auto_replies=3)
        for name in ("one", "two")
    )

    events = play(two_agent_chat(one, two, opening=GO), scripted())

    assert texts(events) == ["go", *[""] * 6]
    assert events[-1] == Ended("max_auto_replies", "two has reached the limit of replies without a person.")


@pytest.mark.parametrize(
    ("opening", "question", "answer"),
    [
        pytest.param("ask", OpeningAsked("user", "assistant"), OpeningGiven(Message("hi", name="x")), id="the code"),
        pytest.param(
            "person",
            HumanInputAsked("user", "assistant", "Your first message to assistant: ", empty_means="send"),
            HumanInputGiven("hi"),
            id="the person",
        ),
        pytest.param("person", None, HumanInputGiven("exit"), id="the person, any words"),
        pytest.param("person", None, HumanInputGiven(""), id="the person, none"),
    ],
)
def test_opening_is_asked_for(
    opening: Opening, question: Recorded | None, answer: OpeningGiven | HumanInputGiven
) -> None:
    events = play(two_agent_chat(spec(), spec("assistant"), opening=opening), scripted(answer))

    assert events[1] == (question or events[1])
    assert events[3] == Said(
        "user", "assistant", answer.message if isinstance(answer, OpeningGiven) else Message(answer.text)
    )


def test_summary_is_asked_for_before_the_end() -> None:
    flow = two_agent_chat(spec(), spec("assistant"), opening=GO, summarise="ask")

    events = play(flow, scripted(SummaryGiven("short")))

    assert events[2:] == [
        SummaryAsked("user", "assistant"),
        SummaryGiven("short"),
        Ended("answered", "assistant has nothing to add."),
    ]


@pytest.mark.parametrize(
    ("settings", "answers", "ended"),
    [
        pytest.param({}, [], Ended("answered", "user has nothing to add."), id="answered"),
        pytest.param(
            {"termination": lambda _: True},
            [],
            Ended("terminated", "user read the word that ends the chat."),
            id="terminated",
        ),
        pytest.param(
            {"human_input_mode": "ALWAYS"},
            [HumanInputGiven("exit")],
            Ended("exit", "The person ended the chat."),
            id="exit",
        ),
        pytest.param(
            {"human_input_mode": "ALWAYS"},
            [HumanInputGiven(""), ApprovalGiven("stop")],
            Ended("stopped", "The person stopped the chat."),
            id="stopped",
        ),
        pytest.param(
            {"max_auto_replies": 0},
            [],
            Ended("max_auto_replies", "user has reached the limit of replies without a person."),
            id="max_auto_replies",
        ),
    ],
)
def test_every_end_says_why(settings: dict[str, object], answers: list[Answer], ended: Ended) -> None:
    code = "```python\nx\n```" if ended.reason == "stopped" else "done"

    events = play(two_agent_chat(user(**settings), model_agent(), opening=GO), scripted(*said(code), *answers))

    assert events[-1] == ended


def test_step_may_say_why_it_stops() -> None:
    def step(_scene: ConversationState, _party: AgentSpec, _peer: str) -> Asking[Outcome]:
        yield from ()
        return Stop("stopped", "Enough.")

    assert play(two_agent_chat(spec(), spec("assistant", step), opening=GO), scripted())[-1] == Ended(
        "stopped", "Enough."
    )


def test_conversation_goes_on_where_it_was() -> None:
    state = ConversationState([[Said("user", "assistant", Message("1")), Said("assistant", "user", Message("2"))]])

    events = play(two_agent_chat(spec(), model_agent(), opening=GO, state=state), scripted(*said("3")))

    assert ModelAsked("assistant", "user", 3) in events
    assert len(state.exchanged("user", "assistant")) == 4


def test_state_of_a_chat_is_not_shared() -> None:
    agents = user(max_auto_replies=1, default_reply=ON), model_agent()

    played = [play(two_agent_chat(*agents, opening=GO), answered(said(*"ab"))) for _ in range(2)]

    assert played[0] == played[1]
    assert end(played[0]) == "max_auto_replies"
