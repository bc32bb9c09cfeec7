"""Questions in a cell that captures what it prints and shows, as with ``%%capture``: they are seen all the same.

Buttons would be captured as well, so the question is asked in words, and what it is about is printed past the capture.
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
    """Whether what the running cell displays is kept from the page."""
    return isinstance(getattr(shell, "display_pub", None), CapturingDisplayPublisher)


@contextmanager
def printing_to_page() -> Generator[None, None, None]:
    """What is printed meanwhile is seen, wherever the cell's own output goes."""
    kernel = getattr(InteractiveShell.instance(), "kernel", None)
    if isinstance(sys.stdout, OutStream) or (kernel is None and not isinstance(sys.stdout, io.StringIO)):
        yield
        return
    seen = sys.__stdout__ if kernel is None else _CellOutput(kernel)
    with redirect_stdout(cast("TextIO", seen or sys.stdout)):
        yield


class _CellOutput(io.TextIOBase):
    """Prints below the running cell by messages of its own."""

    def __init__(self, kernel: Any) -> None:
        super().__init__()
        self._kernel = kernel

    def write(self, text: str) -> int:
        kernel, content = self._kernel, {"name": "stdout", "text": text}
        kernel.session.send(
            kernel.iopub_socket, "stream", content, parent=kernel.get_parent("shell"), ident=b"stream.stdout"
        )
        return len(text)
