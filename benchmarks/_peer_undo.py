"""Kishu on the cells of `checkpoints`, in its environment: ``_peer_undo.py ROUNDS CELL...``.

It prints the seconds of a block, and those from an undo of the last cell to the result of that cell. It imports
nothing of ours.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.manager import KernelManager

BEGIN = "import os; os.environ['ENV_KISHU_TEST_MODE'] = '1'\nfrom kishu import init_kishu\ninit_kishu({!r})"

UNDO = "_kishu.checkout({!r}, skip_notebook=True)"


def main(rounds: int, cells: list[str]) -> None:
    notebook = Path("undo.ipynb").absolute()
    spec = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(nbformat.v4.new_notebook(metadata={"kernelspec": spec}), notebook)
    # Kishu finds its kernel by the name of this file.
    manager = KernelManager(connection_file=str(Path("kernel-undo.json").absolute()))
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.wait_for_ready()
    printed: list[str] = []

    def run(code: str) -> str:
        printed.clear()

        def keep(message: dict[str, Any]) -> None:
            printed.append(message["content"].get("text", ""))

        reply = client.execute_interactive(code, output_hook=keep)["content"]
        if reply["status"] != "ok":
            raise SystemExit(f"{code}: {reply.get('evalue')}")
        return "".join(printed)

    def seconds(*codes: str) -> float:
        begun = time.perf_counter()
        for code in codes:
            run(code)
        return time.perf_counter() - begun

    run(BEGIN.format(str(notebook)))
    for cell in cells:
        run(cell)
    before = run("print(*(each.commit_id for each in _kishu._kishu_graph.list_history()))").split()[1]
    blocks = [seconds("x = 1") for _ in range(rounds)]
    undos = [seconds(UNDO.format(before), cells[-1]) for _ in range(rounds)]
    print("measured:" + json.dumps({"block": blocks, "undo": undos}))
    client.stop_channels()
    manager.shutdown_kernel(now=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
