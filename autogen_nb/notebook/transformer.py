"""Rewrites ``%%autogen``, and ``%autogen`` in a cell of its own, to awaited calls.

1. An outermost cell is awaited: the notebook's loop handles clicks while the cell runs, and the next cell waits.
2. In a terminal the call blocks, because Ctrl-C would leave an awaited cell running.
3. A call inside another cell, such as below ``%%time``, cannot be awaited, so it blocks.
4. A question mark at the end of ``%autogen Why is it?`` is no request for IPython's help.
"""

import ast
import re
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_LINE_CALL = "get_ipython().run_line_magic('autogen', "
_CALLS = ("get_ipython().run_cell_magic('autogen', ", _LINE_CALL)
TASK_BELOW = "a task needs two percent signs: %%autogen, and the task on the lines below"
HELP = ("-h", "--help", "help")
_QUESTION = re.compile(r"\s*%autogen\s+(.*\?)\s*")
_MAGICS = "get_ipython().magics_manager.registry['AutogenMagics']"
_HANDLER = f"{_MAGICS}.handler()"


class _Depth(threading.local):
    """The number of nested cells that run in this thread."""

    cells = 0


class Transformer:
    """An input transformer that tracks the nesting of running cells."""

    def __init__(self, shell: "InteractiveShell") -> None:
        self._shell = shell
        self._depth = _Depth()

    def install(self) -> None:
        self._shell.input_transformers_cleanup.append(_without_help)
        self._shell.input_transformers_post.append(self)
        self._shell.events.register("pre_execute", self._on_cell_begin)
        self._shell.events.register("post_execute", self._on_cell_end)

    def remove(self) -> None:
        self._shell.input_transformers_cleanup.remove(_without_help)
        self._shell.input_transformers_post.remove(self)
        self._shell.events.unregister("pre_execute", self._on_cell_begin)
        self._shell.events.unregister("post_execute", self._on_cell_end)

    def __call__(self, lines: list[str]) -> list[str]:
        """Rewrites the lines of a call of the magic; returns other lines unchanged."""
        if lines[1:] and lines[0].startswith(_LINE_CALL):
            # `%load_ext` must stay quick.
            from autogen_nb.core.text.code_blocks import parse_python

            if parse_python("".join(lines[1:])) is None and _may_be_task(lines[0]):
                raise SyntaxError(TASK_BELOW)
        if not lines or not lines[0].startswith(_CALLS):
            return lines
        match _magic_words("".join(lines)):
            # IPython refuses a cell magic without a body.
            case [line, cell] if line.strip() in HELP and not cell.strip():
                return [f"{_MAGICS}.show_options()\n"]
            case [line, cell]:
                call = f"await {_HANDLER}.run_awaited" if self._awaitable() else f"{_HANDLER}.run_blocking"
                return [f"{call}({line!r}, {cell!r})\n"]
            case [line] if self._awaitable():
                return [f"await {_HANDLER}.run_line({line!r})\n"]
            case _:
                return lines

    def _awaitable(self) -> bool:
        return self._depth.cells == 0 and getattr(self._shell, "kernel", None) is not None

    def _on_cell_begin(self, *_: Any) -> None:
        self._depth.cells += 1

    def _on_cell_end(self, *_: Any) -> None:
        self._depth.cells = max(0, self._depth.cells - 1)


def _without_help(lines: list[str]) -> list[str]:
    question = _QUESTION.fullmatch(lines[0]) if lines else None
    return lines if question is None else [f"{_LINE_CALL}{question[1]!r})\n", *lines[1:]]


def _may_be_task(call: str) -> bool:
    """Returns whether a line has no command; commands begin with a small letter."""
    words = " ".join(_magic_words(call)).split()
    return not words or not words[0][0].islower()


def _magic_words(call: str) -> list[str]:
    """Returns the arguments of IPython's call of the magic, or an empty list for any other text."""
    try:
        node = ast.parse(call.strip(), mode="eval").body
    except SyntaxError:
        return []
    arguments = [] if not isinstance(node, ast.Call) or node.keywords else node.args[1:]
    words = [
        constant.value
        for constant in arguments
        if isinstance(constant, ast.Constant) and isinstance(constant.value, str)
    ]
    # IPython's own calls have only strings as arguments; a person has written any other call.
    return words if len(words) == len(arguments) else []
