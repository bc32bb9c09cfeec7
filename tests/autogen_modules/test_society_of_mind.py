from typing import Any

import pytest

from autogen_nb import AssistantAgent, ConversableAgent, GroupChat, GroupChatManager, UserProxyAgent
from autogen_nb.agents.group_manager import SocietyOfMindAgent
from autogen_nb.agents.math_user_proxy import MathUserProxyAgent
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


def solve(*replies: str, **settings: Any) -> list[str]:
    agent = MathUserProxyAgent(code_execution_config={"use_docker": False}, **settings)
    solver = AssistantAgent("solver", llm_config=ScriptedModel(list(replies)))
    result = agent.initiate_chat(solver, message=agent.message_generator, problem="What is 6 * 7?", silent=True)
    return [message["content"] for message in result.chat_history]


def test_results_of_queries_go_back_until_there_is_an_answer() -> None:
    opening, *rest = solve("```python\nx = 6\n```", "```python\nprint(x * 7)\n```", "Hm.", "So \\boxed{42}.")

    assert opening.endswith("Problem: What is 6 * 7?")
    assert rest[1::2] == ["Error: Nothing was printed.", "42", MathUserProxyAgent.DEFAULT_REPLY]
    assert rest[-1] == "So \\boxed{42}."


def test_failures_beyond_the_limit_are_not_shown() -> None:
    failures = [f"```python\nraise ValueError({n})\n```" for n in range(2)]

    _, *rest = solve(*failures, "\\boxed{42}", max_invalid_q_per_step=1)

    assert "ValueError: 0" in rest[1]
    assert rest[3].startswith("Read the problem again.")


def test_the_same_result_twice_is_said() -> None:
    query = "```python\nprint(1)\n```"

    assert solve(query, query, "\\boxed{1}")[4] == "1\nThis is the same result as before; try another way."


@pytest.mark.parametrize("prompt_type", ["default", "python", "two_tools"])
def test_a_problem_follows_its_prompt(prompt_type: str) -> None:
    agent = MathUserProxyAgent(code_execution_config=False)
    context = {"problem": "P", "prompt_type": prompt_type}

    assert "\\boxed{}" in agent.message_generator(agent, None, context)
    assert agent.message_generator(agent, None, {**context, "customized_prompt": "Mine: "}) == "Mine: P"
