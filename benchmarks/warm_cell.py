"""How much of the package a warm `%%autogen` cell with one plot runs, and how the plot's picture comes back.

The cell runs twice in a notebook's kernel, against a fake server. `sys.setprofile` counts the second run in the
notebook's thread and in the engine's. Comprehensions are part of their function, as Python 3.12 compiles them.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from autogen_nb.testing import FakeOpenAI, FakeReply, Received
from benchmarks._notebook import kernel, measured
from benchmarks._table import table

PACKAGE = str(Path(__file__).parent.parent / "autogen_nb")
BLOCK = "```python\nimport matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\nplt.show()\n```"
VIEW = "_view.py"
COMPREHENSIONS = {"<listcomp>", "<dictcomp>", "<setcomp>"}
MOST_FUNCTIONS, MOST_FILES, MOST_PICTURE_CALLS = 450, 70, 15


class Profile:
    """The package's functions that were called, and those that took a picture as an argument."""

    def __init__(self) -> None:
        self.calls: list[CodeType] = []
        self.picture_calls: list[CodeType] = []

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(PACKAGE) or code.co_name in COMPREHENSIONS:
            return
        self.calls.append(code)
        arguments = [frame.f_locals.get(name) for name in code.co_varnames[: code.co_argcount]]
        # A resumed coroutine or generator still has its arguments.
        if code not in self.picture_calls and any(has_picture(argument) for argument in arguments):
            self.picture_calls.append(code)

    def calls_until_shown(self) -> int:
        return 1 + max(number for number, code in enumerate(self.picture_calls) if VIEW in code.co_filename)


def has_picture(value: Any, depth: int = 3) -> bool:
    if isinstance(value, Mapping):
        return "image/png" in value or (depth > 0 and any(has_picture(each, depth - 1) for each in value.values()))
    if isinstance(value, list):
        return any(isinstance(each, bytes) and b'"image/png"' in each for each in value)
    fields = [getattr(value, name, None) for name in ("data", "output", "value")]
    return depth > 0 and any(has_picture(field, depth - 1) for field in fields if field is not None)


async def count(url: str) -> tuple[int, int, int, int, int]:
    """Calls, functions and files of a warm cell, and the functions that took the picture: until it is shown, and all.

    After it is shown, the picture goes to the model's report and to the session.
    """
    import asyncio

    from IPython.core.getipython import get_ipython

    from autogen_nb.engine import engine

    shell: Any = get_ipython()
    shell.run_line_magic("load_ext", "autogen_nb")
    shell.run_line_magic("env", f"OPENAI_BASE_URL={url}")
    shell.run_line_magic("env", "OPENAI_API_KEY=sk-bench")
    cell = "%%autogen -m fake --confirm never\nPlot three numbers."
    profile = Profile()

    async def profile_engine(on: bool) -> None:
        sys.setprofile(profile if on else None)

    code = shell.transform_cell(cell)
    (await shell.run_cell_async(cell, transformed_cell=code)).raise_error()
    await asyncio.wrap_future(engine.submit(profile_engine(on=True)))
    sys.setprofile(profile)
    (await shell.run_cell_async(cell, transformed_cell=code)).raise_error()
    sys.setprofile(None)
    await asyncio.wrap_future(engine.submit(profile_engine(on=False)))
    functions = set(profile.calls)
    files = {code.co_filename for code in functions}
    return len(profile.calls), len(functions), len(files), profile.calls_until_shown(), len(profile.picture_calls)


def answer(request: Received) -> FakeReply:
    asked = str(request.body["messages"][-1]["content"])
    return FakeReply(BLOCK if "Plot" in asked else "There it is.")


def main() -> None:
    with kernel() as notebook, FakeOpenAI(answer) as fake:
        (calls, functions, files, shown, picture), _ = measured(notebook, f"warm_cell.count({fake.base_url!r})")
    rows = [
        ("functions", functions, MOST_FUNCTIONS),
        ("files", files, MOST_FILES),
        ("functions that take the picture until it is shown", shown, MOST_PICTURE_CALLS),
        ("functions that take the picture", picture, ""),
        ("calls", f"{calls:,}", ""),
    ]
    print(table(("", "now", "aim, at most"), rows))


if __name__ == "__main__":
    main()
