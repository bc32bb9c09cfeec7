import asyncio
import functools
from collections.abc import Callable
from typing import Any

import pytest

from autogen_nb.agents.assistant import AssistantAgent
from autogen_nb.agents.chats.initiated_chat import ChatOptions, TwoAgentChat
from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.agents.parts.agent import Agent
from autogen_nb.agents.user_proxy import UserProxyAgent
from autogen_nb.errors import CallbackError, ConfigError, SenderRequired
from autogen_nb.events import Called, Recorded
from autogen_nb.testing import ScriptedExecutor
from tests.agents.chatting import BOTH_WAYS, Way, assistant, chat, contents, events, user

PEER = user()


def answering(final: bool, reply: Any) -> Callable[..., tuple[bool, Any]]:
    def greet(recipient: Any, messages: Any, sender: Any, config: Any) -> tuple[bool, Any]:
        return final, reply

    return greet


async def slowly(recipient: Any, messages: Any, sender: Any, config: Any) -> tuple[bool, str]:
    await asyncio.sleep(0)
    return True, "TERMINATE"


@pytest.mark.parametrize(
    ("trigger", "meant"),
    [
        (UserProxyAgent, True),
        (Agent, True),
        (AssistantAgent, False),
        ("user", True),
        ("eve", False),
        (PEER, True),
        (assistant(), False),
        (lambda sender: sender.name == "user", True),
        (lambda sender: False, False),
        ([AssistantAgent, "user"], True),
        ([AssistantAgent, None], False),
        (None, False),
    ],
)
def test_triggers(trigger: Any, meant: bool) -> None:
    agent = ConversableAgent("agent", default_auto_reply="default", human_input_mode="NEVER")
    agent.register_reply(trigger, answering(True, "mine"))

    assert agent.generate_reply([{"content": "Hi?"}], PEER) == ("mine" if meant else "default")


@pytest.mark.parametrize(
    ("trigger", "function", "said"),
    [
        (3, answering(True, "x"), "is no trigger"),
        (["user", 3], answering(True, "x"), "is no trigger"),
        ({}, answering(True, "x"), "is no trigger"),
        (Agent, "x", "takes a function, not 'x'"),
    ],
)
def test_no_trigger_or_no_function(trigger: Any, function: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        user().register_reply(trigger, function)


def test_replace_reply_func() -> None:
    old = answering(True, "old")
    agent = ConversableAgent("agent", human_input_mode="NEVER")
    agent.register_reply("user", old, config=5)
    agent.replace_reply_func(old, lambda recipient, messages, sender, config: (True, f"new {config}"))

    assert agent.generate_reply([{"content": "Hi?"}], PEER) == "new 5"


def counting(recipient: Any, messages: Any, sender: Any, config: dict[str, int]) -> tuple[bool, str]:
    config["count"] = config.get("count", 0) + 1
    return True, str(config["count"])


@pytest.mark.parametrize(
    ("settings", "count"),
    [({"config": {"count": 10}}, "11"), ({"config": {}, "reset_config": lambda config: config.update(count=20)}, "21")],
    ids=["the config", "its own way"],
)
def test_reset_puts_the_config_back(settings: dict[str, Any], count: str) -> None:
    agent = ConversableAgent("agent", human_input_mode="NEVER")
    agent.register_reply(Agent, counting, **settings)
    agent.generate_reply([{"content": "Hi?"}], PEER)
    agent.reset()

    assert agent.generate_reply([{"content": "Hi?"}], PEER) == count


def test_async_function_in_a_sync_chat_is_refused() -> None:
    teacher = assistant()
    teacher.register_reply(Agent, slowly)

    with pytest.raises(ConfigError, match=r"'slowly' of assistant is async.*a_initiate_chat"):
        chat("sync", user(), teacher, message="Hi?")


def raising(recipient: Any, messages: Any, sender: Any, config: Any) -> Any:
    raise KeyError("k")


async def raising_later(recipient: Any, messages: Any, sender: Any, config: Any) -> Any:
    raise KeyError("k")


def bad_trigger(sender: Any) -> bool:
    raise KeyError("k")


@pytest.mark.parametrize(
    ("trigger", "function", "said"),
    [
        (Agent, raising, "the reply function 'raising' of assistant raised KeyError: 'k'"),
        (Agent, raising_later, "the reply function 'raising_later' of assistant raised KeyError: 'k'"),
        (bad_trigger, answering(True, "x"), "the trigger of the reply function 'greet' of assistant raised KeyError"),
        (Agent, lambda *_, **__: None, "returned None"),
        (Agent, lambda *_, **__: "ab", "returned 'ab'"),
        (Agent, answering(True, 3), r"'greet' of assistant returned \(True, 3\)"),
        (Agent, answering(True, {"role": "user"}), "must return"),
        (Agent, answering(True, {"content": 3}), "must return"),
    ],
)
def test_error_is_named_and_the_log_continues(trigger: Any, function: Any, said: str) -> None:
    log: list[Recorded] = []
    broken, mended = assistant(), assistant()
    working = answering(True, "TERMINATE")
    working.__name__ = function.__name__
    broken.register_reply(trigger, function)
    mended.register_reply(Agent, working)

    with pytest.raises(CallbackError, match=said):
        events("async", TwoAgentChat(user(), broken, ChatOptions("Hi?"), waits="async", log=log))
    cut_off = log[-1]
    talk = TwoAgentChat(user(), mended, ChatOptions("Hi?"), waits="sync", log=log)
    events("sync", talk)

    assert isinstance(cut_off, Called)
    assert contents(talk.result()) == ["Hi?", "TERMINATE"]


@BOTH_WAYS
def test_stop_reply_at_receive_within_a_chat(way: Way) -> None:
    helper = assistant("Never.")

    def last_words(recipient: Any, messages: Any = None, sender: Any = None, config: Any = None) -> Any:
        recipient.stop_reply_at_receive(sender)
        return True, "Last words."

    helper.register_reply("user", last_words)

    assert contents(chat(way, user(), helper, message="Begin.")) == ["Begin.", "Last words.", "Go on."]


def test_name_as_trigger_needs_a_sender() -> None:
    agent = assistant("default")
    agent.register_reply("user", answering(True, "mine"))

    with pytest.raises(SenderRequired, match="the trigger 'user' is an agent's name"):
        agent.generate_reply([{"content": "Hi?"}])


CODE = [{"content": "```python\nx = 1\n```", "role": "user"}]


def test_single_steps() -> None:
    words = [{"content": "Hello.", "role": "user"}]
    call = {"content": None, "function_call": {"name": "f", "arguments": "{}"}}
    proxy = user(
        code_execution_config={"executor": ScriptedExecutor({"x = 1": ""})}, function_map={"f": lambda: "done"}
    )

    assert proxy.generate_oai_reply(words) == (False, None)
    assert proxy.generate_function_call_reply(words) == (False, None)
    assert proxy.generate_function_call_reply([call])[1]["content"] == "done"
    assert proxy.generate_tool_calls_reply([call])[0]
    assert proxy.generate_code_execution_reply(CODE)[0]
    assert proxy.check_termination_and_human_reply(words) == (False, None)
    assert proxy.check_termination_and_human_reply([{"content": "TERMINATE"}]) == (True, None)
    assert assistant("One.").generate_oai_reply(words) == (True, "One.")
    assert asyncio.run(assistant("One.").a_generate_oai_reply(words)) == (True, "One.")
    assert asyncio.run(proxy.a_generate_tool_calls_reply([call]))[1]["content"] == "done"
    assert asyncio.run(proxy.a_check_termination_and_human_reply([{"content": "TERMINATE"}])) == (True, None)


def test_a_function_around_a_step_is_none_itself() -> None:
    @functools.wraps(ConversableAgent.generate_oai_reply)
    def shouted(agent: ConversableAgent, messages: Any, sender: Any, config: Any) -> Any:
        del config
        return True, str(agent.generate_reply(messages, sender, exclude=[shouted])).upper()

    helper = assistant("One.", default_auto_reply="Default.")
    helper.register_reply(ConversableAgent, shouted)

    assert contents(chat("sync", user(max_consecutive_auto_reply=0), helper, message="x")) == ["x", "ONE."]


class Quoting(ConversableAgent):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.replace_reply_func(ConversableAgent.generate_oai_reply, Quoting.quoted)

    def quoted(self, messages: Any = None, sender: Any = None, config: Any = None) -> Any:
        final, said = self.generate_oai_reply(messages, sender, config)
        return final, f"«{said}»"


def test_step_within_a_replacement() -> None:
    helper = Quoting("assistant", llm_config=assistant("One.").model, human_input_mode="NEVER")
    proxy = user()
    helper.update_max_consecutive_auto_reply(1, proxy)

    assert contents(chat("sync", proxy, helper, message="x")) == ["x", "«One.»", "Go on."]
    assert (helper.max_consecutive_auto_reply(proxy), helper.max_consecutive_auto_reply()) == (1, 100)
    helper.update_max_consecutive_auto_reply(5)
    assert helper.max_consecutive_auto_reply(proxy) == 5
