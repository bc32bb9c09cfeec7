"""10,000 streamed tokens: how many display updates a second they cause, and what the view costs.

Once as fast as the server can send, and once over about ten seconds, as a fast model writes.
"""

import time

from benchmarks._notebook import kernel, measured, server
from benchmarks._sizes import sized
from benchmarks._table import table

TOKENS = sized(10_000, quick=100)
WANTED = 12
DELAY = 0.001


async def stream(url: str, *, seen: bool) -> float:
    """Seconds for one reply of a model, shown or only read."""
    from autogen_nb.agents.assistant import AssistantAgent
    from autogen_nb.agents.chats.initiated_chat import ChatOptions, TwoAgentChat
    from autogen_nb.agents.user_proxy import UserProxyAgent
    from autogen_nb.human.rule_based_approver import NobodyToAsk
    from autogen_nb.notebook.view.notebook_view import NotebookView

    assistant = AssistantAgent("assistant", llm_config={"model": "fake", "base_url": url})
    user = UserProxyAgent("user", code_execution_config=False)
    chat = TwoAgentChat(user, assistant, ChatOptions("go", max_turns=1), waits="async", human=NobodyToAsk())
    view = NotebookView() if seen else None
    begun = time.perf_counter()
    async for event in chat.exchange().stream_events():
        if view is not None:
            view.show(event)
    if view is not None:
        view.close()
    return time.perf_counter() - begun


def main() -> None:
    words = [f"word{index % 97} " if index % 15 else "and\n\n" for index in range(TOKENS)]
    rows, remarks = [], []
    with kernel() as notebook:
        for pace, delay in (("at once", 0.0), ("one by one", DELAY)):
            with server("".join(words), words, delay) as url:
                measured(notebook, f"streaming.stream({url!r}, seen=True)")
                read, _ = measured(notebook, f"streaming.stream({url!r}, seen=False)")
                shown, displays = measured(notebook, f"streaming.stream({url!r}, seen=True)")
            rows += [
                [f"{TOKENS:,} tokens {pace}, only read (floor)", f"{read:.2f}", "1.00"],
                [f"{TOKENS:,} tokens {pace}, shown", f"{shown:.2f}", f"{shown / read:.2f}"],
            ]
            busiest = _busiest([display["at"] for display in displays])
            remarks.append(f"{pace}: {len(displays)} display messages, {busiest} in the busiest second")
    print(table(["what", "seconds", "/ only read"], rows))
    print("\n".join([*remarks, f"wanted: at most {WANTED} in any second"]))


def _busiest(moments: list[float]) -> int:
    """The most messages in any window of one second."""
    return max(sum(begin <= moment < begin + 1 for moment in moments) for begin in moments)


if __name__ == "__main__":
    main()
