from typing import Any

import pytest

from autogen_nb import ConversableAgent, GroupChat, GroupChatManager, UserProxyAgent
from autogen_nb.agents.society_of_mind_agent import SocietyOfMindAgent
from autogen_nb.testing import ScriptedModel


def society(writer: ScriptedModel, **settings: Any) -> SocietyOfMindAgent:
    agents = [
        ConversableAgent("writer", llm_config=writer, human_input_mode="NEVER"),
        ConversableAgent("critic", human_input_mode="NEVER", default_auto_reply="good"),
    ]
    group = GroupChat(agents, [], max_round=3, speaker_selection_method="round_robin")
    manager = GroupChatManager(group, human_input_mode="NEVER")
    return SocietyOfMindAgent("society", manager, human_input_mode="NEVER", **settings)


def ask(agent: SocietyOfMindAgent, turns: int = 1) -> Any:
    user = UserProxyAgent("user", human_input_mode="NEVER", code_execution_config=False, default_auto_reply="more")
    return user.initiate_chat(agent, message="Write.", max_turns=turns, silent=True)


@pytest.mark.parametrize(
    ("preparer", "reply"), [(None, "good"), (lambda agent, messages: f"{agent.name} {len(messages)}", "society 3")]
)
def test_the_groups_messages_become_the_reply(preparer: Any, reply: str) -> None:
    result = ask(society(ScriptedModel(["draft"]), response_preparer=preparer))

    assert result.chat_history[-1]["content"] == reply


def test_a_model_writes_the_reply_from_the_transcript() -> None:
    model = ScriptedModel(["final"])

    result = ask(society(ScriptedModel(["draft"]), llm_config=model, response_preparer="Answer."))

    sent = [(m["role"], m["content"]) for m in model.requests[0].messages]
    assert result.chat_history[-1]["content"] == "final"
    assert sent[1:] == [("user", "Write."), ("user", "draft"), ("user", "good"), ("system", "Answer.")]


def test_the_group_knows_the_earlier_messages_and_begins_anew() -> None:
    writer = ScriptedModel(["draft", "second"])

    ask(society(writer), turns=2)

    contents = [m["content"] for m in writer.requests[1].messages[1:]]
    assert contents == ["Write.", "good", "more"]
