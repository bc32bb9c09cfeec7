import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from autogen_nb.agents.chats.initiated_chat import ChatOptions, TwoAgentChat
from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.agents.user_proxy import UserProxyAgent
from autogen_nb.errors import CallbackError
from autogen_nb.events import HumanInputAsked, HumanInputGiven, ReceiveGiven, ReplyGiven, Said
from autogen_nb.testing import ScriptedHuman
from tests.agents.chatting import BOTH_WAYS, Way, assistant, chat, contents, model_of, user


class Writing(UserProxyAgent):
    def send(self, message: Any, recipient: Any, request_reply: Any = None, silent: Any = False) -> None:
        super().send(str(message).upper(), recipient, request_reply, silent)

    async def a_send(self, message: Any, recipient: Any, request_reply: Any = None, silent: Any = False) -> None:
        await super().a_send(f"awaited {message}".upper(), recipient, request_reply, silent)


class Twice(UserProxyAgent):
    def send(self, message: Any, recipient: Any, request_reply: Any = None, silent: Any = False) -> None:
        super().send("Now:", recipient, False, silent)
        super().send(message, recipient, request_reply, silent)


def test_two_messages_for_one() -> None:
    result = chat("sync", user(Twice, max_consecutive_auto_reply=0), assistant("One."), message="Begin.")

    assert contents(result) == ["Now:", "Begin.", "One."]


class Reading(UserProxyAgent):
    def receive(self, message: Any, sender: Any, request_reply: Any = None, silent: Any = False) -> None:
        if message != "Ignore me.":
            super().receive(str(message)[:3], sender, request_reply, silent)


@BOTH_WAYS
def test_receive(way: Way) -> None:
    proxy, helper = user(Reading), assistant("One two.", "Ignore me.", "Never.")

    result = chat(way, proxy, helper, message="Begin.")

    assert contents(result) == ["Begin.", "One", "Go on."]
    assert [message["content"] for message in helper.chat_messages[proxy]] == [
        "Begin.",
        "One two.",
        "Go on.",
        "Ignore me.",
    ]
    assert [event for event in result.log if isinstance(event, ReceiveGiven)][-1] == ReceiveGiven(None)


class Deaf(UserProxyAgent):
    def receive(self, message: Any, sender: Any, request_reply: Any = None, silent: Any = False) -> None:
        super().receive(message, sender, False, silent)


class Polite(ConversableAgent):
    seen: list[Any]

    def generate_reply(
        self,
        messages: Sequence[Mapping[str, Any]] | None = None,
        sender: ConversableAgent | None = None,
        exclude: Any = (),
    ) -> Any:
        self.seen = [(message["content"], message["role"]) for message in messages or ()]
        reply = super().generate_reply(messages, sender, exclude)
        return None if reply is None else f"{reply} Thanks."


def polite(*replies: Any, **more: Any) -> Polite:
    return Polite("assistant", llm_config=model_of(assistant(*replies)), human_input_mode="NEVER", **more)


def test_usage_of_an_overridden_reply_is_counted() -> None:
    helper = polite("One.")

    result = chat("sync", user(max_consecutive_auto_reply=0), helper, message="Begin.")

    included = result.cost["usage_including_cached_inference"]
    assert included == helper.get_total_usage() == helper.get_actual_usage()
    assert len(included) > 1


class Asking(ConversableAgent):
    def generate_reply(self, messages: Any = None, sender: Any = None, exclude: Any = ()) -> Any:
        return super().generate_reply(messages, sender, exclude)


def test_person_of_the_chat_is_asked_within() -> None:
    human = ScriptedHuman(["Own words.", "exit"])
    asker = Asking("asker", human_input_mode="ALWAYS")
    running = TwoAgentChat(
        asker, assistant("One.", "Two."), ChatOptions("Begin.", silent=True), waits="sync", human=human
    )

    list(running.exchange().events())

    assert contents(running.result()) == ["Begin.", "One.", "Own words.", "Two."]
    assert running.result().human_input == ["Own words.", "exit"]
    given = [event for event in running.log if isinstance(event, ReplyGiven)]
    assert [type(inner) for inner in given[0].inner][-2:] == [HumanInputAsked, HumanInputGiven]


class Wrong(ConversableAgent):
    def generate_reply(self, messages: Any = None, sender: Any = None, exclude: Any = ()) -> Any:
        return 3


def test_wrong_reply_is_named() -> None:
    with pytest.raises(CallbackError, match=r"generate_reply of wrong returned 3; it must return"):
        chat("sync", user(), Wrong("wrong"), message="Begin.")


@BOTH_WAYS
def test_log_goes_on_without_asking_again(way: Way) -> None:
    proxy, helper = user(Writing, max_consecutive_auto_reply=1), polite("One.", "Two.")
    whole = list(chat(way, proxy, helper, message="begin.").log)
    fresh = user(Writing, max_consecutive_auto_reply=1)
    running = TwoAgentChat(fresh, polite(), ChatOptions("begin.", silent=True), waits=way, log=list(whole))

    if way == "sync":
        list(running.exchange().events())
    else:
        asyncio.run(_all(running))

    assert running.log == whole
    assert contents(running.result()) == [event.message.content for event in whole if isinstance(event, Said)]


async def _all(running: TwoAgentChat) -> None:
    async for _ in running.exchange().stream_events():
        pass


def test_messages_outside_of_chats_pass_through_overridden_methods() -> None:
    proxy, helper = user(Writing), Reading("helper", human_input_mode="NEVER", code_execution_config=False)

    proxy.send("hello", helper, silent=True)

    assert contents_of(helper, proxy) == ["HEL"]
    assert contents_of(proxy, helper) == ["HELLO"]


@BOTH_WAYS
def test_receive_outside_of_a_chat(way: Way) -> None:
    proxy, helper = user(max_consecutive_auto_reply=0), assistant("One.")

    if way == "sync":
        helper.receive("Hello.", proxy, request_reply=True, silent=True)
    else:
        asyncio.run(helper.a_receive("Hello.", proxy, request_reply=True, silent=True))

    assert contents_of(helper, proxy) == ["Hello.", "One."]
    assert contents_of(proxy, helper) == ["One."]
    helper.receive("Again.", proxy, request_reply=False, silent=True)
    assert contents_of(helper, proxy) == ["Hello.", "One.", "Again."]


def contents_of(agent: ConversableAgent, peer: ConversableAgent) -> list[Any]:
    return [message["content"] for message in agent.chat_messages[peer]]
