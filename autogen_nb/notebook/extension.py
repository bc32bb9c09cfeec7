"""Loads and unloads the extension: the magics, the transformer, the hints and a first kernel.

``%load_ext`` returns at once; a background thread imports the heavy modules.
"""

import ast
import asyncio
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from IPython.core.completer import context_matcher
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class, no_var_expand

from autogen_nb.engine import engine
from autogen_nb.errors import AutogenError, ConfigError
from autogen_nb.notebook.cell_source import Transformer, documented, help_text
from autogen_nb.settings import Settings
from autogen_nb.trusted import policy_file

if TYPE_CHECKING:
    from IPython.core.completer import CompletionContext, SimpleMatcherResult

    from autogen_nb.conversations.conversations import Conversations, NotebookConversation
    from autogen_nb.executors.block_executor import BlockExecutor
    from autogen_nb.kernels.transfer.variable_transfer import HandedVariable
    from autogen_nb.notebook.magic_handler import MagicHandler

_FIX_HINT = "`%autogen fix` mends a copy of this cell; `%autogen explain` explains it."
_NO_DATA = "a {} cannot be copied here; ask the agent to make numbers, text or a table from it."
_SECONDS_FOR_HINT = 1
_SWITCH = 0.0005
"""The thread switch interval in seconds during the background imports."""


@magics_class
class AutogenMagics(Magics, Settings):
    def __init__(self, shell: InteractiveShell, handler: "Callable[[], MagicHandler]") -> None:
        super().__init__(shell)
        self.handler = handler

    # Otherwise, IPython would expand braces and dollar signs in the task.
    @no_var_expand
    @documented
    @cell_magic("autogen")  # type: ignore[arg-type]  # IPython types its decorators for plain functions
    def autogen_cell(self, line: str, cell: str = "") -> None:
        """Asks an assistant for code, shows it to you, and runs it in a kernel of its own."""
        self.handler().run_blocking(line, cell)

    def show_options(self) -> None:
        print(help_text())  # noqa: T201  # the output of `%%autogen --help`

    @line_magic("autogen")  # type: ignore[arg-type]  # IPython types its decorators for plain functions
    def autogen_line(self, line: str) -> None:
        """Copies variables, and manages chats, kernels, models and rules; without arguments, lists the commands."""
        self.handler().command(line)


class Extension:
    def __init__(self, shell: InteractiveShell, prepare: Callable[[], None]) -> None:
        self._shell = shell
        self._prepare = prepare
        self._cwd = Path.cwd()
        self._lock = threading.Lock()
        self._handler: MagicHandler | None = None
        self._hints: set[str] = set()
        self._cell_ids: dict[int, str] = {}
        self._is_greeted = False
        self._magics = AutogenMagics(shell, self.handler)
        self._transformer = Transformer(shell)
        self._warming = threading.Thread(target=self._warm_up, name="autogen_nb warm-up", daemon=True)

    def install(self) -> None:
        self._shell.register_magics(self._magics)
        self._transformer.install()
        self._shell.Completer.custom_matchers.append(self.complete)
        self._shell.events.register("post_run_cell", self._on_cell_end)
        self._warming.start()

    def remove(self) -> None:
        self._shell.events.unregister("post_run_cell", self._on_cell_end)
        self._transformer.remove()
        self._shell.Completer.custom_matchers.remove(self.complete)
        # IPython registers magics for `%config`, but cannot unregister them.
        cast("list[Any]", self._shell.configurables).remove(self._magics)
        manager = self._shell.magics_manager
        manager.registry.pop(AutogenMagics.__name__, None)
        for kind in ("line", "cell"):
            manager.magics[kind].pop("autogen", None)
        # The thread may still be creating the handler that `close` needs.
        self._warming.join()
        self.handler().close()

    def handler(self) -> "MagicHandler":
        with self._lock:
            if self._handler is None:
                first = begin_first_kernel(self._cwd, self._magics)
                self._prepare()
                from autogen_nb.conversations.chat_kernels import ChatFolders, notebook_path
                from autogen_nb.conversations.chat_sessions import ChatSessions
                from autogen_nb.conversations.conversations import Conversations
                from autogen_nb.notebook.context import cells_above
                from autogen_nb.notebook.magic_handler import MagicHandler
                from autogen_nb.notebook.notebook import Notebook

                path = partial(notebook_path, self._shell.user_ns)
                days = partial(getattr, self._magics, "session_days")
                sessions = ChatSessions(self._cwd, path, _kernel_name(self._shell), days=days)
                conversations = Conversations(
                    self._cwd,
                    first,
                    kernel_options=lambda: self._magics.kernel_options,
                    folders=ChatFolders(self._cwd, path),
                    begin_session=sessions.begin,
                )
                cells = partial(cells_above, self._shell, self._cell_ids)
                notebook = Notebook(self._shell.user_ns, conversations, self._magics, sessions, cells=cells)
                self._handler = MagicHandler(self._shell, notebook)
            return self._handler

    @context_matcher(identifier="autogen_nb")  # type: ignore[untyped-decorator]  # IPython's is not annotated
    def complete(self, context: "CompletionContext") -> "SimpleMatcherResult":
        if not context.line_with_cursor.lstrip().startswith(("%autogen ", "%%autogen ")):
            return {"completions": []}
        handler = self.handler()
        from autogen_nb.notebook.completion import completions

        return completions(handler.notebook, context, self._shell.Completer.file_matcher)

    def _warm_up(self) -> None:
        # While this thread imports, the engine, which starts a kernel, waits for a switch interval at each step.
        # The usual interval is 5 ms.
        previous = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH)
        try:
            self.handler().warm_up()
        finally:
            if sys.getswitchinterval() == _SWITCH:
                sys.setswitchinterval(previous)

    def _earlier_hint(self) -> str:
        """Returns how to continue an earlier chat of this notebook, after the cell that loads the extension."""
        if self._is_greeted:
            return ""
        self._is_greeted = True
        from autogen_nb.sessions.store import SessionStore

        # Without sessions, the cell does not wait for the slow imports.
        earlier = self.handler().sessions.earlier if SessionStore().names() else {}
        if any(session.head.get("pid") == os.getpid() for session in earlier.values()):
            return ""
        chats = ", ".join(repr(name) for name in earlier)
        return f"An earlier chat of this notebook is stored ({chats}): %autogen resume continues it." if chats else ""

    def _on_cell_end(self, result: Any) -> None:
        if result is not None and result.execution_count and result.info.cell_id:
            self._cell_ids[result.execution_count] = result.info.cell_id
        for hint in (
            self._earlier_hint(),
            loop_hint(result),
            "" if self._handler is None else name_hint(result, self._handler.conversations),
        ):
            if hint and hint not in self._hints:
                self._hints.add(hint)
                # IPython's history would keep printed text as the cell's output.
                publisher: Any = self._shell.display_pub
                publisher.publish(data={"text/plain": hint})
        if result is not None and not result.success and is_own_error(result):
            self._offer_fix(result.execution_count)

    def _offer_fix(self, number: int) -> None:
        """Shows once how to have a failed cell mended; where buttons are possible, each failed cell has buttons."""
        from autogen_nb.notebook.rendering import chat_html
        from autogen_nb.notebook.view.notebook_view import shows_only_text

        text, buttons = "" if _FIX_HINT in self._hints else _FIX_HINT, ""
        self._hints.add(_FIX_HINT)
        if not shows_only_text(self._shell):
            commands = [chat_html.CellButton(name, f"%autogen {name} {number}") for name in ("fix", "explain")]
            buttons = chat_html.end_buttons("", commands)
        if text or buttons:
            publisher: Any = self._shell.display_pub
            publisher.publish(*chat_html.bundle(chat_html.line(text, after=buttons), text, kind="offer"))


def _kernel_name(shell: InteractiveShell) -> str:
    """The name of the kernel's connection file, which stays the same after a restart; "" without such a file."""
    if getattr(shell, "kernel", None) is not None:
        from ipykernel.connect import get_connection_file

        # An embedded kernel has no connection file.
        with suppress(OSError, RuntimeError):
            return Path(get_connection_file()).stem
    return ""


def begin_first_kernel(cwd: Path, defaults: Settings) -> "BlockExecutor | None":
    """Starts a kernel with the default settings; returns None for a server, for a sandbox, or if it is not allowed.

    This function runs before the slow imports, so it imports little.
    """
    # The first cell repeats the checks and reports their errors.
    with suppress(AutogenError):
        place = defaults.default_place
        policy_file.policy().check_sandbox(place.sandbox, "this notebook")
        # A sandbox needs the chat's folder, which has no name before the first cell.
        if not (place.is_server or place.is_sandbox):
            from autogen_nb.executors.block_executor import BlockExecutor

            executor = BlockExecutor(place=place, cwd=cwd, **defaults.kernel_options)
            # If the start fails, the first block starts the kernel again and reports the error.
            engine.submit(executor.start()).add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            return executor
    return None


def name_hint(result: Any, chats: "Conversations") -> str:
    """Returns a hint after a NameError if a chat's kernel has the variable, or ""."""
    error = getattr(result, "error_in_exec", None)
    name = getattr(error, "name", None) if isinstance(error, NameError) else None
    if not name:
        return ""
    from autogen_nb.notebook.context import command_text

    # The person's cell has ended, and waits for its hint.
    with suppress(LookupError, TimeoutError):
        chat, variable = engine.call(asyncio.wait_for(_find_variable(chats, name), _SECONDS_FOR_HINT))
        named = None if chat is chats.latest else chat.name
        way = (
            f"{command_text('pull', [name], named)} copies it here."
            if variable.data
            else _NO_DATA.format(variable.type)
        )
        return f"{name!r} is in the agent's kernel: {way}"
    return ""


async def _find_variable(chats: "Conversations", name: str) -> "tuple[NotebookConversation, HandedVariable]":
    for chat in chats:
        with suppress(AutogenError):
            for variable in await chat.executor.variables() if chat.alive and not chat.busy else ():
                if variable.name == name:
                    return chat, variable
    raise LookupError(name)


def is_own_error(result: Any) -> bool:
    """Returns whether the person's own code failed, and not a cell of this package."""
    error = result.error_before_exec or result.error_in_exec
    is_own = not str(getattr(result.info, "raw_cell", "")).lstrip().startswith(("%autogen", "%%autogen"))
    return is_own and isinstance(error, Exception) and not isinstance(error, AutogenError)


def loop_hint(result: Any) -> str:
    """Returns a hint after a cell in which ``asyncio.run`` failed, or ""."""
    error = getattr(result, "error_in_exec", None)
    if not isinstance(error, RuntimeError) or "asyncio.run()" not in str(error):
        return ""
    return f"In a notebook: `await {_awaited_source(getattr(result.info, 'raw_cell', ''))}`."


def _awaited_source(cell: str) -> str:
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


_loaded: dict[int, Extension] = {}


def load(shell: InteractiveShell, prepare: Callable[[], None]) -> None:
    if id(shell) not in _loaded:
        extension = _loaded[id(shell)] = Extension(shell, prepare)
        extension.install()


def session(shell: InteractiveShell) -> "MagicHandler":
    if id(shell) not in _loaded:
        raise ConfigError("named chats need the extension: run `%load_ext autogen_nb` first")
    return _loaded[id(shell)].handler()


def unload(shell: InteractiveShell) -> None:
    extension = _loaded.pop(id(shell), None)
    if extension is not None:
        extension.remove()
