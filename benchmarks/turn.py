"""A turn whose block is `x=1`, with events, view and log, beside a raw round trip to a kernel.

The whole runs in a notebook's kernel, as a person's cell does: the model is a fake server on loopback, the agent's
kernel is real, and the view publishes to a front end that reads everything.
"""

import statistics
import time

from jupyter_client.blocking.client import BlockingKernelClient

from benchmarks._notebook import kernel, measured, server
from benchmarks._sizes import sized
from benchmarks._table import table

LATE = sized(1_000, quick=40)
ROUNDS = sized(220, quick=25)
WARM = 20
AROUND = 10


async def turns(url: str, count: int) -> list[list[float]]:
    """Seconds of each turn, and of the model's call in it."""
    from autogen_nb.agents.assistant import AssistantAgent
    from autogen_nb.agents.chats.initiated_chat import ChatOptions, TwoAgentChat
    from autogen_nb.agents.user_proxy import UserProxyAgent
    from autogen_nb.events import ModelAsked, ModelReplied
    from autogen_nb.executors.block_executor import BlockExecutor
    from autogen_nb.human.rule_based_approver import NobodyToAsk
    from autogen_nb.notebook.view.notebook_view import NotebookView

    config = {"model": "fake", "base_url": url}
    executor = BlockExecutor()
    user = UserProxyAgent(
        "user",
        max_consecutive_auto_reply=count,
        human_input_mode="NEVER",
        code_execution_config={"executor": executor},
    )
    assistant = AssistantAgent("assistant", llm_config=config, max_consecutive_auto_reply=count + 1)
    chat = TwoAgentChat(user, assistant, ChatOptions("go"), waits="async", human=NobodyToAsk())
    view = NotebookView()
    measured_turns: list[list[float]] = []
    begun, model = 0.0, 0.0
    async for event in chat.exchange().stream_events():
        now = time.perf_counter()
        if isinstance(event, ModelAsked):
            if begun:
                measured_turns.append([now - begun, model])
            begun = now
        elif isinstance(event, ModelReplied):
            model = now - begun
        view.show(event)
    view.close()
    return measured_turns


def round_trips(client: BlockingKernelClient, count: int) -> list[float]:
    """Seconds from the request `x=1` to its reply and idle, on a raw blocking client."""
    times = []
    for _ in range(count):
        begun = time.perf_counter()
        client.execute_interactive("x=1", allow_stdin=False, timeout=30)
        times.append(time.perf_counter() - begun)
    return times[WARM:]


def main() -> None:
    with kernel() as raw, server("```python\nx=1\n```") as url, kernel() as notebook:
        before = round_trips(raw, ROUNDS)
        each, _ = measured(notebook, f"turn.turns({url!r}, {LATE + AROUND})")
        floor = statistics.median(before + round_trips(raw, ROUNDS))
    rest = [turn - model for turn, model in each]
    early, late = _around(rest, WARM), _around(rest, LATE)
    model_early, model_late = (_around([model for _, model in each], at) for at in (WARM, LATE))
    print(
        table(
            ["what", "ms", "/ round trip"],
            [
                ["raw round trip of `x=1` (floor)", _ms(floor), "1.00"],
                [f"turn {WARM}, the model's call left out", _ms(early), f"{early / floor:.2f}"],
                [f"turn {LATE:,}, the model's call left out", _ms(late), f"{late / floor:.2f}"],
                [f"the model's call in turn {WARM}", _ms(model_early), f"{model_early / floor:.2f}"],
                [f"the model's call in turn {LATE:,}", _ms(model_late), f"{model_late / floor:.2f}"],
            ],
        )
    )
    print(
        f"turn {LATE:,} costs {late / early:.2f} times turn {WARM}; "
        "wanted: at most 1.20, and a turn at most 2 round trips"
    )


def _around(values: list[float], index: int) -> float:
    return statistics.median(values[index - AROUND : index + AROUND])


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.2f}"


if __name__ == "__main__":
    main()
