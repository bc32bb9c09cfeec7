"""Turns a cell that begins with ``%%autogen`` into an awaited call.

1. Only the outermost cell is rewritten to ``await``: while it waits, the notebook's loop goes on serving clicks,
   and the next cell waits its turn.
2. In a terminal nothing is served meanwhile, and Ctrl-C would leave an awaited cell running: it waits.
3. A cell inside another one (below ``%%time``, in ``%%capture``, from code) is compiled where it cannot be awaited;
   it is rewritten to a call that waits.
"""

import ast
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_CALL = "get_ipython().run_cell_magic('autogen', "
_SHOW = "get_ipython().run_line_magic('autogen', 'show"
_RUN_SHOW = "await get_ipython().magics_manager.registry['AutogenMagics'].run_show({!r})\n"
_RUN_AWAITED = "await get_ipython().magics_manager.registry['AutogenMagics'].run_awaited({})\n"
_RUN_BLOCKING = "get_ipython().magics_manager.registry['AutogenMagics'].run_blocking({})\n"


class Transformer:
    """An input transformer that knows how deep in running cells it is called."""

    def __init__(self, shell: "InteractiveShell") -> None:
        self._shell = shell
        self._depth = threading.local()

    def install(self) -> None:
        """Adds the transformer to the shell, and what tells it when cells begin and end."""
        self._shell.input_transformers_post.append(self)
        self._shell.events.register("pre_execute", self._on_cell_begin)
        self._shell.events.register("post_execute", self._on_cell_end)

    def remove(self) -> None:
        """Takes all of it away again."""
        self._shell.input_transformers_post.remove(self)
        self._shell.events.unregister("pre_execute", self._on_cell_begin)
        self._shell.events.unregister("post_execute", self._on_cell_end)

    def __call__(self, lines: list[str]) -> list[str]:
        """The lines, rewritten if they are a call of our cell magic."""
        if len(lines) == 1 and lines[0].startswith(_SHOW) and self._awaitable():
            line = _line(lines[0])
            return lines if line is None else [_RUN_SHOW.format(line)]
        if not lines or not lines[0].startswith(_CALL):
            return lines
        arguments = _arguments("".join(lines))
        if arguments is None:
            return lines
        template = _RUN_AWAITED if self._awaitable() else _RUN_BLOCKING
        return [template.format(arguments)]

    def _awaitable(self) -> bool:
        return self._current_depth() == 0 and getattr(self._shell, "kernel", None) is not None

    def _current_depth(self) -> int:
        return int(getattr(self._depth, "now", 0))

    def _on_cell_begin(self, *_: Any) -> None:
        self._depth.now = self._current_depth() + 1

    def _on_cell_end(self, *_: Any) -> None:
        self._depth.now = max(0, self._current_depth() - 1)


def _line(call: str) -> str | None:
    """The words of a line magic's call, if the text is nothing else."""
    try:
        node = ast.parse(call.strip(), mode="eval").body
    except SyntaxError:
        return None
    match node:
        case ast.Call(args=[ast.Constant(), ast.Constant(value=str(line))]) if line.split()[0] == "show":
            return line
        case _:
            return None


def _arguments(call: str) -> str | None:
    """The magic's line and cell as source, if the text is IPython's call of it and nothing else."""
    try:
        node = ast.parse(call, mode="eval").body
    except SyntaxError:
        return None
    match node:
        case ast.Call(args=[ast.Constant(), ast.Constant(value=str(line)), ast.Constant(value=str(cell))]):
            return f"{line!r}, {cell!r}"
        case _:
            return None
