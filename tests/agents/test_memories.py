from typing import Any

import pytest

import autogen_nb
from autogen_nb.agents.teams.team_chats import BaseGroupChat
from autogen_nb.errors import CallbackError, ConfigError
from tests.agents.teams import assistant, by_turns, done, finished, kinds, told


def remembering(*memories: Any, **more: Any) -> autogen_nb.AssistantAgent:
    return assistant("cook", "Tofu.", "Rice.", memory=list(memories), **more)


def text(content: Any) -> autogen_nb.MemoryContent:
    return autogen_nb.MemoryContent(content=content, mime_type=autogen_nb.MemoryMimeType.TEXT)


class Silent(autogen_nb.ListMemory):
    async def update_context(self, model_context: Any) -> Any:
        return None


def test_memories_stand_after_the_messages_and_stay_in_the_conversation() -> None:
    memory = autogen_nb.ListMemory(memory_contents=[text("No meat.")])
    agent = remembering(memory)

    result = done(agent, "Dinner?")
    finished(memory.clear())
    done(agent, "And?")

    assert kinds(result.messages) == ["TextMessage", "MemoryQueryEvent", "TextMessage"]
    assert result.messages[1].content == [text("No meat.")]
    assert [role for role, _ in told(agent)] == ["system", "user", "system", "assistant", "user"]
    assert "1. No meat." in told(agent)[2][1]


def test_a_resumed_run_asks_no_memory_again() -> None:
    def team(memory: autogen_nb.ListMemory) -> BaseGroupChat:
        return by_turns(remembering(memory), max_turns=1)

    async def ran(exchange: Any) -> Any:
        events = [event async for event in exchange.stream_events()]
        return exchange.log, exchange.follower.take_messages(), events

    items = [text("No meat."), autogen_nb.MemoryContent(content=b"\xff", mime_type="image/png")]
    log, messages, _ = finished(ran(team(autogen_nb.ListMemory(memory_contents=items)).exchange("Dinner?")))
    cut = log[: [type(event).__name__ for event in log].index("ModelAsked") + 1]
    resumed = team(autogen_nb.ListMemory())
    _, again, _ = finished(ran(resumed.exchange("Dinner?", log=cut)))

    assert [m.content for m in again] == [m.content for m in messages]
    assert "No meat." in told(resumed.participants[0])[2][1]


def test_memories_are_a_list_and_return_what_they_found() -> None:
    with pytest.raises(ConfigError, match=r"give a list of memories"):
        assistant("cook", "Tofu.", memory=autogen_nb.ListMemory())
    with pytest.raises(CallbackError, match="return an UpdateContextResult"):
        done(remembering(Silent()))
