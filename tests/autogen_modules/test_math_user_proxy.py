from typing import Any

import pytest

from autogen_nb import AssistantAgent
from autogen_nb.agents.math_user_proxy import MathUserProxyAgent
from autogen_nb.testing import ScriptedModel


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
