"""Chats of 5,000 messages: no recursion, work that grows with the messages alone, and memory for them alone.

Work is counted, not timed: bytecode instructions of the package, in the thread that runs the chat. How long such a
chat takes, with a model and without, is told by `benchmarks/long_chat.py`.
"""

import json
from typing import Any

import pytest

from tests.driven import in_process

PAIR = """
import asyncio, json, sys, tracemalloc
from itertools import count
from autogen_nb import ConversableAgent
from autogen_nb.testing import ScriptedExecutor

WAY, KIND = {way!r}, {kind!r}
BLOCK = "Here:\\n```python\\nprint(1)\\n```"

def pair(text="Hello."):
    numbers = count()

    def said(recipient, messages, sender, config):
        return True, f"{{next(numbers)}} {{text}}"

    code = {{"executor": ScriptedExecutor({{"print(1)": "1"}})}} if KIND == "code" else False
    settings = {{"human_input_mode": "NEVER", "max_consecutive_auto_reply": 10_000}}
    if KIND == "predicate":
        settings["is_termination_msg"] = lambda message: "TERMINATE" in message["content"]
    one = ConversableAgent("one", default_auto_reply=text, code_execution_config=code, **settings)
    other = ConversableAgent("other", default_auto_reply=BLOCK if KIND == "code" else text, **settings)
    if KIND == "functions":
        for agent in (one, other):
            agent.register_reply([ConversableAgent], said)
    return one, other

def chat(messages, text="Hello."):
    one, other = pair(text)
    options = {{"message": text, "max_turns": messages // 2, "silent": True}}
    if WAY == "sync":
        return one, other, one.initiate_chat(other, **options)
    return one, other, asyncio.run(one.a_initiate_chat(other, **options))
"""
BOTH_WAYS = pytest.mark.parametrize("way", ["sync", "async"])
KINDS = pytest.mark.parametrize("kind", ["default", "functions", "predicate", "code"])


def came_to(way: str, kind: str, program: str) -> Any:
    """What a process that runs such chats printed."""
    done = in_process(PAIR.format(way=way, kind=kind) + program)
    assert done.stderr == ""
    return json.loads(done.stdout)


WHOLE = """
chat(2)
sys.setrecursionlimit(150)
one, other, result = chat(5_000)
print(json.dumps([
    len(result.chat_history), len(one.chat_messages[other]), len(other.chat_messages[one]), result.log[-1].reason
]))
"""


@BOTH_WAYS
@KINDS
def test_5000_messages(way: str, kind: str) -> None:
    """5,000 messages are exchanged with room for 150 frames, and both agents and the result have all of them."""
    assert came_to(way, kind, WHOLE) == [5_000, 5_000, 5_000, "max_turns"]


COUNTED = """
import os, autogen_nb

OURS = os.path.dirname(autogen_nb.__file__)

def counted(messages):
    ran = 0

    def each(frame, event, _):
        nonlocal ran
        ran += event == "opcode"
        return each

    def entered(frame, event, _):
        if not frame.f_code.co_filename.startswith(OURS):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return each

    sys.settrace(entered)
    try:
        chat(messages)
    finally:
        sys.settrace(None)
    return ran

counted(2)
few, more, many = counted(100), counted(200), counted(800)
print(json.dumps([(more - few) / 100, (many - more) / 600]))
"""


@BOTH_WAYS
@KINDS
def test_work_is_linear(way: str, kind: str) -> None:
    """A message of a chat of 800 costs as many instructions as one of a chat of 200, within a twentieth."""
    early, late = came_to(way, kind, COUNTED)

    assert early > 100
    assert late < early * 1.05


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
    """What is kept beside the words of a message does not grow with the chat, and is less than 4 kB."""
    few, many = came_to(way, "functions", GROWN + "print(json.dumps([grown(500, 1), grown(5_000, 1)]))")

    assert many < few * 1.2
    assert many < 4_000


@pytest.mark.parametrize(
    "way",
    [
        "sync",
        pytest.param(
            "async",
            marks=pytest.mark.xfail(
                strict=True,
                raises=AssertionError,
                reason="asyncio.run writes out what its task returned, and a ChatResult writes out the whole chat",
            ),
        ),
    ],
)
def test_words_are_held_once(way: str) -> None:
    """The words of a message are held once by all who have them: both agents, the log and the result."""
    per_message = came_to(way, "functions", GROWN + "print(json.dumps(grown(1_000, 20_000)))")

    assert 20_000 < per_message < 20_000 * 1.2
