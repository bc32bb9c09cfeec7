from typing import Any

import pytest

import autogen_nb
from autogen_nb.agents.teams.team_chats import BaseGroupChat
from autogen_nb.errors import CallbackError, ConfigError
from autogen_nb.events import FunctionsReturned
from autogen_nb.views.in_words import marked_results
from tests.agents.teams import add, assistant, by_turns, calling, done, finished, resumed_before, says


class Shelf(autogen_nb.Workbench):
    """Its tool is `take` until something was taken; then it has none."""

    def __init__(self, *, broken: bool = False) -> None:
        self.broken = broken
        self.is_empty = False

    async def list_tools(self) -> Any:
        if self.broken:
            raise OSError("no shelf")
        empty = {"type": "object", "properties": {}, "required": []}
        return [] if self.is_empty else [{"name": "take", "description": "Takes.", "parameters": empty}]

    async def call_tool(self, name: str, *_: Any) -> autogen_nb.ToolResult:
        self.is_empty = True
        image = autogen_nb.ImageResultContent(content=autogen_nb.Image.from_base64("aGk="))
        return autogen_nb.ToolResult(name=name, result=[autogen_nb.TextResultContent(content="A book."), image])


def test_tools_of_a_workbench_come_and_go() -> None:
    agent: Any = assistant("reader", calling("take"), "Read.", workbench=Shelf(), max_tool_iterations=3)

    result = done(agent)

    offered = [[tool["function"]["name"] for tool in request.tools] for request in agent.model.requests]
    assert offered == [["take"], []]
    assert result.messages[2].content[0].content == "A book.\n[image]"
    with pytest.raises(CallbackError, match="workbench of reader raised OSError: no shelf"):
        done(assistant("reader", "Read.", workbench=Shelf(broken=True)))


def test_a_call_of_a_workbench_is_made_after_a_resume() -> None:
    def team(*replies: Any) -> BaseGroupChat:
        return by_turns(assistant("reader", *replies, workbench=[Shelf()]), max_turns=1)

    messages, again = resumed_before("FunctionsReturned", team(calling("take")), team())

    assert again == messages


def test_a_resumed_run_has_the_messages_inside_its_calls_from_the_log() -> None:
    def team(replies: list[Any], expert: list[str]) -> BaseGroupChat:
        tool = autogen_nb.AgentTool(assistant("expert", *expert, description="Knows."))
        return by_turns(assistant("chief", *replies, tools=[tool]), says("end"), max_turns=2)

    first = team([calling("expert", '{"task": "How old?"}')], ["Old."])
    messages, again = resumed_before("Called", first, team([], []))

    assert ("expert", "Old.") in messages
    assert again == messages


def test_wrong_arguments_are_a_failed_call() -> None:
    tool = autogen_nb.AgentTool(says("clerk"))

    wrong = done(assistant("chief", calling("clerk", '{"job": 1}'), tools=[tool]))

    assert wrong.messages[2].content[0].is_error


def test_failures_without_a_mark_of_their_own_are_marked_in_views() -> None:
    returned = FunctionsReturned(("too light", "Error: none", "fine"), failed=(0, 1))

    assert marked_results(returned) == ["Error: too light", "Error: none", "fine"]
    assert [returned.has_failed(index) for index in range(3)] == [True, True, False]


def test_a_tool_on_its_own() -> None:
    async def later(x: int, cancellation_token: autogen_nb.CancellationToken) -> int:
        return x + bool(cancellation_token)

    tool = autogen_nb.FunctionTool(later, "Adds one.", strict=True)
    bench = autogen_nb.StaticWorkbench([tool, add])

    assert list(tool.schema["parameters"]["properties"]) == ["x"]
    assert finished(tool.run_json({"x": 1}, autogen_nb.CancellationToken())) == 2
    assert finished(bench.call_tool("add", {"a": 1})).is_error
    assert finished(bench.call_tool("none")).to_text() == "Tool none not found."
    with pytest.raises(ConfigError, match="no tool"):
        autogen_nb.StaticWorkbench([1])


def test_a_summary_of_ones_own_is_named_if_it_fails() -> None:
    agent = assistant("a", calling("add", "{}"), tools=[add], tool_call_summary_formatter=lambda _, __: 1 / 0)

    with pytest.raises(CallbackError, match="tool_call_summary_formatter raised ZeroDivisionError"):
        done(agent)
