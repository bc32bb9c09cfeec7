"""Agents and teams as data."""

import json
from typing import Any

import pytest

from autogen_nb import (
    AssistantAgent,
    BufferedChatCompletionContext,
    Component,
    ComponentModel,
    ConversableAgent,
    DiGraphBuilder,
    GraphFlow,
    Handoff,
    MaxMessageTermination,
    OpenAIChatCompletionClient,
    RoundRobinGroupChat,
    Swarm,
    TextMentionTermination,
)
from autogen_nb.base import Team
from autogen_nb.errors import ConfigError
from tests.agents.teams import add

KEY = "sk-secret"


def client() -> OpenAIChatCompletionClient:
    return OpenAIChatCompletionClient(model="gpt-4o", api_key=KEY, temperature=0.2)


def member(name: str, **more: Any) -> AssistantAgent:
    return AssistantAgent(name, model_client=client(), system_message=f"You are {name}.", **more)


def through_json(component: Component) -> Any:
    text = json.dumps(component.dump_component().model_dump())
    assert KEY not in text
    return Component.load_component(json.loads(text))


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def test_team_is_made_again_from_data() -> None:
    condition = TextMentionTermination("DONE") | MaxMessageTermination(max_messages=7)
    context = BufferedChatCompletionContext(buffer_size=3)
    handoffs = ["two", Handoff("user", message="Please?")]
    team = Swarm(
        [member("one", handoffs=handoffs, model_context=context), member("two")], termination_condition=condition
    )

    made = through_json(team)

    assert type(made) is Swarm
    assert made.dump_component() == team.dump_component()
    assert [each.name for each in made.participants] == ["one", "two"]
    assert made.participants[0].handoff_targets == {"transfer_to_two": "two", "transfer_to_user": "user"}


def test_graph_is_made_again_from_data() -> None:
    one, two = member("one"), member("two")
    builder = DiGraphBuilder().add_node(one).add_node(two).add_edge(one, two, condition="go")
    flow = GraphFlow(builder.get_participants(), builder.build())

    assert through_json(flow).graph == flow.graph


def test_data_of_agentchat_is_read() -> None:
    model = {"provider": "autogen_ext.models.openai.OpenAIChatCompletionClient", "config": {"model": "gpt-4o"}}
    agent = {
        "provider": "autogen_agentchat.agents.AssistantAgent",
        "component_type": "agent",
        "version": 1,
        "config": {"name": "one", "model_client": model, "handoffs": [{"target": "two"}], "tools": []},
    }
    config = {"participants": [agent], "max_turns": 2}
    team = Team.load_component({"provider": "autogen_agentchat.teams.RoundRobinGroupChat", "config": config})

    assert isinstance(team, RoundRobinGroupChat)
    assert [each.name for each in team.participants] == ["one"]


@pytest.mark.parametrize(
    ("provider", "config", "error"),
    [
        ("os.system", {}, "is no component of autogen_nb"),
        ("autogen_nb.FunctionTool", {"source_code": "1"}, "is no component of autogen_nb"),
        ("autogen_nb.MaxMessageTermination", {"most": 1}, "does not fit"),
        ("autogen_nb.MaxMessageTermination", {"max_messages": 1}, "load it with its own class"),
    ],
)
def test_other_data_is_refused(provider: str, config: dict[str, Any], error: str) -> None:
    with pytest.raises(ConfigError, match=error):
        RoundRobinGroupChat.load_component(ComponentModel(provider=provider, config=config))


def test_function_is_no_data() -> None:
    with pytest.raises(ConfigError, match="tools of AssistantAgent is <function add"):
        member("one", tools=[add]).dump_component()
    assert isinstance(
        through_json(ConversableAgent("one", llm_config={"model": "m", "api_key": KEY})), ConversableAgent
    )


def test_settings_that_resemble_components_stay_data() -> None:
    body = {"provider": {"order": ["first"]}}
    made = through_json(OpenAIChatCompletionClient(model="gpt-4o", api_key=KEY, extra_body=body))

    assert made.dump_component().config["extra_body"] == body
