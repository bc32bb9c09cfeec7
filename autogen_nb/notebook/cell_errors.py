"""How a cell that did not finish ends: one line without a traceback, that stops what would run after it."""

from collections.abc import Iterator
from contextlib import contextmanager

from autogen_nb.errors import AutogenError


class CellFailed(Exception):  # it is named by what happened
    """A cell did not come to its answer; the cause is chained."""

    def _render_traceback_(self) -> list[str]:
        # IPython shows these lines in place of a traceback.
        return [f"\x1b[31m{self}\x1b[0m"]


class CellInterrupted(KeyboardInterrupt):
    """A cell was stopped by the notebook's stop button or Ctrl-C."""

    def _render_traceback_(self) -> list[str]:
        return [f"\x1b[31m{self}\x1b[0m"]


@contextmanager
def one_line() -> Iterator[None]:
    """Ends in one line what ends in an error of ours; a fault of ours keeps its traceback."""
    try:
        yield
    except AutogenError as error:
        raise CellFailed(str(error)) from error
