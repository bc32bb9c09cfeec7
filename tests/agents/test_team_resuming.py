import asyncio
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autogen_nb.agents.teams.model_led_teams import SelectorGroupChat
from autogen_nb.agents.teams.termination_conditions import (
    FunctionalTermination,
    MaxMessageTermination,
    TimeoutTermination,
)
from autogen_nb.agents.user_proxy import CodeExecutorAgent
from autogen_nb.events import Called, Event, ModelAsked, ModelReplied, OutputAdded, Recorded, Returned, SpeakerAsked
from autogen_nb.executors.command_line_code_executor import LocalCommandLineCodeExecutor
from autogen_nb.executors.jupyter_code_executor import JupyterCodeExecutor
from autogen_nb.outputs import Stream
from autogen_nb.run import CancellationToken, Log
from autogen_nb.testing import ScriptedModel, ScriptedReply
from tests.agents.teams import add, assistant, by_turns, calling, finished, says
from tests.driven import SLOPES, in_process
from tests.processes import gone

TURNS = 200


def selector(log: Sequence[Recorded] = (), turns: int = TURNS) -> SelectorGroupChat:
    asked = Counter(
        event.agent
        for event in log[:-1]
        if isinstance(event, ModelAsked | SpeakerAsked)
        or (isinstance(event, Called) and event.function == "generate_reply")
    )
    names = ["thinker", "talker", "counter"]
    choices = [names[turn % 3] for turn in range(TURNS)]
    thinker: list[ScriptedReply] = [calling("add", '{"a": 1, "b": 2}'), "three"] * TURNS
    members = [
        assistant("thinker", *thinker[asked["thinker"] :], tools=[add], max_tool_iterations=2),
        assistant("talker", *(f"word {number}" for number in range(asked["talker"], TURNS))),
        says("counter", *(f"{number}" for number in range(asked["counter"], TURNS))),
    ]
    condition = (
        FunctionalTermination(lambda messages: False) | TimeoutTermination(3600) | MaxMessageTermination(turns + 1)
    )
    return SelectorGroupChat(members, ScriptedModel(choices[asked["team"] :]), termination_condition=condition)


def untimed(events: Sequence[Event]) -> list[Event]:
    return [
        replace(event, seconds=0)
        if isinstance(event, ModelReplied)
        else replace(event, reason="", transcript=())
        if isinstance(event, Returned)
        else event
        for event in events
    ]


QUARTERS = [pytest.param(TURNS, start, 4, marks=pytest.mark.torture) for start in range(4)]


@pytest.mark.slow
@pytest.mark.parametrize(("turns", "start", "step"), [(9, 0, 1), (TURNS, 0, 97), *QUARTERS])
def test_resumable_at_every_event(turns: int, start: int, step: int) -> None:
    def hold(team: SelectorGroupChat, log: Log) -> None:
        list(team.exchange("start", log=log, waits="sync").events())

    whole: Log = []
    hold(selector(turns=turns), whole)

    assert len(whole) > 5 * turns
    for length in range(start, len(whole) + 1, step):
        log = list(whole[:length])
        hold(selector(log, turns), log)
        assert untimed(log) == untimed(list(whole))


COUNTED = """
from itertools import cycle
from autogen_nb import FunctionAgent, MaxMessageTermination, SelectorGroupChat, TextMentionTermination, AssistantAgent
from autogen_nb.messages import Completion
from autogen_nb.messages import Message, Usage

# A request holds the whole conversation: it is left out.
REQUESTS = {"request_of", "wire", "_request", "reply"}

class Model:
    def __init__(self, replies):
        self.replies = cycle(replies)
        self.name = "model"

    async def reply(self, request):
        yield Completion(Message(next(self.replies)), "model", Usage(1, 1))

def run(turns):
    members = [AssistantAgent(name, model_client=Model([name])) for name in "ab"]
    members.append(FunctionAgent(lambda messages: "c", "c", "counts"))
    ending = MaxMessageTermination(turns + 1) | TextMentionTermination("nothing")
    team = SelectorGroupChat(members, Model("abc"), termination_condition=ending)
    return sum(1 for _ in team.exchange("start", waits="sync").events())

slopes(run, 25, 50, 200, REQUESTS)
"""


@pytest.mark.slow
def test_work_is_linear() -> None:
    done = in_process(SLOPES + COUNTED)
    assert done.stderr == ""
    early, late = json.loads(done.stdout)

    assert early > 100
    assert late < early * 1.05


@pytest.mark.parametrize("make", [JupyterCodeExecutor, LocalCommandLineCodeExecutor])
def test_a_cancelled_run_leaves_no_process(make: Callable[..., Any], tmp_path: Path) -> None:
    code = "import os, subprocess\nchild = subprocess.Popen(['sleep', '98765'])"
    block = f"```python\n{code}\nprint(os.getpid(), child.pid, flush=True)\nwhile True: pass\n```"
    team = by_turns(
        assistant("coder", block), CodeExecutorAgent("runner", make(work_dir=tmp_path, timeout=300)), max_turns=2
    )
    token = CancellationToken()
    printed: list[str] = []

    class Watching:
        """Cancels the run as soon as its code runs."""

        def show(self, event: Event) -> None:
            if isinstance(event, OutputAdded) and isinstance(event.output, Stream):
                printed.append(event.output.text)
                if "\n" in event.output.text:
                    token.cancel()

        def tick(self) -> None:
            pass

        def close(self) -> None:
            pass

    async def cancelled() -> None:
        stream = team.run_stream(task="run", cancellation_token=token)
        stream.view = Watching()
        with pytest.raises(asyncio.CancelledError):
            await stream.result()

    finished(cancelled())
    pids = "".join(printed).split()

    assert len(pids) == 2
    assert gone(map(int, pids))
