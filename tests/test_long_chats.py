"""Chats of 5,000 messages: no recursion, work that grows with the messages alone, and memory for them alone.

Work is counted, not timed: bytecode instructions of the package, in the thread that runs the chat. How long such a
chat takes, with a model and without, is told by `benchmarks/long_chat.py`.
"""

import json
from typing import Any

import pytest

from tests.driven import SLOPES, in_process

PAIR = """
import asyncio, json, sys, tracemalloc
from itertools import count
from autogen_nb import ConversableAgent, GroupChat, GroupChatManager
from autogen_nb.agents.chats.initiated_chat import ChatOptions, TwoAgentChat
from autogen_nb.testing import ScriptedExecutor

WAY, KIND = {way!r}, {kind!r}
BLOCK = "Here:\\n```python\\nprint(1)\\n```"

class OwnReply(ConversableAgent):
    def generate_reply(self, messages=None, sender=None, **more):
        return super().generate_reply(messages, sender, **more)

    async def a_generate_reply(self, messages=None, sender=None, **more):
        return await super().a_generate_reply(messages, sender, **more)

class OwnWay(ConversableAgent):
    def send(self, message, recipient, *args, **more):
        super().send(message, recipient, *args, **more)

    async def a_send(self, message, recipient, *args, **more):
        await super().a_send(message, recipient, *args, **more)

    def receive(self, message, sender, *args, **more):
        super().receive(message, sender, *args, **more)

    async def a_receive(self, message, sender, *args, **more):
        await super().a_receive(message, sender, *args, **more)

def agents(text):
    numbers = count()

    def said(recipient, messages, sender, config):
        return True, f"{{next(numbers)}} {{text}}"

    kind = {{"own reply": OwnReply, "own send and receive": OwnWay}}.get(KIND, ConversableAgent)
    settings = {{"human_input_mode": "NEVER", "max_consecutive_auto_reply": 10_000}}
    if KIND == "predicate":
        settings["is_termination_msg"] = lambda message: "TERMINATE" in message["content"]
    code = {{"executor": ScriptedExecutor({{"print(1)": "1"}})}} if KIND == "code" else False
    one = kind("one", default_auto_reply=text, code_execution_config=code, **settings)
    other = kind("other", default_auto_reply=BLOCK if KIND == "code" else text, **settings)
    for agent in (one, other):
        if KIND == "functions":
            agent.register_reply([ConversableAgent], said)
        if KIND == "receiving hook":
            agent.register_hook("process_last_received_message", str.strip)
        if KIND == "sending hook":
            agent.register_hook("process_message_before_send", lambda sender, message, recipient, silent: message)
    return one, other

def chat(messages, text="Hello."):
    one, other = agents(text)
    options = {{"message": text, "max_turns": messages // 2, "silent": True}}
    if KIND == "single messages":
        for _ in range(messages):
            if WAY == "sync":
                one.send(text, other, silent=True)
            else:
                asyncio.run(one.a_send(text, other, silent=True))
        return None
    if KIND == "group":
        group = GroupChat([one, other], [], messages, speaker_selection_method="round_robin")
        other = GroupChatManager(group, max_consecutive_auto_reply=10_000)
        del options["max_turns"]
    if WAY == "sync":
        result = one.initiate_chat(other, **options)
    else:
        result = asyncio.run(one.a_initiate_chat(other, **options))
    if KIND == "resumed":
        again = TwoAgentChat(one, other, ChatOptions(**options), waits="sync", log=list(result.log))
        assert sum(1 for _ in again.exchange().events()) >= messages
        result = again.result()
    histories = result.chat_history, one.chat_messages[other], other.chat_messages[one]
    assert [len(each) for each in histories] == [messages] * 3
    return one, other, result

chat(2)
sys.setrecursionlimit(150)
"""
BOTH_WAYS = pytest.mark.parametrize("way", ["sync", pytest.param("async", marks=pytest.mark.slow)])
QUICK = ("default", "functions", "code", "group", "resumed")
SLOW = ("predicate", "sending hook", "receiving hook", "own send and receive", "own reply", "single messages")


def came_to(way: str, kind: str, program: str) -> Any:
    done = in_process(PAIR.format(way=way, kind=kind) + program)
    assert done.stderr == ""
    return json.loads(done.stdout)


@BOTH_WAYS
def test_5000_messages(way: str) -> None:
    assert came_to(way, "predicate", "print(len(chat(5_000)[2].chat_history))") == 5_000


@BOTH_WAYS
@pytest.mark.parametrize("kind", [*QUICK, *(pytest.param(kind, marks=pytest.mark.slow) for kind in SLOW)])
def test_work_is_linear_without_recursion(way: str, kind: str) -> None:
    # More messages than a recursion has room for.
    early, late = came_to(way, kind, SLOPES + "slopes(chat, 40, 80, 200)")

    assert early > 100
    assert late < early * 1.1


GROWN = """
def grown(messages, length):
    text = "x" * length
    tracemalloc.start()
    kept = chat(messages, text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / messages

grown(10, 10)
"""


@BOTH_WAYS
def test_memory_grows_with_the_messages_alone(way: str) -> None:
    few, many = came_to(way, "functions", GROWN + "print(json.dumps([grown(500, 1), grown(5_000, 1)]))")

    assert many < few * 1.2
    assert many < 4_000
