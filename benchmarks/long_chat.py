"""Chats of 500 and of 5,000 messages: whether a message costs the same in both, and what the model's request costs.

Without a model everything is this package's own. With one, the request holds the whole conversation, so that its
cost grows: how much, and for what, is told apart. The server plays the model in a process of its own.
"""

import asyncio
import json
import statistics
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from autogen_nb import ConversableAgent, run
from autogen_nb.agents.assistant import AssistantAgent
from autogen_nb.agents.chats.initiated_chat import ChatOptions, TwoAgentChat
from autogen_nb.agents.chats.participant import model_request
from autogen_nb.core.ports import Model, ModelRequest
from autogen_nb.events import ModelAsked, ModelReplied
from autogen_nb.human.rule_based_approver import NobodyToAsk
from autogen_nb.messages import Completion, Message
from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.testing import ScriptedExecutor
from benchmarks._notebook import server
from benchmarks._sizes import sized
from benchmarks._table import table

FEW, MANY = sized((500, 5_000), quick=(10, 100))
WORDS = "a message of some words " * 5
BLOCK = "Here:\n```python\nprint(1)\n```"
TURNS = 20
TIMES = sized(2, quick=1)


class Steady:
    """A model that always says the same and, unlike a scripted one, keeps no request."""

    name = "steady"

    async def reply(self, request: ModelRequest) -> AsyncIterator[str | Completion]:
        """The same words again."""
        del request
        yield Completion(Message(WORDS), self.name)


def quiet(name: str, **more: Any) -> ConversableAgent:
    """An agent that asks nobody and goes on and on."""
    settings = {"human_input_mode": "NEVER", "max_consecutive_auto_reply": 2 * MANY, "default_auto_reply": WORDS}
    return ConversableAgent(name, **{**settings, **more})


def defaults() -> tuple[ConversableAgent, ConversableAgent]:
    return quiet("one"), quiet("other")


def functions() -> tuple[ConversableAgent, ConversableAgent]:
    pair = defaults()
    for agent in pair:
        agent.register_reply([ConversableAgent], lambda *_, **__: (True, WORDS))
    return pair


def code() -> tuple[ConversableAgent, ConversableAgent]:
    executor = ScriptedExecutor({"print(1)": "1\n"})
    return quiet("one", code_execution_config={"executor": executor}), quiet("other", default_auto_reply=BLOCK)


def model() -> tuple[ConversableAgent, ConversableAgent]:
    return quiet("one"), quiet("other", llm_config=Steady())


KINDS: dict[str, Callable[[], tuple[ConversableAgent, ConversableAgent]]] = {
    "default replies": defaults,
    "reply functions": functions,
    "code, by a scripted executor": code,
    "a model, its request left out": model,
}


async def seconds(chat: TwoAgentChat) -> float:
    """Processor seconds of a chat, without those between a request to a model and its reply."""
    asked = left_out = 0.0
    begun = time.process_time()
    async for event in chat.exchange().stream_events():
        if isinstance(event, ModelAsked):
            asked = time.process_time()
        elif isinstance(event, ModelReplied):
            left_out += time.process_time() - asked
    return time.process_time() - begun - left_out


def rate(pair: tuple[ConversableAgent, ConversableAgent], messages: int, waits: run.Waits) -> float:
    """Messages in a second of the processor: other programs do not count."""
    chat = TwoAgentChat(*pair, ChatOptions(WORDS, max_turns=messages // 2), waits=waits, human=NobodyToAsk())
    took = run.run_to_completion(seconds(chat)) if waits == "sync" else asyncio.run(seconds(chat))
    return messages / took


def rates() -> list[list[object]]:
    rows: list[list[object]] = []
    ways: tuple[run.Waits, ...] = ("sync", "async")
    for name, pair in KINDS.items():
        for waits in ways:
            few, many = (max(rate(pair(), count, waits) for _ in range(TIMES)) for count in (FEW, MANY))
            rows.append([f"{name}, {waits}", f"{few:,.0f}", f"{many:,.0f}", f"{few / many:.2f}"])
    return rows


def replies(model: Model, earlier: int) -> tuple[float, float]:
    """Median milliseconds of a model's reply, and of the rest of its turn, at the end of a chat of that length."""
    one = quiet("one")
    other = AssistantAgent("other", llm_config=model, max_consecutive_auto_reply=MANY)
    for agent, peer in ((one, other), (other, one)):
        agent.clear_history(peer)
        roles = ("assistant", "user") if agent is one else ("user", "assistant")
        said = ({"content": f"{number} {WORDS}", "role": roles[number % 2]} for number in range(earlier))
        agent.chat_messages[peer].extend(said)
    chosen = ChatOptions(WORDS, max_turns=TURNS, clear_history=False)
    asked, took, turns = 0.0, list[float](), list[float]()
    for event in TwoAgentChat(one, other, chosen, waits="sync", human=NobodyToAsk()).exchange().events():
        now = time.perf_counter()
        if isinstance(event, ModelAsked):
            if took:
                turns.append(now - asked - took[-1])
            asked = now
        elif isinstance(event, ModelReplied):
            took.append(now - asked)
    return statistics.median(took) * 1e3, statistics.median(turns) * 1e3


def serialising(messages: int) -> tuple[float, float, float]:
    """Milliseconds to list the messages of a request, to write them as JSON, and to join JSON written before."""
    agent = AssistantAgent("other")
    known = [{"content": f"{number} {WORDS}", "role": "user", "name": "one"} for number in range(messages)]
    listed = list(model_request(agent, known).messages)
    written = [json.dumps(each, ensure_ascii=False) for each in listed]

    def fastest(call: Callable[[], object]) -> float:
        taken = []
        for _ in range(20):
            begun = time.perf_counter()
            call()
            taken.append(time.perf_counter() - begun)
        return min(taken) * 1e3

    return (
        fastest(lambda: model_request(agent, known)),
        fastest(lambda: json.dumps({"messages": listed}, ensure_ascii=False).encode()),
        fastest(lambda: b'{"messages":[%b]}' % ",".join(written).encode()),
    )


def main() -> None:
    header = ["messages in a second", f"of {FEW}", f"of {MANY:,}", "a message's cost, ratio"]
    print(table(header, rates()), flush=True)
    print("wanted: a ratio of about 1.00; 10 would be quadratic\n")
    with server(WORDS) as url:
        few, many = (replies(OpenAIModel(model="fake", base_url=url), count) for count in (FEW, MANY))
    small, large = serialising(FEW), serialising(MANY)
    names = ["listing the messages", "writing them as JSON", "joining JSON that was written before"]
    rows = [["the model's reply, from a local server", few[0], many[0]], ["the rest of the turn", few[1], many[1]]]
    rows += [[f"of the reply: {name}", *pair] for name, *pair in zip(names, small, large, strict=True)]
    print(table(["ms", f"after {FEW}", f"after {MANY:,}"], [[name, *(f"{x:.2f}" for x in xs)] for name, *xs in rows]))


if __name__ == "__main__":
    main()
