"""An execute request that is answered while another cell runs: the kernel's own handler never sees it."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ipykernel.jsonutil import encode_images, json_clean

from autogen_nb.errors import AutogenError

Send = Callable[[str, dict[str, Any]], None]


class TakenRequest:
    """A cell that was run while another one runs, and that is answered at once."""

    def __init__(self, kernel: Any, message: dict[str, Any], reply: Send) -> None:
        self._kernel = kernel
        self._message = message
        self._reply = reply
        self.code = str(message["content"]["code"])
        self.cell: str | None = message["metadata"].get("cellId")

    def begin(self) -> None:
        """Says that the cell runs."""
        self._status("busy")
        self._send("execute_input", {"code": self.code, "execution_count": self._count})

    def publish(self, data: dict[str, Any], metadata: dict[str, Any], display_id: str, *, update: bool = False) -> None:
        """Shows a bundle below the cell, or in the place of what has this id."""
        kind = "update_display_data" if update else "display_data"
        content = {"data": encode_images(data), "metadata": metadata, "transient": {"display_id": display_id}}
        self._send(kind, json_clean(content))

    def finish(self, error: BaseException | None = None) -> None:
        """Says that the cell is through, with an error if there is one."""
        content: dict[str, Any] = {"execution_count": self._count, "user_expressions": {}, "payload": []}
        if error is None:
            content["status"] = "ok"
        else:
            text = str(error) if isinstance(error, AutogenError) else f"{type(error).__name__}: {error}"
            lines: Sequence[str] = [f"\x1b[31m{text}\x1b[0m"]
            told = {"ename": type(error).__name__, "evalue": str(error), "traceback": lines}
            self._send("error", told)
            content |= {"status": "error", **told}
        self._reply("execute_reply", content)
        self._status("idle")

    @property
    def _count(self) -> int:
        return int(self._kernel.shell.execution_count)

    def _status(self, state: str) -> None:
        self._send("status", {"execution_state": state})

    def _send(self, kind: str, content: dict[str, Any]) -> None:
        kernel = self._kernel
        ident = f"kernel.{kernel.ident}.{kind}".encode()
        kernel.session.send(kernel.iopub_socket, kind, content, parent=self._message, ident=ident)


class CellTaker(Protocol):
    """One who answers cells that are run while another one runs."""

    def on_page_loaded(self) -> None:
        """Called when a page was loaded that asks for the widgets, before a click of it; where the channel is read."""

    def wants(self, code: str, cell: str | None, *, alone: bool) -> bool:
        """Whether a cell of this source and id may be one; called where the shell channel is read.

        `alone` says that no other cell waits before it.
        """

    def take(self, request: TakenRequest) -> bool:
        """Answers it now or later; False where it is the kernel's own matter after all."""
