"""How many of our functions a warm `%%autogen` cell with one plot runs, in how many files.

The cell runs twice in a notebook's kernel, against a fake server; the second run is counted by `sys.setprofile` in the
notebook's thread and in the engine's.
"""

import sys
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from autogen_nb.testing import FakeOpenAI, FakeReply, Received
from benchmarks._notebook import kernel, measured
from benchmarks._table import table

PACKAGE = str(Path(__file__).parent.parent / "autogen_nb")
BLOCK = "```python\nimport matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\nplt.show()\n```"
MOST_FUNCTIONS, MOST_FILES = 450, 70


async def count(url: str) -> tuple[int, int, int]:
    """Calls, functions and files of the package in a warm cell."""
    import asyncio

    from IPython.core.getipython import get_ipython

    from autogen_nb.engine import engine

    shell: Any = get_ipython()
    shell.run_line_magic("load_ext", "autogen_nb")
    shell.run_line_magic("env", f"OPENAI_BASE_URL={url}")
    shell.run_line_magic("env", "OPENAI_API_KEY=sk-bench")
    cell = "%%autogen -m fake --confirm never\nPlot three numbers."
    calls: list[CodeType] = []

    def profile(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            calls.append(frame.f_code)

    async def profile_engine(on: bool) -> None:
        sys.setprofile(profile if on else None)

    code = shell.transform_cell(cell)
    (await shell.run_cell_async(cell, transformed_cell=code)).raise_error()
    await asyncio.wrap_future(engine.submit(profile_engine(on=True)))
    sys.setprofile(profile)
    (await shell.run_cell_async(cell, transformed_cell=code)).raise_error()
    sys.setprofile(None)
    await asyncio.wrap_future(engine.submit(profile_engine(on=False)))
    return len(calls), len(set(calls)), len({code.co_filename for code in calls})


def answer(request: Received) -> FakeReply:
    asked = str(request.body["messages"][-1]["content"])
    return FakeReply(BLOCK if "Plot" in asked else "There it is.")


def main() -> None:
    with kernel() as notebook, FakeOpenAI(answer) as fake:
        (calls, functions, files), _ = measured(notebook, f"warm_cell.count({fake.base_url!r})")
    rows = [("functions", functions, MOST_FUNCTIONS), ("files", files, MOST_FILES), ("calls", f"{calls:,}", "")]
    print(table(("", "now", "aim, at most"), rows))


if __name__ == "__main__":
    main()
