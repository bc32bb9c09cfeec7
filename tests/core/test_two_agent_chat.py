import pytest

from autogen_nb.core.chats.code_step import RunCode
from autogen_nb.core.chats.reply_steps import AgentSpec, check_termination_and_human_reply
from autogen_nb.core.chats.two_agent_chat import two_agent_chat
from autogen_nb.events import Ended
from autogen_nb.messages import Message
from tests.core.worlds import answered, model_agent, play, said, spec, texts

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
