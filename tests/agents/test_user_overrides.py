import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.errors import CallbackError
from tests.agents.chatting import BOTH_WAYS, Way, assistant, chat, model_of, user


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


class Wrong(ConversableAgent):
    def generate_reply(self, messages: Any = None, sender: Any = None, exclude: Any = ()) -> Any:
        return 3


def test_wrong_reply_is_named() -> None:
    with pytest.raises(CallbackError, match=r"generate_reply of wrong returned 3; it must return"):
        chat("sync", user(), Wrong("wrong"), message="Begin.")


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
