"""The JavaScript libraries that a cell's output holds for its frames."""

from collections.abc import Callable, Iterable

from autogen_nb.notebook.rendering.chat_html import bundle
from autogen_nb.notebook.rendering.frames.frame import library_html
from autogen_nb.notebook.rendering.frames.libraries import LIBRARIES, load
from autogen_nb.notebook.view.slots import Slot


class CellLibraries:
    """Shows each library once, however many frames need it, as soon as it is loaded."""

    def __init__(self, place: Callable[[], Slot]) -> None:
        self._place = place
        self._required: set[str] = set()
        self._loading: dict[str, Slot] = {}

    def require(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self._required and LIBRARIES[name].version:
                self._required.add(name)
                self._loading[name] = slot = self._place()
                slot.clear()
                load(name)

    def flush(self, *, wait: bool = False) -> None:
        """Shows the libraries that are loaded; with `wait`, waits for the others and shows them too."""
        for name, slot in list(self._loading.items()):
            if wait or load(name).done():
                del self._loading[name]
                slot.show(*bundle(library_html(name), "", kind="library"))

    def forget(self) -> None:
        """After a page is reloaded, shows libraries again for later frames."""
        self._required.clear()
