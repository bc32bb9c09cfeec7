import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import BaseModel

from autogen_nb.agents.assistant import AssistantAgent
from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.agents.parts.prompts import TEAM_ASSISTANT
from autogen_nb.agents.teams.custom_agents import BaseChatAgent, FunctionAgent
from autogen_nb.agents.teams.function_tool import FunctionTool
from autogen_nb.agents.teams.graph_flow import DiGraphBuilder, GraphFlow
from autogen_nb.agents.teams.model_led_teams import SelectorGroupChat
from autogen_nb.agents.teams.team_chats import RoundRobinGroupChat, Swarm
from autogen_nb.agents.teams.team_messages import (
    BaseChatMessage,
    BaseMessage,
    HandoffMessage,
    MultiModalMessage,
    Response,
    StopMessage,
    TaskResult,
    TextMessage,
)
from autogen_nb.agents.teams.termination_conditions import MaxMessageTermination, TextMentionTermination
from autogen_nb.agents.user_proxy import UserProxyAgent
from autogen_nb.errors import CallbackError, ConfigError, ModelError, SessionError
from autogen_nb.messages import Completion, Message, Reasoning
from autogen_nb.models.client_types import Image, RequestUsage
from autogen_nb.run import CancellationToken
from autogen_nb.testing import ScriptedModel
from tests.agents.teams import add, assistant, by_turns, calling, done, finished, kinds, says, spoken, told


def test_a_second_task() -> None:
    team = by_turns(says("a"), says("b"), termination_condition=MaxMessageTermination(2))

    assert spoken(done(team, "one")) == [("user", "one"), ("a", "a")]
    assert spoken(done(team, "two")) == [("user", "two"), ("a", "a")]
    assert spoken(done(team, None)) == [("b", "b"), ("a", "a")]


def test_reasoning_of_a_model_is_an_event() -> None:
    thinker = assistant("a", Completion(Message("Yes."), "m", reasoning=Reasoning("Hm.")))
    hearer = says("b")
    result = done(by_turns(thinker, hearer, max_turns=2))

    assert kinds(result.messages) == ["TextMessage", "ThoughtEvent", "TextMessage", "TextMessage"]
    assert [message.to_text() for message in result.messages] == ["start", "Hm.", "Yes.", "b"]
    assert "Hm." not in str(thinker.context)


def test_task_messages() -> None:
    picture = Image.from_base64("aGk=")
    task = [TextMessage(source="me", content="Look."), MultiModalMessage(source="me", content=["This:", picture])]
    a = assistant("a", "nice", "nicer")
    first = done(by_turns(a, max_turns=1), task)
    second = done(by_turns(a, max_turns=1), "again", output_task_messages=False)
    parts = [{"type": "text", "text": "This:"}, {"type": "image_url", "image_url": {"url": picture.uri}}]

    assert first.messages[:2] == task
    assert first.messages[1].to_text() == "This:\n[image]"
    assert told(a, 0)[1:] == [("user", "Look."), ("user", parts)]
    assert spoken(second) == [("a", "nicer")]


def test_replies_of_ones_own_are_refused() -> None:
    agent = ConversableAgent("agent")
    agent.register_reply([ConversableAgent], lambda *_: (True, "hi"))

    with pytest.raises(ConfigError, match="agent replies by its own functions, hooks or methods"):
        done(by_turns(agent, max_turns=1))


class Stops(BaseChatAgent):
    async def on_messages(
        self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken | None = None
    ) -> Response:
        usage = RequestUsage(3, 4)
        return Response(chat_message=StopMessage(source=self.name, content=f"{len(messages)}", models_usage=usage))


def test_a_member_of_ones_own() -> None:
    result = done(by_turns(Stops("stops"), max_turns=1))

    assert kinds(result.messages)[-1] == "StopMessage"
    assert result.messages[-1].models_usage == RequestUsage(3, 4)


def test_a_member_that_raises_is_named() -> None:
    def breaks(_: Any) -> str:
        raise KeyError("gone")

    async def later(_: Any) -> str:
        raise KeyError("gone")

    with pytest.raises(CallbackError, match="the function of breaks raised KeyError: 'gone'"):
        done(by_turns(FunctionAgent(breaks)))
    with pytest.raises(CallbackError, match="the function of later raised KeyError: 'gone'"):
        done(by_turns(FunctionAgent(later)))
    with pytest.raises(CallbackError, match="the function of odd returned 3; it must return a text"):
        done(by_turns(FunctionAgent(lambda _: 3, "odd")))
    with pytest.raises(ConfigError, match="BaseChatAgent does not define on_messages"):
        done(by_turns(BaseChatAgent("nothing")))


def test_one_class_for_both_spellings() -> None:
    client = ScriptedModel(["hi"] * 4)
    newer = [AssistantAgent("a", client), AssistantAgent("a", model_client=client, system_message="Mine.")]
    older = AssistantAgent("a", llm_config=client)

    assert [agent.system_message == TEAM_ASSISTANT for agent in newer] == [True, False]
    assert older.system_message == AssistantAgent.DEFAULT_SYSTEM_MESSAGE
    assert [spoken(done(agent))[-1] for agent in [*newer, older]] == [("a", "hi")] * 3
    old = ConversableAgent("old", llm_config=client, human_input_mode="NEVER")
    assert spoken(done(by_turns(old, max_turns=1)))[-1] == ("old", "hi")


def test_an_agent_by_itself() -> None:
    a = assistant("a", "one", "two", "three")
    first = done(a, "task")
    second = finished(a.on_messages([TextMessage(source="user", content="more")], CancellationToken()))
    finished(a.on_reset())
    done(a, "new")

    assert (spoken(first), first.stop_reason) == ([("user", "task"), ("a", "one")], None)
    assert second.chat_message.to_text() == "two"
    assert [content for _, content in told(a, 1)][1:] == ["task", "one", "more"]
    assert [content for _, content in told(a, 2)][1:] == ["new"]


def test_reset() -> None:
    a = assistant("a", "one", "two")
    team = by_turns(a, max_turns=1)
    done(team, "old")
    finished(team.reset())
    done(team, "new")

    assert [content for _, content in told(a)][1:] == ["new"]


def test_state() -> None:
    team = by_turns(assistant("a", calling("add", '{"a": 1, "b": 2}'), tools=[add]), says("b"), max_turns=1)
    done(team)
    state = json.loads(json.dumps(finished(team.save_state())))
    again = by_turns(assistant("a", "well"), says("b"), max_turns=2)
    finished(again.load_state(state))
    result = done(again, None)

    assert spoken(result) == [("b", "b"), ("a", "well")]
    assert told(again.participants[0])[1:] == [("user", "start"), ("assistant", None), ("tool", "3"), ("user", "b")]


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ({"type": "SelectorGroupChat"}, "not a state of a RoundRobinGroupChat"),
        ({"agents": {}}, "not of a"),
        ({"agents": {"a": {}}}, "not the state of an agent"),
        ({"messages": 3}, "has missing or invalid fields"),
        ({"messages": [{"type": "TextMessage"}]}, "has missing or invalid fields"),
        ({"messages": [{"type": "Other"}]}, "'Other' is no message of a team"),
    ],
)
def test_state_of_another_team(state: dict[str, Any], told: str) -> None:
    team = by_turns(says("a"))
    good = dict(finished(team.save_state()))

    with pytest.raises(SessionError, match=told):
        finished(team.load_state(good | state))


def test_one_run_at_a_time() -> None:
    team = by_turns(says("a"), max_turns=1)

    async def twice() -> None:
        stream = team.run_stream(task="one")
        await anext(stream)
        try:
            with pytest.raises(ConfigError, match="team is running"):
                await team.run(task="two")
            with pytest.raises(ConfigError, match="team is running"):
                await team.reset()
        finally:
            await stream.aclose()
        await team.run(task="three")

    finished(twice())


def test_a_turn_that_broke_off_is_forgotten() -> None:
    a = assistant("a", calling("interrupted"), "well", tools=[FunctionTool(interrupted)])
    team = by_turns(a, max_turns=1)
    with pytest.raises(KeyboardInterrupt):
        done(team)

    assert spoken(done(team, None)) == [("a", "well")]
    assert told(a)[1:] == [("user", "start")]


def interrupted() -> str:
    raise KeyboardInterrupt


def test_cancelled_before_it_began() -> None:
    token = CancellationToken()
    token.cancel()
    token.cancel()

    with pytest.raises(asyncio.CancelledError):
        done(by_turns(says("a"), max_turns=1), cancellation_token=token)
    assert token.is_cancelled()


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: RoundRobinGroupChat([]), "needs participants"),
        (lambda: by_turns(says("a"), says("a")), "the name 'a' occurs twice in a team"),
        (lambda: by_turns(says("team")), "the name 'team' occurs twice in a team"),
        (lambda: RoundRobinGroupChat([print]), "cannot be in a team; give an agent"),
        (lambda: by_turns(says("a"), max_turns=0), "max_turns is 0"),
        (lambda: by_turns(says("a"), termination_condition="DONE"), "termination_condition is 'DONE'"),
        (lambda: SelectorGroupChat([says("a"), says("b")], "gpt-4o"), "model_client is 'gpt-4o'"),
        (lambda: SelectorGroupChat([says("a")], ScriptedModel([])), "at least two participants"),
        (lambda: selecting(max_selector_attempts=0), "max_selector_attempts is 0"),
        (lambda: done(by_turns(says("a"), max_turns=1), None), "has nothing to work on"),
        (lambda: done(by_turns(says("a"), max_turns=1), 3), "task is 3"),
        (lambda: assistant("a", tools="add"), "tools is 'add'"),
        (lambda: assistant("a", tools=[3]), "3 is no tool"),
        (lambda: assistant("a", tools=[add, add]), "two tools are called 'add'"),
        (lambda: assistant("a", max_tool_iterations=0), "max_tool_iterations is 0"),
        (
            lambda: AssistantAgent("a", ScriptedModel([]), model_client=ScriptedModel([])),
            "a is given two model clients",
        ),
        (lambda: AssistantAgent("a", model_client=ScriptedModel([]), llm_config="m"), "two ways to give a model"),
        (lambda: AssistantAgent("a", model_client="gpt-4o"), "model_client is 'gpt-4o'"),
        (lambda: AssistantAgent("a", tools=[add]), "a has tools and no model"),
        (lambda: BaseChatAgent(" "), "an agent's name is ' '"),
        (lambda: FunctionAgent(3), "3 is no function"),  # type: ignore[arg-type]  # that is the point
        (lambda: UserProxyAgent("u", input_func=3), "input_func is 3"),  # type: ignore[arg-type]  # as above
    ],
)
def test_settings_that_are_invalid(make: Any, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        make()


def selecting(*choices: str, **more: Any) -> tuple[SelectorGroupChat, ScriptedModel]:
    model = ScriptedModel(choices)
    return SelectorGroupChat([says("a"), says("b"), says("c")], model, **{"max_turns": 2, **more}), model


def speakers(selector: SelectorGroupChat, task: str = "start") -> list[str]:
    return [each.source for each in done(selector, task).messages[1:]]


def test_a_choice_that_is_none_is_asked_again() -> None:
    selector, model = selecting("hm", "a or b", "no", max_turns=1)

    assert speakers(selector) == ["a"]
    assert [len(request.messages) for request in model.requests] == [1, 3, 5]
    assert "none of the agents" in model.requests[1].messages[2]["content"]
    assert "several of" in model.requests[2].messages[4]["content"]


def test_a_function_has_the_first_word() -> None:
    async def choose(messages: Sequence[BaseMessage]) -> str | None:
        return "c" if messages[-1].source == "user" else None

    assert speakers(selecting("a", selector_func=choose)[0]) == ["c", "a"]
    assert speakers(selecting(selector_func=lambda messages: "a")[0]) == ["a", "a"]


def test_candidates_are_narrowed() -> None:
    names = [["a", "b"], ["b"]]
    selector, model = selecting("b", candidate_func=lambda messages: names[len(messages) - 1])

    assert speakers(selector) == ["b", "b"]
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"selector_func": lambda _: "nobody"}, "selector_func returned 'nobody'; it must return one of a, b, c"),
        ({"selector_func": lambda _: 1 / 0}, "selector_func raised ZeroDivisionError"),
        ({"candidate_func": lambda _: []}, r"candidate_func returned \[\]"),
        ({"candidate_func": lambda _: ["nobody"]}, r"candidate_func returned \['nobody'\]"),
    ],
)
def test_functions_that_fail_are_named(more: dict[str, Any], told: str) -> None:
    with pytest.raises(CallbackError, match=told):
        speakers(selecting(**more)[0])


def test_a_person_hands_back_to_the_member_that_handed_over() -> None:
    desk = assistant("desk", calling("transfer_to_customer"), "Found. DONE", handoffs=["customer"])
    customer = UserProxyAgent("customer", input_func=lambda _: "It is red.")
    result = done(Swarm([desk, customer], termination_condition=TextMentionTermination("DONE")), "My bag is lost.")
    handoffs = [each for each in result.messages if isinstance(each, HandoffMessage)]

    assert [(each.source, each.target) for each in handoffs] == [("desk", "customer"), ("customer", "desk")]
    assert handoffs[-1].content == "It is red."
    assert spoken(result)[-1] == ("desk", "Found. DONE")


def test_a_team_in_a_round_reads_each_message_of_others_once() -> None:
    heard: list[list[str]] = []

    def look(messages: Sequence[Any]) -> str:
        heard.append([each.source for each in messages])
        return "heard"

    start, branch, inner = says("start"), says("branch"), FunctionAgent(look, "inner")
    team = by_turns(says("first"), inner, name="team", max_turns=2)
    graph = DiGraphBuilder().add_node(start).add_node(branch).add_node(team).set_entry_point(start)
    graph.add_edge(start, branch).add_edge(start, team).add_edge(branch, start, "branch")

    done(GraphFlow(graph.get_participants(), graph.build(), max_turns=4, name="outer"))

    assert heard == [["user", "start", "first"], ["branch", "start", "first"]]


def test_states_of_earlier_versions_have_positions_of_read_messages() -> None:
    team = by_turns(says("a", "1"), says("b", "2"), max_turns=2)
    done(team)
    state = {**finished(team.save_state()), "heard": {"a": 2, "b": 3}}
    unread = state.pop("unread")

    finished(team.load_state(state))

    assert finished(team.save_state())["unread"] == unread


class Trip(BaseModel):
    town: str
    days: int


GHENT = '{"town": "Ghent", "days": 2}'


def trip(result: TaskResult) -> Any:
    return result.messages[-1].content


def test_a_reply_that_is_no_object_is_refused_and_the_run_can_be_repeated() -> None:
    agent = assistant("guide", "Ghent!", GHENT, output_content_type=Trip)

    with pytest.raises(ModelError, match=r"'Ghent!' is no Trip .* run the task again"):
        done(agent)

    assert trip(done(agent)) == Trip(town="Ghent", days=2)


def test_an_object_has_a_text_of_its_format() -> None:
    agent = assistant("guide", GHENT, output_content_type=Trip, output_content_type_format="{town}!")

    assert done(agent).messages[-1].to_text() == "Ghent!"


def test_only_a_pydantic_class_is_an_output_type() -> None:
    with pytest.raises(ConfigError, match=r"give a subclass of pydantic\.BaseModel"):
        assistant("guide", GHENT, output_content_type=dict)
