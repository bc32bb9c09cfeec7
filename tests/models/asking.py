"""One question to a model, and what came of it."""

import asyncio
from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from autogen_nb import AssistantAgent, UserProxyAgent
from autogen_nb.core.ports import Model, ModelRequest
from autogen_nb.messages import Completion

HELLO: Mapping[str, Any] = {"role": "user", "content": "Hello?"}
ADD: dict[str, Any] = {
    "name": "add",
    "description": "Adds one.",
    "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
}
TOOL = {"type": "function", "function": ADD}


def add(a: int) -> int:
    """Adds one."""
    return a + 1


def pair(llm_config: dict[str, Any], **user_options: Any) -> tuple[AssistantAgent, UserProxyAgent]:
    """An assistant whose model may call `add`, and the user that runs it."""
    assistant = AssistantAgent("assistant", llm_config=llm_config)
    user = UserProxyAgent("user", human_input_mode="NEVER", code_execution_config=False, **user_options)
    assistant.register_for_llm(description="Adds one.")(user.register_for_execution()(add))
    return assistant, user


class Answered(NamedTuple):
    pieces: list[Any]
    completion: Completion


async def a_ask(model: Model, *messages: Mapping[str, Any], **more: Any) -> Answered:
    *pieces, completion = [part async for part in model.reply(ModelRequest(messages or (HELLO,), **more))]
    assert isinstance(completion, Completion)
    return Answered(pieces, completion)


def ask(model: Model, *messages: Mapping[str, Any], **more: Any) -> Answered:
    return asyncio.run(a_ask(model, *messages, **more))


def error_of(model: Model, *messages: Mapping[str, Any]) -> BaseException:
    # Which exception it is, and what it says, is what the test that asked for it looks at.
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - see above
        ask(model, *messages)
    return caught.value
