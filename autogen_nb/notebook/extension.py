"""Loading and unloading: the magics, the transformer and the hints, and a kernel that is warm when it is needed.

What is heavy is loaded in the background, while the person reads on: loading itself takes a moment only.
"""

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class, no_var_expand

from autogen_nb.errors import ConfigError
from autogen_nb.notebook.hints import print_loop_hint, print_name_hint
from autogen_nb.notebook.options import documented
from autogen_nb.notebook.settings import Defaults, begin_first_kernel
from autogen_nb.notebook.transformer import Transformer

if TYPE_CHECKING:
    from autogen_nb.notebook.session import Session

_SWITCH = 0.0005
"""Seconds after which Python lets another thread go on, while what is heavy is loaded."""


@magics_class
class AutogenMagics(Magics, Defaults):
    """The magics of a notebook; `session` gives what they work with, made when it is first asked for."""

    def __init__(self, shell: InteractiveShell, session: "Callable[[], Session]") -> None:
        super().__init__(shell)
        self.session = session

    # Braces and dollars are the task's own, also where code calls the magic.
    @no_var_expand
    @documented
    @cell_magic("autogen")  # type: ignore[arg-type]  # IPython types its decorators for plain functions
    def autogen_cell(self, line: str, cell: str = "") -> None:
        """Has an assistant write code for the task, asks you, and runs it in a kernel of its own."""
        self.session().run_blocking(line, cell)

    @line_magic("autogen")  # type: ignore[arg-type]  # as above
    def autogen_line(self, line: str) -> None:
        """Copies variables and lists chats; without a word it says how."""
        self.session().command(line)


class Extension:
    """All that `load` adds to a shell."""

    def __init__(self, shell: InteractiveShell, prepare: Callable[[], None]) -> None:
        self._shell = shell
        self._prepare = prepare
        self._cwd = Path.cwd()
        self._lock = threading.Lock()
        self._made: Session | None = None
        self._magics = AutogenMagics(shell, self.session)
        self._transformer = Transformer(shell)
        self._warming = threading.Thread(target=self._warm_up, name="autogen_nb warm-up", daemon=True)

    def install(self) -> None:
        """Adds everything, and warms up in the background."""
        self._shell.register_magics(self._magics)
        self._transformer.install()
        self._shell.events.register("post_run_cell", self._print_hints)
        self._warming.start()

    def remove(self) -> None:
        """Takes everything away and ends the kernels."""
        self._shell.events.unregister("post_run_cell", self._print_hints)
        self._transformer.remove()
        # Where `%config` looks: magics enter themselves there when they are made, and nothing takes them out.
        cast("list[Any]", self._shell.configurables).remove(self._magics)
        manager = self._shell.magics_manager
        manager.registry.pop(AutogenMagics.__name__, None)
        for kind in ("line", "cell"):
            manager.magics[kind].pop("autogen", None)
        # What is being started must be there to be ended.
        self._warming.join()
        self.session().close()

    def session(self) -> "Session":
        """What the magics work with."""
        with self._lock:
            if self._made is None:
                # The warm-up and the first cell may come at the same time: it is made under the lock.
                first = begin_first_kernel(self._cwd, self._magics)
                self._prepare()
                from autogen_nb.notebook.chat_folders import ChatFolders, notebook_path
                from autogen_nb.notebook.conversations import Conversations
                from autogen_nb.notebook.session import Session

                folders = ChatFolders(self._cwd, lambda: notebook_path(self._shell.user_ns))
                conversations = Conversations(
                    self._cwd, first, imports=lambda: self._magics.preimports, folders=folders
                )
                self._made = Session(self._shell, self._magics, conversations)
            return self._made

    def _warm_up(self) -> None:
        # The kernel's start, on another thread, has few words to say, and each would wait for 5 ms otherwise.
        usual = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH)
        try:
            self.session().warm_up()
        finally:
            if sys.getswitchinterval() == _SWITCH:
                sys.setswitchinterval(usual)

    def _print_hints(self, result: Any) -> None:
        print_loop_hint(result)
        if self._made is not None:
            print_name_hint(result, self._made.conversations)


_loaded: dict[int, Extension] = {}


def load(shell: InteractiveShell, prepare: Callable[[], None]) -> None:
    """Adds the extension to a shell, once."""
    if id(shell) not in _loaded:
        extension = _loaded[id(shell)] = Extension(shell, prepare)
        extension.install()


def session(shell: InteractiveShell) -> "Session":
    """What the magics of a shell work with."""
    if id(shell) not in _loaded:
        raise ConfigError("there are no chats by name: `%load_ext autogen_nb` loads what keeps them")
    return _loaded[id(shell)].session()


def unload(shell: InteractiveShell) -> None:
    """Takes the extension away from a shell; nothing is left behind."""
    extension = _loaded.pop(id(shell), None)
    if extension is not None:
        extension.remove()
