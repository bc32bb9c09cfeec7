import pytest

from autogen_nb.core.chats.code_step import RunCode
from autogen_nb.core.chats.reply_steps import AgentSpec, ConversationState, check_termination_and_human_reply
from autogen_nb.core.chats.two_agent_chat import sent_message, two_agent_chat
from autogen_nb.events import Ended, Recorded, ReplyGiven
from autogen_nb.messages import Message
from tests.core.worlds import answered, model_agent, play, said, scripted, spec, texts

BOTH = frozenset({("user", "assistant"), ("assistant", "user")})


def sent(
    *,
    request_reply: bool | None,
    replying: frozenset[tuple[str, str]] = frozenset(),
    state: ConversationState | None = None,
) -> list[Recorded]:
    limits = {"human_input_mode": "NEVER", "max_auto_replies": 2}
    user, assistant = (
        spec(name, check_termination_and_human_reply, default_reply=Message(reply), **limits)
        for name, reply in (("user", "on"), ("assistant", "yes"))
    )
    flow = sent_message(
        user,
        assistant,
        Message("hi"),
        request_reply=request_reply,
        replying=replying,
        state=state or ConversationState(),
    )
    return play(flow, scripted())


def test_counts_go_on_from_the_scene() -> None:
    state = ConversationState(auto_replies={("assistant", "user"): 2})

    assert texts(sent(request_reply=True, state=state)) == ["hi"]
    assert state.auto_replies["assistant", "user"] == 0


def test_who_stops_replying_is_not_asked_again() -> None:
    user, assistant = (
        spec("user", default_reply=Message("on")),
        AgentSpec("assistant", own=frozenset({"generate_reply"})),
    )
    flow = sent_message(user, assistant, Message("hi"), request_reply=True, replying=BOTH, state=ConversationState())

    assert texts(play(flow, scripted(ReplyGiven(Message("bye"), replying=False)))) == ["hi", "bye", "on"]


GO = Message("go")
ON = Message("on")


def user(**settings: object) -> AgentSpec:
    steps = (check_termination_and_human_reply, RunCode(confirm="always"))
    return spec("user", *steps, **settings)


@pytest.mark.parametrize(
    ("max_turns", "spoken"),
    [(0, []), (1, ["go", "a"]), (2, ["go", "a", "on", "b"]), (3, ["go", "a", "on", "b", "on", "c"])],
)
def test_initiator_sends_at_most_so_many_messages(max_turns: int, spoken: list[str]) -> None:
    flow = two_agent_chat(spec(default_reply=ON), model_agent(), opening=GO, max_turns=max_turns)

    events = play(flow, answered(said(*"abcd")))

    assert texts(events) == spoken
    assert events[-1] == Ended("max_turns", "The limit of turns was reached.")
