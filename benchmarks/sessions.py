"""A session of 10,000 events: how long it takes to open, and to append to at its start and at its end."""

import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from autogen_nb.events import CodeAsked, CodeRan, ModelAsked, ModelReplied, Recorded, Said
from autogen_nb.messages import CodeBlock, Completion, Message, Usage
from autogen_nb.outputs import Display, Stream
from autogen_nb.sessions.session import LOG
from autogen_nb.sessions.store import SessionStore
from benchmarks._sizes import sized
from benchmarks._verdict import Row, judged

EVENTS = sized(10_000, quick=100)
SAMPLE = EVENTS // 10
WORDS = "Some words.\n\n```python\nprint(1)\n```" * 5


def events() -> Iterator[Recorded]:
    """Turns with a block, its output and a plot of 20 KB."""
    for number in range(EVENTS):
        yield Said("user", "assistant", Message("Go on. " * 20))
        yield ModelAsked("assistant", "user", number)
        yield ModelReplied(Completion(Message(WORDS), "model", Usage(100, 20)))
        yield Said("assistant", "user", Message(WORDS))
        yield CodeAsked("user", (CodeBlock("python", "print(1)"),))
        yield CodeRan(0, (Stream("stdout", "1\n"), Display({"image/png": "A" * 20_000 + str(number)})))


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = SessionStore(Path(folder))
        session = store.create("main", chat="main")
        log = session.begin("Go on.", "Go on.", {}, {}).log
        times = [seconds(partial(log.append, event)) for event in islice(events(), EVENTS)]
        session.close()
        opened = min(seconds(lambda: store.open(session.name).close()) for _ in range(3))
        lines = (store.folder / session.name / LOG).read_bytes().splitlines()
        parsed = min(seconds(lambda: [json.loads(line[17:]) for line in lines]) for _ in range(3))
        plain = os.open(Path(folder, "plain"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        written = statistics.mean(seconds(partial(os.write, plain, line)) for line in lines)
        os.close(plain)
    start, end = (1e3 * statistics.mean(part) for part in (times[:SAMPLE], times[-SAMPLE:]))
    print(
        judged(
            [
                Row(f"open {EVENTS:,} events; floor: json.loads", 1e3 * opened, 1e3 * parsed, 1_000, absolute=True),
                Row("append at the start; floor: os.write", start, 1e3 * written),
                Row("append at the end; floor: at the start", end, start, 1.5),
            ]
        )
    )


if __name__ == "__main__":
    main()
