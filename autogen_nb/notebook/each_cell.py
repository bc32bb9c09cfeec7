"""``%%autogen --each FRAME -o TABLE``: one chat for each row of a table, without a person, on a Dask cluster.

The cell updates one output: a progress bar, the rows that ended last, and a folded table of failed rows.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Sized
from contextlib import nullcontext
from html import escape
from itertools import takewhile
from math import isnan
from typing import TYPE_CHECKING, Any

from autogen_nb.engine import EngineCall
from autogen_nb.errors import ConfigError
from autogen_nb.notebook import variable_choice
from autogen_nb.notebook.notebook import CellStage
from autogen_nb.notebook.rendering import chat_html, styles, tables_html
from autogen_nb.notebook.view import status_line
from autogen_nb.notebook.view.plain_cell import PlainCellView
from autogen_nb.notebook.view.slots import Content, Slot
from autogen_nb.run import heartbeat
from autogen_nb.settings import OPTIONS, Settings

if TYPE_CHECKING:
    import pandas as pd

_CELL_OPTIONS = ("each", "retry_failed", "inputs", "outputs")
_LATEST = 8
_MOST_FAILED = 100
_MOST_COLUMNS = 4
_INTERVAL = 0.3
"""The minimum time in seconds between two updates of the table."""

_END_SECONDS = 15.0
"""The longest wait, in seconds, for the end of the workers after a stop."""


class RowsTable:
    """The cell's table of the rows that have ended, with a progress bar."""

    def __init__(self, total: int, slot: Slot | None) -> None:
        self.rows: list[dict[str, Any]] = []
        self.done, self.total = 0, total
        self._slot = slot
        self._shown, self._is_current = 0.0, True

    def add(self, row: dict[str, Any], done: int, total: int) -> None:
        self.rows.append(row)
        self.done, self.total, self._is_current = done, total, False
        self.flush()

    def flush(self) -> None:
        """Shows the rows that are not shown yet, unless the table was shown less than `_INTERVAL` ago."""
        if not self._is_current and time.monotonic() - self._shown > _INTERVAL:
            self.show()

    def show(self) -> None:
        if self._slot is not None:
            self._slot.show(*self.content())
        self._shown, self._is_current = time.monotonic(), True

    @property
    def summary(self) -> str:
        counts = [(status, len(self._with(status))) for status in ("failed", "not run")]
        parts = [f"{self.done} of {self.total} rows", *[f"{count} {status}" for status, count in counts if count]]
        tokens, costs = sum(row["tokens"] for row in self.rows), [row["cost"] for row in self.rows]
        parts += [f"{tokens:,} tokens"] if tokens else []
        # In the final table, unknown costs are NaN.
        parts += [f"${sum(costs):.2f}"] if tokens and None not in costs and not isnan(sum(costs)) else []
        return " · ".join(parts)

    def content(self) -> Content:
        share = self.done / self.total if self.total else 0
        bar = (
            f'<div role="progressbar" aria-valuenow="{share:.0%}" style="height:6px;border-radius:3px;max-width:40em;'
            f'background:{styles.FAINT}"><div style="width:{share:.1%};height:6px;border-radius:3px;'
            f'background:var(--jp-brand-color1,#1976d2)"></div></div>'
        )
        latest, metadata = self._table(self.rows[-_LATEST:])
        failed = self._with("failed")[:_MOST_FAILED]
        more = self._table(failed)[0]["text/html"]
        count = status_line.counted(len(self._with("failed")), "failed row", "failed rows")
        head = f"{chat_html.sign('bad')} {escape(count)}"
        fold = chat_html.opened_by(head, more, style=styles.SUMMARY) if failed else ""
        html = chat_html.line(self.summary) + bar + latest["text/html"] + fold
        return {"text/html": html, "text/plain": f"{self.summary}\n{latest['text/plain']}"}, metadata

    def _with(self, status: str) -> list[dict[str, Any]]:
        return [row for row in self.rows if row["status"] == status]

    def _table(self, rows: list[dict[str, Any]]) -> Content:
        if not rows:
            return chat_html.bundle("", "", kind="each")
        # The row's own columns come before its status.
        columns = list(takewhile(lambda name: name != "status", rows[0]))[:_MOST_COLUMNS]
        names = [*columns, "status", "answer"]
        cells = [
            [
                *(status_line.shortened(str(row.get(name, ""))) for name in names[:-1]),
                status_line.shortened(str(row["error"] or row["answer"])),
            ]
            for row in rows
        ]
        return tables_html.table(names, cells, kind="each")


async def run_each(stage: CellStage, options: Settings) -> "pd.DataFrame":
    """Runs a chat for each row, and assigns the results to the variable of `-o`; a stop keeps the ended rows."""
    namespace = stage.notebook.namespace
    rows = variable_choice.named_variables([options.each], namespace, "--each")[options.each]
    ended = threading.Event()
    work, name = _work(stage, options, rows, ended), options.outputs[0]
    slot = None if isinstance(stage.view, PlainCellView) else stage.view.next_slot()
    shown = RowsTable(len(rows) if isinstance(rows, Sized) and not isinstance(rows, str) else 0, slot)
    shown.show()
    call = EngineCall[Any](work)
    stopping = stage.person.stopping(f"One chat runs for each row of `{options.each}`, without questions.")
    stop = None if stopping is None else asyncio.ensure_future(stopping)
    if stop is not None:
        stop.add_done_callback(lambda _: call.cancel())

    def tick() -> None:
        stage.view.tick()
        shown.flush()

    try:
        with heartbeat(tick) if stage.waits == "async" else nullcontext():
            while isinstance(item := call.get(tick) if stage.waits == "sync" else await call.aget(), tuple):
                shown.add(*item)
                if slot is None:
                    stage.view.note(f"{shown.done} of {shown.total}: {item[0]['status']}")
        frame: pd.DataFrame = item
    except BaseException:
        await _end(stage, call, ended)
        if shown.rows:
            shown.show()
            namespace[name] = _frame(shown.rows)
            stage.view.note(f"`{name}` has the rows that ended. To run the missing rows, run this cell again.")
        raise
    finally:
        if stop is not None:
            stop.cancel()
            await asyncio.wait([stop])
    records: list[Any] = frame.to_dict("records")
    shown.rows, shown.done, shown.total = records, len(frame), len(frame)
    shown.show()
    namespace[name] = frame
    hint = " `--retry-failed` runs the failed rows again." if "failed" in set(frame.status) else ""
    stage.view.note(f"`{name}` has the table: {shown.summary}.{hint}")
    return frame


def _work(stage: CellStage, options: Settings, rows: Any, ended: threading.Event) -> Callable[..., Any]:
    from autogen_nb.many import dask_map

    map_options = dask_map.OPTIONS
    unavailable = [name for name in options.options if name not in (*map_options, *_CELL_OPTIONS)]
    if unavailable:
        flags = ", ".join(OPTIONS[name].metadata["flags"][-1] for name in unavailable)
        raise ConfigError(f"%%autogen: not available with --each: {flags}")
    if not options.outputs:
        raise ConfigError("%%autogen: --each needs -o NAME, the variable for the table of results")
    defaults = stage.notebook.defaults
    changed = {
        name: getattr(defaults, name) for name in map_options if getattr(defaults, name) != OPTIONS[name].default_value
    }
    values = changed | {name: value for name, value in options.options.items() if name in map_options}
    inputs = variable_choice.named_variables(options.inputs, stage.notebook.namespace, "--input")

    async def work(put: Callable[[Any], None]) -> Any:
        stops: list[Callable[[], None]] = []
        is_stopped = False

        def start(stop: Callable[[], None]) -> None:
            stops.append(stop)
            # The person may stop the cell while the workers start.
            if is_stopped:
                stop()

        def run() -> Any:
            try:
                return dask_map.map(
                    options.task,
                    rows,
                    inputs=inputs,
                    outputs=options.outputs[1:],
                    retry_failed=options.retry_failed,
                    on_row=lambda *row: put(row),
                    on_start=start,
                    **values,
                )
            finally:
                ended.set()

        try:
            return await asyncio.to_thread(run)
        except asyncio.CancelledError:
            is_stopped = True
            for stop in stops:
                stop()
            raise

    return work


async def _end(stage: CellStage, call: EngineCall[Any], ended: threading.Event) -> None:
    """Stops the workers, and waits at most `_END_SECONDS` for their end, so that the cell can run again."""
    call.cancel()
    if stage.waits == "sync":
        ended.wait(_END_SECONDS)
    else:
        await asyncio.to_thread(ended.wait, _END_SECONDS)


def _frame(rows: list[dict[str, Any]]) -> "pd.DataFrame":
    # pandas is an optional dependency.
    import pandas as pd

    return pd.DataFrame(rows)
