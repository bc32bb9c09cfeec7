"""Groups with handoffs: their logs, and what their users may get wrong."""

import asyncio
import json
from typing import Annotated, Any

import pytest

import autogen_nb
from autogen_nb import (
    AgentTarget,
    ContextExpression,
    ContextVariables,
    ConversableAgent,
    DefaultPattern,
    GroupChatConfig,
    GroupChatTarget,
    LLMConfig,
    ManualPattern,
    OnCondition,
    OnContextCondition,
    ReplyResult,
    RevertToUserTarget,
    StringContextCondition,
    StringLLMCondition,
)
from autogen_nb.errors import ConfigError
from autogen_nb.event_json import from_json, to_json
from autogen_nb.events import Event, FunctionsReturned, Said
from autogen_nb.testing import FakeOpenAI, FakeReply


def agent(name: str, server: FakeOpenAI, **more: Any) -> ConversableAgent:
    config = LLMConfig(model=name, api_key="sk-test", base_url=server.base_url)
    return ConversableAgent(name, llm_config=config, human_input_mode="NEVER", **more)


def note(page: Annotated[int, "which"], context_variables: ContextVariables) -> ReplyResult:
    """Notes a page."""
    context_variables["pages"] = [*context_variables["pages"], page]
    return ReplyResult("noted", context_variables=context_variables)


def group(server: FakeOpenAI) -> tuple[DefaultPattern, dict[str, Any]]:
    reader, binder = agent("reader", server, functions=[note]), agent("binder", server)
    binding = OnContextCondition(AgentTarget(binder), StringContextCondition("bound"))
    reader.handoffs.add_llm_condition(OnCondition(AgentTarget(binder), StringLLMCondition("All is read.")))
    reader.handoffs.add_context_condition(binding)
    variables = ContextVariables({"pages": [], "bound": False, "server": server})
    return DefaultPattern(reader, [reader, binder], context_variables=variables), variables


SCRIPT = (
    {"tool_calls": [{"id": "n1", "name": "note", "arguments": {"page": 7}}]},
    {"tool_calls": [{"id": "t1", "name": "transfer_to_binder_1", "arguments": {}}]},
    "Bound.",
)


def test_a_log_of_any_length_goes_on_with_its_variables_and_handoffs() -> None:
    with FakeOpenAI(SCRIPT) as server:
        pattern, _ = group(server)
        response = autogen_nb.run_group_chat(pattern, "Read.", 8)
        response.process()
    whole, said = response.chat.log, response.messages
    answered = [number for number, event in enumerate(whole) if isinstance(event, FunctionsReturned)]

    assert [message["content"] for message in said][-1] == "Bound."
    for length in range(len(whole) + 1):
        asked = sum(type(event).__name__ == "ModelReplied" for event in whole[:length])
        with FakeOpenAI(SCRIPT[asked:]) as server:
            pattern, variables = group(server)
            again = autogen_nb.run_group_chat(pattern, "Read.", 8)
            stored: list[Any] = [from_json(json.loads(json.dumps(to_json(event)))) for event in whole[:length]]
            again.chat.log.extend(stored)
            again.process()
        assert (again.messages, again.last_speaker) == (said, "binder")
        assert variables["pages"] == [7]
        assert variables["server"] is server
        assert len(server.requests) == len(SCRIPT) - asked
    assert len(answered) == 2


def test_the_model_sees_neither_the_variables_nor_the_calls_that_hand_over() -> None:
    with FakeOpenAI(SCRIPT) as server:
        autogen_nb.initiate_group_chat(group(server)[0], "Read.", 8)
    schema, *_ = server.requests[0].body["tools"]

    assert list(schema["function"]["parameters"]["properties"]) == ["page"]
    assert not [each for each in server.requests[-1].body["messages"] if "transfer" in str(each.get("tool_calls"))]


def test_an_agent_created_in_the_block_of_a_configuration_has_its_model() -> None:
    with LLMConfig({"model": "gpt-a", "api_key": "sk-1"}, {"model": "gpt-b", "api_key": "sk-2"}) as config:
        inside, person = autogen_nb.AssistantAgent("inside"), autogen_nb.UserProxyAgent("person")
        with config.where(model="gpt-b"):
            inner = ConversableAgent("inner")
    outside = ConversableAgent("outside")

    assert [entry["model"] for entry in inside.llm_config["config_list"]] == ["gpt-a", "gpt-b"]
    assert [entry["model"] for entry in inner.llm_config.config_list] == ["gpt-b"]
    assert person.model is None
    assert outside.model is None
    assert "sk-1" not in repr(config)


@pytest.mark.parametrize(
    ("expression", "holds"),
    [
        ("${n} > 2 & !${done}", True),
        ("not ${done} and len(${names}) == 2", True),
        ("${word} == 'a & b' | ${done}", True),
        ("(${n} < 0 or ${done}) and ${n} == 3", False),
    ],
)
def test_expressions(expression: str, holds: bool) -> None:
    variables = {"n": 3, "done": False, "names": ["a", "b"], "word": "a & b"}

    assert ContextExpression(expression).evaluate(variables) is holds


@pytest.mark.parametrize("expression", ["__import__('os')", "${n}.real", "n > 2", "${n} >", "[x for x in ${n}]", "len"])
def test_an_expression_calls_nothing(expression: str) -> None:
    with pytest.raises(ConfigError, match="the expression"):
        ContextExpression(expression)


def test_a_handoff_out_of_the_group_is_refused_before_the_chat() -> None:
    with FakeOpenAI(SCRIPT) as server:
        pattern, _ = group(server)
        pattern.agents = pattern.agents[:1]
        with pytest.raises(ConfigError, match="'binder', who is not in the agents of the pattern"):
            autogen_nb.initiate_group_chat(pattern, "Read.")
        assert server.requests == []

    with FakeOpenAI(["Alone."]) as server:
        alone = agent("alone", server)
        alone.handoffs.set_after_work(RevertToUserTarget())
        with pytest.raises(ConfigError, match="give the pattern a user_agent"):
            autogen_nb.initiate_group_chat(DefaultPattern(alone, [alone]), "Read.")
        assert alone.group_state is None


def test_a_group_inside_a_group_answers_with_its_summary_and_hands_back() -> None:
    call = {"id": "t1", "name": "transfer_to_wrapped_group_host_1_1", "arguments": {}}
    with FakeOpenAI([FakeReply(tool_calls=[call]), "Tea.", "Tea!"]) as server:
        host, cook = agent("host", server), agent("cook", server)
        inner = GroupChatTarget(group_chat_config=GroupChatConfig(DefaultPattern(cook, [cook]), max_rounds=3))
        host.handoffs.add(OnCondition(inner, StringLLMCondition("The kitchen knows.")))
        result, _, last = autogen_nb.initiate_group_chat(DefaultPattern(host, [host]), "What is there?", 8)

    assert [message["content"] for message in result.chat_history][-2:] == ["Tea.", "Tea!"]
    assert server.requests[1].body["messages"][-1]["content"] == "What is there?"
    assert (last.name, host.group_state) == ("host", None)


def test_a_person_chooses_the_next_speaker(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = ["right", "left", "exit"]
    monkeypatch.setattr("builtins.input", lambda _="": answers.pop(0))
    with FakeOpenAI(["one", "two", "three"]) as server:
        left, right = agent("left", server), agent("right", server)
        result, _, last = autogen_nb.initiate_group_chat(ManualPattern(left, [left, right]), "Go.", 8)

    assert [message.get("name") for message in result.chat_history] == [None, "left", "right", "left"]
    assert (last.name, answers) == ("left", [])


def test_an_async_run_yields_the_events_of_its_chat_then_its_fields() -> None:
    async def run(server: FakeOpenAI) -> tuple[list[Event], Any, Any]:
        response = await agent("one", server).a_run(agent("two", server), message="Hello.", max_turns=1)
        found = [event async for event in response.events]
        assert not hasattr(response, "_repr_html_")
        return found, await response.summary, await response.last_speaker

    with FakeOpenAI(["Hi."]) as server:
        found, summary, last = asyncio.run(run(server))

    assert [event.sender for event in found if isinstance(event, Said)] == ["one", "two"]
    assert (summary, last) == ("Hi.", "two")


@pytest.mark.parametrize("kind", [ConversableAgent, autogen_nb.AssistantAgent, autogen_nb.UserProxyAgent])
def test_agents_of_all_kinds_take_handoffs_and_variables(kind: Any) -> None:
    handoffs, variables = autogen_nb.Handoffs(), ContextVariables({"tries": 1})

    member = kind("a", handoffs=handoffs, context_variables=variables, llm_config=False)

    assert (member.handoffs, member.context_variables) == (handoffs, variables)
