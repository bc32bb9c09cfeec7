"""Teams with doubles around them, for the tests of their runs."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

import autogen_nb
from autogen_nb.agents.assistant import AssistantAgent
from autogen_nb.agents.teams.custom_agents import FunctionAgent
from autogen_nb.agents.teams.solo_agent import SoloAgent
from autogen_nb.agents.teams.team_chats import BaseGroupChat, RoundRobinGroupChat
from autogen_nb.agents.teams.team_member import TeamMember
from autogen_nb.agents.teams.team_messages import BaseMessage, TaskResult
from autogen_nb.event_json import from_json, to_json
from autogen_nb.testing import ScriptedModel, ScriptedReply

# Taken from the package itself, a name also tells where chats are shown; its modules alone do not.
assert autogen_nb.AssistantAgent is AssistantAgent

T = TypeVar("T")


def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


def finished(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def assistant(name: str, *replies: ScriptedReply, **more: Any) -> AssistantAgent:
    return AssistantAgent(name, model_client=ScriptedModel(replies), **more)


def says(name: str, *texts: str) -> FunctionAgent:
    left = list(texts)
    return FunctionAgent(lambda _: left.pop(0) if left else name, name, f"I am {name}.")


def by_turns(*members: TeamMember, **more: Any) -> RoundRobinGroupChat:
    return RoundRobinGroupChat(members, **more)


def done(team: BaseGroupChat | SoloAgent, task: Any = "start", **more: Any) -> TaskResult:
    return finished(team.run(task=task, **more))


def spoken(result: TaskResult) -> list[tuple[str, str]]:
    return [(each.source, each.to_text()) for each in result.messages]


def kinds(messages: Sequence[BaseMessage]) -> list[str]:
    return [type(each).__name__ for each in messages]


def told(agent: Any, number: int = -1) -> list[tuple[str, Any]]:
    return [(each["role"], each["content"]) for each in agent.model.requests[number].messages]


def calling(name: str, arguments: str = "{}") -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"content": None, "tool_calls": [{"id": f"call {name}", "type": "function", "function": function}]}


async def ran(exchange: Any) -> Any:
    async for _ in exchange.stream_events():
        pass
    return exchange.follower.take_messages(), exchange.log


def resumed_before(kind: str, first: BaseGroupChat, second: BaseGroupChat) -> Any:
    """What the first team says, and what the second one says that goes on with the log before an event of the kind."""
    messages, log = finished(ran(first.exchange("Go.")))
    log = [from_json(to_json(event)) for event in log]
    cut = log[: [type(event).__name__ for event in log].index(kind)]
    again = finished(ran(second.exchange("Go.", log=cut)))[0]
    return [spoken(TaskResult(messages=each)) for each in (messages, again)]
