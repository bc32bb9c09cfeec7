"""Agents with doubles around them, for the tests of chats of two and of groups."""

import asyncio
from typing import Any, Literal

import pytest

import autogen_nb
from autogen_nb.agents.assistant import AssistantAgent
from autogen_nb.agents.chats.initiated_chat import ChatOptions, ChatResult, TwoAgentChat
from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.agents.group_chat import GroupChat
from autogen_nb.agents.group_manager import GroupChatManager
from autogen_nb.agents.user_proxy import UserProxyAgent
from autogen_nb.events import Event
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


ABC = ("alice", "bob", "carol")


def member(name: str, **more: Any) -> ConversableAgent:
    settings = {"human_input_mode": "NEVER", "default_auto_reply": f"{name} here", "description": f"I am {name}"}
    return ConversableAgent(name, **{**settings, **more})


def members(*names: str, **special: ConversableAgent) -> list[ConversableAgent]:
    return [special.get(name) or member(name) for name in names or ABC]


def led(agents: list[ConversableAgent], *replies: ScriptedReply, name: str = "chat_manager", **more: Any) -> Any:
    own = {key: more.pop(key) for key in ("is_termination_msg", "system_message") if key in more}
    settings = {"max_round": 4, "speaker_selection_method": "auto" if replies else "round_robin", **more}
    model = ScriptedModel(replies) if replies else False
    return GroupChatManager(GroupChat(agents, [], **settings), name=name, llm_config=model, **own)


def held(
    way: Way, initiator: ConversableAgent, manager: ConversableAgent, message: Any = "start", **more: Any
) -> TwoAgentChat:
    keys = ("human", "log")
    about = {key: more.pop(key) for key in keys if key in more}
    chat = TwoAgentChat(initiator, manager, ChatOptions(message, silent=True, **more), waits=way, **about)
    events(way, chat)
    return chat


def events(way: Way, chat: TwoAgentChat) -> list[Event]:
    return list(chat.exchange().events()) if way == "sync" else asyncio.run(stream(chat))


async def stream(chat: TwoAgentChat) -> list[Event]:
    return [event async for event in chat.exchange().stream_events()]


def spoken(manager: Any) -> list[tuple[str, str]]:
    return [(message["name"], message["content"]) for message in manager.groupchat.messages]


def remembered(agent: ConversableAgent, peer: ConversableAgent) -> list[tuple[str, str, str]]:
    return [(each["role"], each["name"], each["content"]) for each in agent.chat_messages[peer]]
