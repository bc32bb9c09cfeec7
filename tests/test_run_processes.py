import subprocess
import sys
from pathlib import Path

import pytest

from tests.driven import in_process

WAYS = """
def waited(log):
    list(iterate(stream_events(flow(), lambda _: WORLD, log, waits="sync")))

async def awaiting(log):
    async for _ in stream_events(flow(), lambda _: WORLD, log):
        pass

def awaited(log):
    asyncio.run(awaiting(log))

def inside(log):
    async def cell():
        waited(log)
    asyncio.run(cell())
"""
INTERRUPTED = """
import asyncio, os, signal, threading, time
from autogen_nb.core.chats.chat_flow import two_agent_chat
from autogen_nb.core.chats.reply_steps import AgentSpec, generate_oai_reply
from autogen_nb.events import ModelDelta, ModelReplied
from autogen_nb.messages import Completion, Message
from autogen_nb.run import OnCaller, OnEngine, iterate, stream_events

begun = threading.Event()

def press():
    begun.wait()
    os.kill(os.getpid(), signal.SIGINT)

def slow():
    begun.set()
    # A signal on the way into one long sleep would be lost: that is Python's, and no caller's.
    for _ in range(6_000):
        time.sleep(0.01)

async def patient(emit=lambda _: None):
    try:
        emit(ModelDelta("assistant", "hel"))
        begun.set()
        await asyncio.sleep(60)
    finally:
        print("let go")

async def answer(_):
    return ModelReplied(Completion(Message("hello"), "m"))

def flow():
    return two_agent_chat(AgentSpec("user"), AgentSpec("assistant", (generate_oai_reply,)), opening=Message("go"))

WAYS
log = []
threading.Thread(target=press).start()
try:
    WAY(log)
    raise AssertionError("it was not interrupted")
except KeyboardInterrupt:
    print(*(type(event).__name__ for event in log))

list(iterate(stream_events(flow(), lambda _: OnEngine(answer), log, waits="sync")))
print(type(log[-1]).__name__)
"""


@pytest.mark.parametrize("way", ["waited", "awaited", "inside"])
@pytest.mark.parametrize(
    ("world", "told"), [("OnEngine(patient)", "let go\n"), ("OnCaller(slow)", ""), ("OnCaller(patient)", "let go\n")]
)
def test_interrupt_ends_what_runs_and_leaves_a_log(way: str, world: str, told: str) -> None:
    program = INTERRUPTED.replace("WAYS", WAYS.replace("WORLD", world)).replace("WAY", way)

    done = in_process(program)

    assert (done.stdout, done.stderr) == (f"{told}ChatStarted Said ModelAsked\nEnded\n", "")


ENDING = """
import asyncio
from autogen_nb.engine import engine

async def ending():
    await asyncio.sleep(0.01)
    print("ended", engine.is_current_thread())

async def broken():
    raise ZeroDivisionError

def broken_at_once():
    raise ZeroDivisionError

async def hanging():
    await asyncio.Event().wait()

async def start():
    return "started"

for each in (ENDINGS):
    engine.at_exit(each)
print(engine.call(start()))
"""


@pytest.mark.parametrize(
    ("endings", "told"),
    [
        pytest.param("ending,", "started\nended True\n", id="awaited on the engine"),
        pytest.param("broken, broken_at_once, ending", "started\nended True\n", id="beside broken ones"),
        pytest.param("hanging, ending", "started\nended True\n", id="beside one that hangs"),
        pytest.param("", "started\n", id="none"),
    ],
)
def test_endings_run_when_the_process_ends(endings: str, told: str) -> None:
    done = in_process(ENDING.replace("ENDINGS", endings or "()"))

    assert (done.stdout, done.stderr, done.returncode) == (told, "", 0)


FORKED = """
import multiprocessing, sys
from autogen_nb import AssistantAgent, UserProxyAgent
from autogen_nb.testing import ScriptedModel

def chat(number):
    model = ScriptedModel([f"```python\\nprint({number} * 2)\\n```", "TERMINATE"])
    proxy = UserProxyAgent("user", human_input_mode="NEVER", code_execution_config={"work_dir": sys.argv[1]})
    result = proxy.initiate_chat(AssistantAgent("assistant", llm_config=model), message="Go.", silent=True)
    return result.chat_history[2]["content"].split()[-1]

print(chat(1))
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(chat, [2, 3]))
"""


def test_chats_run_in_forked_processes(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FORKED, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert (done.stdout, done.stderr) == ("2\n['4', '6']\n", "")
