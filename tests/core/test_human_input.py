"""Human input and termination: the whole table of AutoGen 0.2, on the decision and through a chat."""

from itertools import product

import pytest

from autogen_nb.core.chats.human_input import MODES, Ask, Mode, Move, decide
from autogen_nb.core.chats.reply_steps import (
    AgentSpec,
    Asking,
    ConversationState,
    Outcome,
    Reply,
    Stop,
    check_termination_and_human_reply,
)
from autogen_nb.core.chats.two_agent_chat import two_agent_chat
from autogen_nb.events import HumanInputAsked, HumanInputGiven, Recorded, Said, TerminationAsked
from autogen_nb.messages import Message
from tests.core.worlds import answered, end, model_agent, outcome, play, said, scripted, spec, texts

TABLE: dict[tuple[Mode, bool, bool, bool], Move] = {
    # mode, the message ends the chat, the limit is met, the limit is 0
    ("ALWAYS", True, False, False): Ask("stop"),
    ("ALWAYS", True, True, False): Ask("stop"),
    ("ALWAYS", True, True, True): Ask("stop"),
    ("ALWAYS", False, False, False): Ask("auto"),
    ("ALWAYS", False, True, False): Ask("auto"),
    ("ALWAYS", False, True, True): Ask("send"),
    ("TERMINATE", True, True, False): Ask("stop"),
    ("TERMINATE", True, True, True): Ask("stop"),
    ("TERMINATE", False, True, False): Ask("auto"),
    ("TERMINATE", False, True, True): Ask("send"),
    ("TERMINATE", True, False, False): Ask("stop"),
    ("TERMINATE", False, False, False): "auto",
    ("NEVER", True, False, False): "terminated",
    ("NEVER", True, True, False): "terminated",
    ("NEVER", True, True, True): "terminated",
    ("NEVER", False, True, False): "max_auto_replies",
    ("NEVER", False, True, True): "max_auto_replies",
    ("NEVER", False, False, False): "auto",
}
ANSWERS = ("", "exit", "EXIT", " exit", "go on")
EMPTY = {"auto": None, "send": Reply(Message("", role="user")), "stop": Stop("terminated")}
CASES = list(product(TABLE.items(), ANSWERS))
IDS = [
    f"{mode}-{'T' if t else 'notT'}-{'C' if c else 'notC'}-{'M0' if zero else 'M'}-{answer!r}"
    for ((mode, t, c, zero), _), answer in CASES
]


def test_table_is_whole() -> None:
    possible = product(MODES, (False, True), ((False, False), (True, False), (True, True)))

    assert set(TABLE) == {(mode, terminated, met, zero) for mode, terminated, (met, zero) in possible}


@pytest.mark.parametrize(("situation", "move"), TABLE.items(), ids=[str(key) for key in TABLE])
def test_decision_is_that_of_autogen(situation: tuple[Mode, bool, bool, bool], move: Move) -> None:
    mode, terminated, met, zero = situation
    limit = 0 if zero else 2

    assert decide(mode, terminated=terminated, count=limit if met else limit - 1, limit=limit) == move
    assert decide(mode, terminated=terminated, count=limit + 1 if met else 0, limit=limit) == move


@pytest.mark.parametrize(("row", "answer"), CASES, ids=IDS)
def test_step_does_what_the_table_says(row: tuple[tuple[Mode, bool, bool, bool], Move], answer: str) -> None:
    (mode, terminated, met, zero), move = row
    limit = 0 if zero else 2
    before = limit if met else 1
    outcomes = {
        "": EMPTY[move.empty] if isinstance(move, Ask) else None,
        "exit": Stop("exit"),
    }
    expected = outcomes.get(answer, Reply(Message(answer, role="user")))
    unasked = {"auto": None, "terminated": Stop("terminated"), "max_auto_replies": Stop("max_auto_replies")}
    agent = spec("user", human_input_mode=mode, max_auto_replies=limit, termination=lambda _: terminated)
    state = ConversationState([[Said("assistant", "user", Message("x"))]])
    state.auto_replies["user", "assistant"] = before

    events, came_to = outcome(
        check_termination_and_human_reply(state, agent, "assistant"), scripted(HumanInputGiven(answer))
    )

    assert asked(events) == ([(terminated, move.empty)] if isinstance(move, Ask) else [])
    assert came_to == (expected if isinstance(move, Ask) else unasked[move])
    assert state.auto_replies["user", "assistant"] == (before + 1 if came_to is None else 0)


def test_prompt_says_what_an_empty_answer_does() -> None:
    agent = spec("user", human_input_mode="ALWAYS")
    state = ConversationState([[Said("assistant", "user", Message("x"))]])

    events, _ = outcome(check_termination_and_human_reply(state, agent, "assistant"), scripted(HumanInputGiven("")))

    assert events[0] == HumanInputAsked(
        "user",
        "assistant",
        "Your words to assistant (press Enter to let the agent go on by itself, type 'exit' to end the chat): ",
        empty_means="auto",
    )


def test_always_asks_at_every_message_and_does_not_look_at_the_limit() -> None:
    agent = spec(
        "user",
        check_termination_and_human_reply,
        human_input_mode="ALWAYS",
        max_auto_replies=1,
        default_reply=Message("on"),
    )

    events = play(
        two_agent_chat(agent, model_agent(), opening=Message("go")),
        answered(said("a", "b", "c", "d"), ["", "", "words", "exit"]),
    )

    assert texts(events) == ["go", "a", "on", "b", "on", "c", "words", "d"]
    assert end(events) == "exit"


def test_terminate_asks_at_the_limit_until_words_are_typed() -> None:
    agent = spec(
        "user",
        check_termination_and_human_reply,
        human_input_mode="TERMINATE",
        max_auto_replies=2,
        default_reply=Message("on"),
    )

    events = play(
        two_agent_chat(agent, model_agent(), opening=Message("go")),
        answered(said(*"abcdefgh"), ["", "", "words", "exit"]),
    )

    assert texts(events) == ["go", "a", "on", "b", "on", "c", "on", "d", "on", "e", "words", "f", "on", "g", "on", "h"]
    assert [each[0] for each in asked(events)] == [False] * 4


def test_never_stops_at_the_limit() -> None:
    agent = spec("user", check_termination_and_human_reply, max_auto_replies=2, default_reply=Message("on"))

    events = play(two_agent_chat(agent, model_agent(), opening=Message("go")), answered(said(*"abc")))

    assert texts(events) == ["go", "a", "on", "b", "on", "c"]
    assert end(events) == "max_auto_replies"
    assert asked(events) == []


def test_empty_words_are_sent_where_no_reply_is_allowed() -> None:
    agent = spec("user", check_termination_and_human_reply, human_input_mode="ALWAYS", max_auto_replies=0)

    events = play(two_agent_chat(agent, model_agent(), opening=Message("go")), answered(said("a", "b"), ["", "exit"]))

    assert [event.message for event in events if isinstance(event, Said)][2] == Message("", role="user")


def test_replies_in_a_row_are_counted_for_each_sender() -> None:
    state = ConversationState()
    state.auto_replies["user", "one"] = 1

    assert (state.auto_replies["user", "one"], state.auto_replies["user", "two"]) == (1, 0)


def test_termination_comes_before_any_code_runs() -> None:
    def later(_scene: ConversationState, _party: AgentSpec, _peer: str) -> Asking[Outcome]:
        raise AssertionError
        yield

    agent = spec("user", check_termination_and_human_reply, later, termination=lambda message: message.text == "end")

    events = play(two_agent_chat(agent, model_agent(), opening=Message("end")), answered(said("end")))

    assert texts(events) == ["end", "end"]
    assert end(events) == "terminated"


def test_agents_own_predicate_is_asked_for() -> None:
    agent = spec("user", check_termination_and_human_reply, termination="ask")

    events = play(
        two_agent_chat(agent, model_agent(), opening=Message("go")),
        answered(said("a"), terminate=lambda q: q.count == 2),
    )

    assert TerminationAsked("user", "assistant", 2) in events
    assert end(events) == "terminated"


TOOLS = [{"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}} for name in "ab"]
TOLD = "The user interrupted: this was not called."


@pytest.mark.parametrize(
    ("last", "responses"),
    [
        pytest.param(
            Message(None, tool_calls=TOOLS),
            [
                {"tool_call_id": "a", "role": "tool", "content": TOLD},
                {"tool_call_id": "b", "role": "tool", "content": TOLD},
            ],
            id="tools",
        ),
        pytest.param(
            Message(None, function_call={"name": "f", "arguments": "{}"}),
            [{"role": "function", "name": "f", "content": TOLD}],
            id="a function",
        ),
        pytest.param(Message("text"), None, id="none"),
    ],
)
def test_words_answer_the_calls_that_they_interrupt(last: Message, responses: list[object] | None) -> None:
    state = ConversationState([[Said("assistant", "user", last)]])
    agent = spec("user", human_input_mode="ALWAYS")

    _, came_to = outcome(check_termination_and_human_reply(state, agent, "assistant"), scripted(HumanInputGiven("no")))

    assert came_to == Reply(Message("no", role="user", tool_responses=responses))


def asked(events: list[Recorded]) -> list[tuple[bool, str]]:
    """The questions to the person: whether the message ends the chat, and what an empty answer means."""
    return [(each.terminated, each.empty_means) for each in events if isinstance(each, HumanInputAsked)]
