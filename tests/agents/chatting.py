"""Two agents with doubles around them, for the tests of chats."""

import asyncio
from typing import Any, Literal

import pytest

import autogen_nb
from autogen_nb.agents.assistant import AssistantAgent
from autogen_nb.agents.chats.initiated_chat import ChatResult
from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.agents.user_proxy import UserProxyAgent
from autogen_nb.testing import ScriptedModel, ScriptedReply

# Taken from the package itself, a name also tells where chats are shown; its modules alone do not.
assert autogen_nb.ConversableAgent is ConversableAgent

Way = Literal["sync", "async"]
BOTH_WAYS = pytest.mark.parametrize("way", ["sync", "async"])


def assistant(*replies: ScriptedReply, **more: Any) -> AssistantAgent:
    return AssistantAgent("assistant", llm_config=ScriptedModel(replies), **more)


def user(cls: type[UserProxyAgent] = UserProxyAgent, **more: Any) -> Any:
    settings = {"human_input_mode": "NEVER", "code_execution_config": False, "default_auto_reply": "Go on.", **more}
    return cls("user", **settings)


def model_of(agent: ConversableAgent) -> ScriptedModel:
    assert isinstance(agent.model, ScriptedModel)
    return agent.model


def chat(way: Way, initiator: ConversableAgent, recipient: ConversableAgent, **more: Any) -> ChatResult:
    if way == "sync":
        return initiator.initiate_chat(recipient, silent=True, **more)
    return asyncio.run(initiator.a_initiate_chat(recipient, silent=True, **more))


def contents(result: ChatResult) -> list[Any]:
    return [message["content"] for message in result.chat_history]


def send(way: Way, sender: ConversableAgent, message: Any, recipient: ConversableAgent, **more: Any) -> None:
    if way == "sync":
        sender.send(message, recipient, silent=True, **more)
    else:
        asyncio.run(sender.a_send(message, recipient, silent=True, **more))


def heard(agent: ConversableAgent, peer: ConversableAgent) -> list[Any]:
    return [message["content"] for message in agent.chat_messages[peer]]
