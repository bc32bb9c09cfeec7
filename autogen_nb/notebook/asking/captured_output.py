"""Shows questions in a cell with captured output, such as ``%%capture``.

The capture would hide buttons, so the question is plain text that bypasses the capture.
"""

import io
import sys
from collections.abc import Generator
from contextlib import contextmanager, redirect_stdout
from typing import Any, TextIO, cast

from ipykernel.iostream import OutStream
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell


def captures_displays(shell: Any) -> bool:
    """Returns whether the cell's displays are captured."""
    return isinstance(getattr(shell, "display_pub", None), CapturingDisplayPublisher)


@contextmanager
def printing_to_page() -> Generator[None, None, None]:
    """Prints to the page, despite a capture."""
    kernel = getattr(InteractiveShell.instance(), "kernel", None)
    if isinstance(sys.stdout, OutStream) or (kernel is None and not isinstance(sys.stdout, io.StringIO)):
        yield
        return
    page = sys.__stdout__ if kernel is None else _CellOutput(kernel)
    with redirect_stdout(cast("TextIO", page or sys.stdout)):
        yield


class _CellOutput(io.TextIOBase):
    """Sends text directly to the front end, below the running cell."""

    def __init__(self, kernel: Any) -> None:
        super().__init__()
        self._kernel = kernel

    def write(self, text: str) -> int:
        kernel, content = self._kernel, {"name": "stdout", "text": text}
        kernel.session.send(
            kernel.iopub_socket, "stream", content, parent=kernel.get_parent("shell"), ident=b"stream.stdout"
        )
        return len(text)
