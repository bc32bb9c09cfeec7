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

_CALLS = (
    "get_ipython().run_cell_magic('autogen', ",
    "get_ipython().run_line_magic('autogen', 'show",
    "get_ipython().run_line_magic('autogen', 'model",
)
_SESSION = "get_ipython().magics_manager.registry['AutogenMagics'].session()"


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
        """The lines, rewritten if they call our cell magic, or a line that asks, where it can be awaited."""
        if not lines or not lines[0].startswith(_CALLS):
            return lines
        match _magic_words("".join(lines)):
            case [line, cell]:
                call = f"await {_SESSION}.run_awaited" if self._awaitable() else f"{_SESSION}.run_blocking"
                return [f"{call}({line!r}, {cell!r})\n"]
            case [line] if self._awaitable() and line.split()[:1] == ["show"]:
                return [f"await {_SESSION}.run_show({line!r})\n"]
            case [line] if self._awaitable() and line.split()[:2] == ["model", "set"]:
                return [f"await {_SESSION}.run_model_form({line!r})\n"]
            case _:
                return lines

    def _awaitable(self) -> bool:
        return self._current_depth() == 0 and getattr(self._shell, "kernel", None) is not None

    def _current_depth(self) -> int:
        return int(getattr(self._depth, "now", 0))

    def _on_cell_begin(self, *_: Any) -> None:
        self._depth.now = self._current_depth() + 1

    def _on_cell_end(self, *_: Any) -> None:
        self._depth.now = max(0, self._current_depth() - 1)


def _magic_words(call: str) -> list[str]:
    """What the magic is given, its line and the cell if it has one, if the text is IPython's call of it and no more."""
    try:
        node = ast.parse(call.strip(), mode="eval").body
    except SyntaxError:
        return []
    given = [] if not isinstance(node, ast.Call) or node.keywords else node.args[1:]
    words = [each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    # A call with anything else was written by the person.
    return words if len(words) == len(given) else []
