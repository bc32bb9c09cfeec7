"""An execute request that this package, not the kernel, answers while another cell runs."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ipykernel.jsonutil import encode_images, json_clean

from autogen_nb.errors import AutogenError

Send = Callable[[str, dict[str, Any]], None]


class TakenRequest:
    """A cell that the person runs while another cell is running; it is answered at once."""

    def __init__(self, kernel: Any, message: dict[str, Any], reply: Send) -> None:
        self._kernel = kernel
        self._message = message
        self._reply = reply
        self.code = str(message["content"]["code"])
        self.cell: str | None = message["metadata"].get("cellId")

    def begin(self) -> None:
        self._status("busy")
        self._send("execute_input", {"code": self.code, "execution_count": self.execution_count})

    def publish(self, data: dict[str, Any], metadata: dict[str, Any], display_id: str, *, update: bool = False) -> None:
        """Adds an output below the cell, or updates the one with this id."""
        kind = "update_display_data" if update else "display_data"
        content = {"data": encode_images(data), "metadata": metadata, "transient": {"display_id": display_id}}
        self._send(kind, json_clean(content))

    def finish(self, error: BaseException | None = None) -> None:
        """Sends the end of the execution, with an error if given."""
        content: dict[str, Any] = {"execution_count": self.execution_count, "user_expressions": {}, "payload": []}
        if error is None:
            content["status"] = "ok"
        else:
            text = str(error) if isinstance(error, AutogenError) else f"{type(error).__name__}: {error}"
            lines: Sequence[str] = [f"\x1b[31m{text}\x1b[0m"]
            failure = {"ename": type(error).__name__, "evalue": str(error), "traceback": lines}
            self._send("error", failure)
            content |= {"status": "error", **failure}
        self._reply("execute_reply", content)
        self._status("idle")

    @property
    def execution_count(self) -> int:
        """The number of the running cell."""
        return int(self._kernel.shell.execution_count)

    def _status(self, state: str) -> None:
        self._send("status", {"execution_state": state})

    def _send(self, kind: str, content: dict[str, Any]) -> None:
        kernel = self._kernel
        ident = f"kernel.{kernel.ident}.{kind}".encode()
        kernel.session.send(kernel.iopub_socket, kind, content, parent=self._message, ident=ident)


class CellTaker(Protocol):
    """Answers cells that the person runs while another cell is running."""

    def on_page_loaded(self) -> None:
        """Called on the reading thread when a page requests the widgets' state, before the person can click in it."""

    def wants(self, code: str, cell: str | None, *, is_next: bool) -> bool:
        """Returns True to take over the cell; called on the reading thread.

        `is_next` means that no other cell is queued before it.
        """

    def take(self, request: TakenRequest) -> bool:
        """Answers the request now or later; returns False to leave it to the kernel."""

    def repeat_question(self, request: TakenRequest) -> None:
        """Shows the open question below a cell that waits for the end of the running one."""
