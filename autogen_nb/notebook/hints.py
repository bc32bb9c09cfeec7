"""Hints after a failed cell: how to copy a missing variable, and how to await in a notebook; "" for none."""

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autogen_nb.kernels.transfer.variable_transfer import HandedVariable
    from autogen_nb.notebook.conversations import Conversations, NotebookConversation

_NO_DATA = "a {} cannot be copied here; ask for numbers, text or a table made from it."


def name_hint(result: Any, chats: "Conversations") -> str:
    """Returns how to copy a missing variable from a chat."""
    error = getattr(result, "error_in_exec", None)
    name = getattr(error, "name", None) if isinstance(error, NameError) else None
    if not name:
        return ""
    from autogen_nb.notebook.variable_choice import pull_command

    for chat in chats:
        if chat.alive and (variable := _find_variable(chat, name)) is not None:
            named = None if chat.name == chats.current else chat.name
            way = f"{pull_command(name, named)} copies it here." if variable.data else _NO_DATA.format(variable.type)
            return f"{name!r} is in the agent's kernel: {way}"
    return ""


def _find_variable(chat: "NotebookConversation", name: str) -> "HandedVariable | None":
    from autogen_nb.errors import AutogenError
    from autogen_nb.run import engine

    try:
        return next((variable for variable in engine.call(chat.executor.variables()) if variable.name == name), None)
    except AutogenError:
        return None


def loop_hint(result: Any) -> str:
    """Returns how to await in a notebook, after a cell that called ``asyncio.run``."""
    error = getattr(result, "error_in_exec", None)
    if not isinstance(error, RuntimeError) or "asyncio.run()" not in str(error):
        return ""
    return f"In a notebook: `await {_awaited(getattr(result.info, 'raw_cell', ''))}`."


def _awaited(cell: str) -> str:
    """Returns the argument of ``asyncio.run`` as source."""
    try:
        nodes = list(ast.walk(ast.parse(cell)))
    # Cells with magics are not Python.
    except SyntaxError:
        return "main()"
    for node in nodes:
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="asyncio"), attr="run"), args=[coroutine, *_]):
                return ast.unparse(coroutine)
    return "main()"
