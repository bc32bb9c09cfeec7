"""The tutorial's programs, run as their readers run them: in a script or in a notebook's cell, sync or async."""

import ast
import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tests.cli.commands import ran
from tests.notebook.conftest import environment
from tests.notebook.front_end import FrontEnd, Run

PROGRAMS = Path(__file__).parent / "programs"
ROOT = Path(__file__).parents[2]
KEY = "sk-of-the-tutorial"
_HISTORY = "the chat's history: "
_QUESTION = re.compile(r"Your words to [^:]*: ")
_ENDS = "press Enter to end the chat"

Way: TypeAlias = Literal["sync", "async"]


@dataclass(frozen=True, slots=True)
class Ran:
    """What a program came to."""

    printed: str
    questions: list[bool]
    history: list[dict[str, Any]]
    folder: Path

    @property
    def contents(self) -> list[Any]:
        return [message["content"] for message in self.history]

    @property
    def speakers(self) -> list[str]:
        return [message["name"] for message in self.history]


Runner: TypeAlias = Callable[..., Ran]


def source(name: str, way: Way = "sync") -> str:
    text = (PROGRAMS / f"{name}.txt").read_text(encoding="utf-8")
    return text if way == "sync" else ast.unparse(_Await().visit(ast.parse(text)))


def printed_by(program: str, folder: Path, url: str, typed: str = "") -> str:
    script = folder / "program.py"
    script.write_text(program, encoding="utf-8")
    environ = environment(folder, OPENAI_BASE_URL=url, OPENAI_API_KEY=KEY, PYTHONPATH=str(ROOT))
    done = ran(script.name, cwd=folder, typed=typed, program=[sys.executable], **environ)
    assert done.code == 0, done.out + done.err
    return done.out


def in_a_script(name: str, way: Way, folder: Path, url: str, typed: Sequence[str] = ()) -> Ran:
    text = f"{source(name, way)}\nimport json\nprint({_HISTORY!r} + json.dumps(result.chat_history))\n"
    out = printed_by(text if way == "sync" else _in_main(text), folder, url, "".join(f"{line}\n" for line in typed))
    printed, _, history = out.partition(_HISTORY)
    return Ran(printed, [_ENDS in asked for asked in _QUESTION.findall(printed)], json.loads(history), folder)


class Notebook:
    def __init__(self, front: FrontEnd) -> None:
        self._front = front

    def run(self, name: str, way: Way, folder: Path, url: str, typed: Sequence[str] = ()) -> Ran:
        front = self._front
        front.open_page(f"{name}-{way}-{folder.name}")
        prepared = front.run(
            "%reset -f\n"
            "import os\n"
            f"os.chdir({str(folder)!r})\n"
            f"os.environ.update(OPENAI_BASE_URL={url!r}, OPENAI_API_KEY={KEY!r})\n"
            "del os",
            "prepare",
        )
        assert prepared.status == "ok", prepared.error
        cell = front.start(source(name, way))
        questions = [self._answer(cell, line) for line in typed]
        front.finish(cell)
        assert cell.status == "ok", cell.error
        history = front.value("__import__('json').dumps(result.chat_history)")
        return Ran(cell.text, questions, json.loads(history), folder)

    def _answer(self, cell: Run, line: str) -> bool:
        front = self._front
        front.wait(lambda: cell.done or front.has("Exit"), "a question")
        ends = not front.has("Continue")
        asked = [name for name, state in front.visible() if state.get("description") == "Exit"]
        if line:
            (field,) = (str(state["tooltip"]) for _, state in front.visible() if "rows" in state)
            front.type(line, into=field)
        front.click("Send" if line else "Exit" if ends else "Continue")
        front.wait(lambda: asked[0] not in dict(front.visible()), "the answer to be taken")
        return ends


class _Await(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "initiate_chat":
            node.func.attr = "a_initiate_chat"
            return ast.Await(node)
        return node


def _in_main(text: str) -> str:
    main = ast.parse("async def main(): pass\nimport asyncio\nasyncio.run(main())")
    defined = main.body[0]
    assert isinstance(defined, ast.AsyncFunctionDef)
    defined.body = ast.parse(text).body
    return ast.unparse(main)
