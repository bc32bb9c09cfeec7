from typing import Any

import pytest

import autogen_nb
from autogen_nb.agents.teams.team_chats import BaseGroupChat
from autogen_nb.errors import CallbackError, ConfigError
from tests.agents.teams import add, assistant, by_turns, calling, done, finished, resumed_before, told


class Broken(autogen_nb.ChatCompletionContext):
    async def get_messages(self) -> Any:
        raise ValueError("no room")


def adder(context: autogen_nb.ChatCompletionContext) -> autogen_nb.AssistantAgent:
    call = calling("add", '{"a": 1, "b": 2}')
    return assistant("adder", call, "Three.", tools=[add], reflect_on_tool_use=True, model_context=context)


@pytest.mark.parametrize(
    ("context", "roles"),
    [
        (autogen_nb.BufferedChatCompletionContext(1), ["system"]),
        (autogen_nb.BufferedChatCompletionContext(2), ["system", "assistant", "tool"]),
        (autogen_nb.HeadAndTailChatCompletionContext(1, 1), ["system", "user", "user"]),
    ],
)
def test_a_context_is_a_view_that_begins_with_no_results(
    context: autogen_nb.ChatCompletionContext, roles: list[str]
) -> None:
    agent = adder(context)

    done(agent, "1 + 2?")

    assert [role for role, _ in told(agent)] == roles
    assert len(agent.context) == 4


def test_too_many_tokens_leave_out_the_middle() -> None:
    client = autogen_nb.OpenAIChatCompletionClient(model="gpt-4o", api_key="none")
    past = [autogen_nb.UserMessage(content=word * 100, source="user") for word in "abc"]
    context = autogen_nb.TokenLimitedChatCompletionContext(client, token_limit=70, initial_messages=past)

    assert [message.content[0] for message in finished(context.get_messages())] == ["a", "c"]


def test_a_context_is_saved_with_what_was_added_and_said() -> None:
    context = autogen_nb.UnboundedChatCompletionContext()
    agent = adder(context)
    finished(context.add_message(autogen_nb.SystemMessage(content="Be short.")))

    done(agent, "1 + 2?")
    again = autogen_nb.UnboundedChatCompletionContext()
    finished(again.load_state(finished(context.save_state())))

    messages = finished(context.get_messages())
    assert told(agent)[1] == ("system", "Be short.")
    assert "name='add'" in repr(messages[3])
    assert [message.content for message in finished(again.get_messages())] == [each.content for each in messages]


def test_each_member_of_a_team_has_its_own_view() -> None:
    short = assistant("short", "One.", "Two.", model_context=autogen_nb.BufferedChatCompletionContext(1))
    long = assistant("long", "Eins.", "Zwei.")

    done(by_turns(short, long, max_turns=4), "Count.")

    assert [content for _, content in told(short)][1:] == ["Eins."]
    assert [content for _, content in told(long)][1:] == ["Count.", "One.", "Eins.", "Two."]


def test_errors_name_the_context() -> None:
    with pytest.raises(ConfigError, match="give a subclass of ChatCompletionContext"):
        assistant("short", "One.", model_context=20)
    with pytest.raises(CallbackError, match="of short raised ValueError: no room"):
        done(assistant("short", "One.", model_context=Broken()))


def remembering(*memories: Any, **more: Any) -> autogen_nb.AssistantAgent:
    return assistant("cook", "Tofu.", "Rice.", memory=list(memories), **more)


def text(content: Any) -> autogen_nb.MemoryContent:
    return autogen_nb.MemoryContent(content=content, mime_type=autogen_nb.MemoryMimeType.TEXT)


class Silent(autogen_nb.ListMemory):
    async def update_context(self, model_context: Any) -> Any:
        return None


def test_a_resumed_run_asks_no_memory_again() -> None:
    def team(*memories: autogen_nb.MemoryContent) -> BaseGroupChat:
        return by_turns(remembering(autogen_nb.ListMemory(memory_contents=list(memories))), max_turns=1)

    picture = autogen_nb.MemoryContent(content=b"\xff", mime_type="image/png")
    resumed = team()

    messages, again = resumed_before("ModelReplied", team(text("No meat."), picture), resumed)

    assert again == messages
    assert "No meat." in told(resumed.participants[0])[2][1]


def test_memories_are_a_list_and_return_what_they_found() -> None:
    with pytest.raises(ConfigError, match=r"give a list of memories"):
        assistant("cook", "Tofu.", memory=autogen_nb.ListMemory())
    with pytest.raises(CallbackError, match="return an UpdateContextResult"):
        done(remembering(Silent()))
