"""Tab in a notebook with 500 variables and 200 chats, beside a completion by IPython alone.

The chats have no cell, and so no kernel; the replies are timed as a front end gets them.
"""

import statistics
import time

from jupyter_client.blocking.client import BlockingKernelClient

from benchmarks._notebook import kernel
from benchmarks._sizes import sized
from benchmarks._verdict import Row, judged

VARIABLES = sized(500, quick=5)
CHATS = sized(200, quick=2)
ROUNDS = sized(30, quick=2)
LIMIT = 100
PREPARE = f"""
%load_ext autogen_nb
import pandas as pd
for number in range({VARIABLES}):
    globals()[f"table_{{number}}"] = pd.DataFrame({{"a": range(100), "b": 1.5}})
conversations = get_ipython().magics_manager.registry["AutogenMagics"].handler().conversations
for number in range({CHATS}):
    conversations.named(f"chat_{{number}}")
"""
PLACES = {
    "options": "%%autogen --",
    "500 variables": "%%autogen -i table_",
    "200 chats": "%%autogen -c chat_",
    "models": "%%autogen -m ",
    "a command's arguments": "%autogen history ",
}


def milliseconds(client: BlockingKernelClient, code: str) -> float:
    times = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        reply = client.complete(code, reply=True, timeout=60)
        times.append(1e3 * (time.perf_counter() - begun))
        if code.startswith("%") and not reply["content"]["matches"]:
            raise SystemExit(f"{code!r} has no completions")
    return statistics.median(times)


def main() -> None:
    with kernel() as client:
        client.execute_interactive(PREPARE, timeout=600, output_hook=lambda _: None)
        floor = milliseconds(client, "%lsma")
        rows = [
            Row(f"{what}; floor: a magic's name", milliseconds(client, code), floor, LIMIT, absolute=True)
            for what, code in PLACES.items()
        ]
    print(judged(rows))


if __name__ == "__main__":
    main()
