from autogen_nb.core.chats.reply_steps import AgentSpec, ConversationState, check_termination_and_human_reply
from autogen_nb.core.chats.two_agent_chat import sent_message
from autogen_nb.events import Recorded, ReplyGiven
from autogen_nb.messages import Message
from tests.core.worlds import play, scripted, spec, texts

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
