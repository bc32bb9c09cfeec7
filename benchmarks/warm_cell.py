"""How much of the package a warm `%%autogen -i df` cell runs, with a click on Run and a plot.

The cell runs twice in a notebook's kernel, against a fake server. `sys.setprofile` counts the second run in the
notebook's thread and in the engine's. Comprehensions are part of their function, as Python 3.12 compiles them.

`warm_cell.toml` has the limits, which may only be lowered. `.ci/run` fails if a number is above its limit.
"""

import json
import os
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType
from typing import Any

from autogen_nb.testing import FakeOpenAI, FakeReply, Received
from benchmarks._table import table
from tests.notebook.front_end import FrontEnd

PACKAGE = str(Path(__file__).parent.parent / "autogen_nb")
LIMITS = Path(__file__).with_suffix(".toml")
CODE = "import matplotlib.pyplot as plt\nplt.plot(df['x'])\nplt.show()"
BLOCK = f"```python\n{CODE}\n```"
CELL = "%%autogen -m fake -i df\nPlot three numbers."
VIEW, REQUEST = "_view.py", "ExecuteRequest.__init__"
COMPREHENSIONS = {"<listcomp>", "<dictcomp>", "<setcomp>"}


class Profile:
    """The package's functions in the order of their calls, and those that took the picture, or the click's block."""

    def __init__(self) -> None:
        self.calls: list[CodeType] = []
        self.picture_calls: list[CodeType] = []
        self.click_calls: list[CodeType] = []

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(PACKAGE) or code.co_name in COMPREHENSIONS:
            return
        self.calls.append(code)
        arguments = [frame.f_locals.get(name) for name in code.co_varnames[: code.co_argcount]]
        # A resumed coroutine or generator still has its arguments.
        if code not in self.picture_calls and any(has_picture(argument) for argument in arguments):
            self.picture_calls.append(code)
        is_clicked = bool(self.click_calls)
        if code not in self.click_calls and any(map(is_block if is_clicked else is_button, arguments)):
            self.click_calls.append(code)

    def numbers(self) -> dict[str, int]:
        functions = dict.fromkeys(self.calls)
        shown = [number for number, code in enumerate(self.picture_calls) if VIEW in code.co_filename]
        sent = next(number for number, code in enumerate(self.click_calls) if code.co_qualname == REQUEST)
        return {
            "files": len({code.co_filename for code in functions}),
            "functions": len(functions),
            "functions from a plot to its cell": 1 + max(shown),
            "functions from a click to its block": 1 + sent,
        }


def has_picture(value: Any, depth: int = 3) -> bool:
    if isinstance(value, Mapping):
        return "image/png" in value or (depth > 0 and any(has_picture(each, depth - 1) for each in value.values()))
    if isinstance(value, list):
        return any(isinstance(each, bytes) and b'"image/png"' in each for each in value)
    fields = [getattr(value, name, None) for name in ("data", "output", "value")]
    return depth > 0 and any(has_picture(field, depth - 1) for field in fields if field is not None)


def is_button(value: Any) -> bool:
    return type(value).__name__ == "Button"


def is_block(value: Any) -> bool:
    """Returns whether a value is the block, the answer to its question, or has one of them in a field."""
    values = [value, *[getattr(value, name, None) for name in getattr(type(value), "__slots__", ())]]
    return any(each == CODE or type(each).__name__ in ("Button", "ApprovalGiven", "CodeBlock") for each in values)


profile = Profile()


async def profile_calls(*, on: bool) -> None:
    """Begins or ends the count in the notebook's thread and in the engine's."""
    import asyncio

    from autogen_nb.engine import engine

    async def profile_engine() -> None:
        sys.setprofile(profile if on else None)

    await asyncio.wrap_future(engine.submit(profile_engine()))
    sys.setprofile(profile if on else None)


def answer(request: Received) -> FakeReply:
    asked = str(request.body["messages"][-1]["content"])
    return FakeReply(BLOCK if "Plot" in asked else "There it is.")


def counted(url: str, folder: Path) -> dict[str, int]:
    environ = {**os.environ, "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "sk-bench", "HOME": str(folder)}
    environ["PYTHONPATH"] = str(LIMITS.parent.parent)
    with FrontEnd(folder, environ, clicks="main") as notebook:
        notebook.run("%load_ext autogen_nb\nimport pandas as pd\nfrom benchmarks import warm_cell")
        notebook.run("df = pd.DataFrame({'x': [1, 2, 3]})")
        notebook.run_clicking(CELL, click=["Run"])
        notebook.run("await warm_cell.profile_calls(on=True)", "profile")
        notebook.run_clicking(CELL, click=["Run"])
        notebook.run("await warm_cell.profile_calls(on=False)", "profile")
        numbers: dict[str, int] = json.loads(notebook.value("__import__('json').dumps(warm_cell.profile.numbers())"))
        return numbers


def main() -> None:
    with TemporaryDirectory() as folder, FakeOpenAI(answer) as fake:
        numbers = counted(fake.base_url, Path(folder))
    limits = tomllib.loads(LIMITS.read_text())
    print(table(("", "now", "at most"), [(name, number, limits[name]) for name, number in numbers.items()]))
    if above := [name for name, number in numbers.items() if number > limits[name]]:
        sys.exit(f"above the limits in {LIMITS.name}: {', '.join(above)}")


if __name__ == "__main__":
    main()
