"""``%%autogen --each FRAME -o TABLE``: one chat for each row of a table.

1. The cell updates one output: a progress bar, the rows that ended last, and a folded table of failed rows.
2. The rows run in threads; their questions go to the cell's thread, which asks one at a time.
"""

import asyncio
import os
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from html import escape
from itertools import takewhile
from math import isnan
from typing import TYPE_CHECKING, Any

from autogen_nb.core.ports import Human
from autogen_nb.effects import EffectJudged
from autogen_nb.engine import EngineCall
from autogen_nb.errors import NobodyThere
from autogen_nb.events import ApprovalGiven
from autogen_nb.human.rule_based_approver import RUN_ALL
from autogen_nb.notebook.asking.person import AbsentPerson, Person, RelayingHuman
from autogen_nb.notebook.context import named_variables
from autogen_nb.notebook.notebook import CellStage
from autogen_nb.notebook.rendering import chat_html, styles
from autogen_nb.notebook.rendering.chat_html import Content
from autogen_nb.notebook.view.slots import Slot
from autogen_nb.run import heartbeat
from autogen_nb.settings import OPTIONS, Settings
from autogen_nb.views import in_words
from autogen_nb.views.plain_view import PlainCellView

if TYPE_CHECKING:
    import pandas as pd

    from autogen_nb.many.dask_map import PreparedCall

_CELL_OPTIONS = ("each", "retry_failed", "inputs", "outputs", "answer", "human_timeout")
_RESULTS = "results"
"""The variable for the table of results without `-o`."""
_LATEST = 8
_MOST_FAILED = 100
_MOST_COLUMNS = 4
_INTERVAL = 0.3
"""The minimum time in seconds between two updates of the table."""

_END_SECONDS = 15.0
"""The longest wait, in seconds, for the end of the workers after a stop."""


class RowsTable:
    """The cell's table of the rows that have ended, with a progress bar."""

    def __init__(self, total: int, answer: str, slot: Slot | None) -> None:
        self.rows: list[dict[str, Any]] = []
        self.done, self.total = 0, total
        self._answer = answer
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
        count = in_words.counted(len(self._with("failed")), "failed row", "failed rows")
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
        names = [*columns, "status", self._answer]
        cells = [
            [
                *(in_words.shortened(str(row.get(name, ""))) for name in names[:-1]),
                in_words.shortened(str(row["error"] or row[self._answer])),
            ]
            for row in rows
        ]
        return chat_html.table(names, cells, kind="each")


@dataclass(frozen=True, slots=True)
class _RowQuestion:
    """A question of a row; `ask` asks the person, in the cell's thread."""

    ask: Callable[[], Any]
    answer: Future[Any]


_APPROVALS = {"approve": ApprovalGiven("run", by=RUN_ALL), "allow": EffectJudged(allowed=True, by=RUN_ALL)}


class _RowHuman(RelayingHuman):
    """Answers the questions of one row's code. "Run all rows" holds for the table, so the rows share `runs_all`."""

    def __init__(
        self, person: Person, title: str, put: Callable[[_RowQuestion], None], runs_all: threading.Event
    ) -> None:
        self._person = person
        self._title = title
        self._put = put
        self._runs_all = runs_all

    async def _relay(self, method: str, question: Any) -> Any:
        def ask() -> Any:
            # The answer to another row's question may approve this one, too.
            if method in _APPROVALS and self._runs_all.is_set():
                return _APPROVALS[method]
            return getattr(self._person.for_row(self._title), method)(question)

        asked = _RowQuestion(ask, Future())
        self._put(asked)
        return await asyncio.wrap_future(asked.answer)


async def run_each(stage: CellStage, options: Settings) -> "pd.DataFrame":
    """Runs a chat for each row, and assigns the results to the variable of `-o`; a stop keeps the ended rows."""
    from autogen_nb.many import dask_map

    namespace, setting = stage.notebook.namespace, stage.notebook.model_setting
    problems, known, rows, inputs = dask_map.Problems(), None, None, dict[str, Any]()
    unavailable = [name for name in options.options if name not in (*dask_map.OPTIONS, *_CELL_OPTIONS)]
    if unavailable:
        flags = ", ".join(OPTIONS[name].metadata["flags"][-1] for name in unavailable)
        problems.append(f"%%autogen: not available with --each: {flags}")
    with problems.collected():
        known = setting.choose(options.options.get("model"), os.environ)
    with problems.collected():
        inputs = named_variables(options.inputs, namespace, "--input")
    with problems.collected():
        rows = named_variables([options.each], namespace, "--each")[options.each]
    attended = not isinstance(stage.person, AbsentPerson)
    values = _values(stage, options) | {"inputs": inputs, "attended": attended}
    if rows is not None:
        with problems.collected():
            # If no model is known, the form asks for one when nothing else is wrong.
            call = dask_map.PreparedCall(options.task, rows, model=known or ("offline" if attended else None), **values)
    problems.check()
    model = await stage.choose_model(options)
    if model != known:
        call = dask_map.PreparedCall(options.task, rows, model=model, **values)
    return await _run(stage, options, call)


def _values(stage: CellStage, options: Settings) -> dict[str, Any]:
    from autogen_nb.many.dask_map import OPTIONS as ROW_OPTIONS

    defaults = stage.notebook.defaults
    changed = {
        name: getattr(defaults, name) for name in ROW_OPTIONS if getattr(defaults, name) != OPTIONS[name].default_value
    }
    named = {name: value for name, value in options.options.items() if name in ROW_OPTIONS}
    values = {name: value for name, value in (changed | named).items() if name != "model"}
    more = {"outputs": options.outputs[1:], "retry_failed": options.retry_failed}
    return values | more | ({"answer": options.answer} if options.answer else {})


async def _run(stage: CellStage, options: Settings, prepared: "PreparedCall") -> "pd.DataFrame":
    # pandas is an optional dependency.
    import pandas as pd

    namespace, name = stage.notebook.namespace, (options.outputs or [_RESULTS])[0]
    ended = threading.Event()
    slot = None if isinstance(stage.view, PlainCellView) else stage.view.next_slot()
    shown = RowsTable(len(prepared.tasks), prepared.answer, slot)
    shown.show()
    runs_all = threading.Event()
    call = EngineCall[Any](_work(stage, prepared, ended, runs_all))
    questions = _Questions(stage, f"One chat runs for each row of `{options.each}`.", call.cancel, runs_all)

    def tick() -> None:
        stage.view.tick()
        shown.flush()

    try:
        with heartbeat(tick) if stage.waits == "async" else nullcontext():
            while not hasattr(item := call.get(tick) if stage.waits == "sync" else await call.aget(), "columns"):
                if isinstance(item, _RowQuestion):
                    await questions.add(item)
                    continue
                shown.add(*item)
                if slot is None:
                    stage.view.note(f"{shown.done} of {shown.total}: {item[0]['status']}")
        frame: pd.DataFrame = item
    except BaseException:
        call.cancel()
        # The cell can run again when the workers have ended.
        if stage.waits == "sync":
            ended.wait(_END_SECONDS)
        else:
            await asyncio.to_thread(ended.wait, _END_SECONDS)
        if shown.rows:
            shown.show()
            namespace[name] = pd.DataFrame(shown.rows)
            stage.view.note(f"`{name}` has the rows that ended. To run the missing rows, run this cell again.")
        raise
    finally:
        await questions.end()
    records: list[Any] = frame.to_dict("records")
    shown.rows, shown.done, shown.total = records, len(frame), len(frame)
    shown.show()
    namespace[name] = frame
    hint = " `--retry-failed` runs the failed rows again." if "failed" in set(frame.status) else ""
    stage.view.note(f"`{name}` has the table: {shown.summary}.{hint}")
    return frame


class _Questions:
    """Asks the rows' questions, one at a time; a stop button is shown between them."""

    def __init__(self, stage: CellStage, what: str, stop: Callable[[], None], runs_all: threading.Event) -> None:
        self._stage, self._what, self._stop, self._runs_all = stage, what, stop, runs_all
        self._waiting: list[_RowQuestion] = []
        self._task: asyncio.Task[None] | None = None
        if stage.waits == "async":
            self._changed = asyncio.Event()
            self._task = asyncio.ensure_future(self._ask_all())

    async def add(self, question: _RowQuestion) -> None:
        if self._task is None:
            await self._answer(question)
        else:
            self._waiting.append(question)
            self._changed.set()

    async def end(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _ask_all(self) -> None:
        while True:
            stopping = self._stage.person.stopping(self._what)
            stop = None if stopping is None else asyncio.ensure_future(stopping)
            if stop is not None:
                stop.add_done_callback(lambda done: None if done.cancelled() else self._stop())
            try:
                await self._changed.wait()
            finally:
                if stop is not None:
                    stop.cancel()
                    await asyncio.wait([stop])
            self._changed.clear()
            while self._waiting:
                await self._answer(self._waiting.pop(0))

    async def _answer(self, question: _RowQuestion) -> None:
        try:
            answer = question.ask()
            answer = await answer if isinstance(answer, Awaitable) else answer
        except NobodyThere as error:
            with suppress(InvalidStateError):
                question.answer.set_exception(error)
            return
        except Exception:
            self._stop()
            raise
        if getattr(answer, "onwards", False):
            self._runs_all.set()
        # The row may have ended meanwhile.
        with suppress(InvalidStateError):
            question.answer.set_result(answer)
        if getattr(answer, "decision", "") == "stop" or getattr(answer, "stop", False):
            self._stop()


def _work(
    stage: CellStage, prepared: "PreparedCall", ended: threading.Event, runs_all: threading.Event
) -> Callable[..., Any]:
    async def work(put: Callable[[Any], None]) -> Any:
        stops: list[Callable[[], None]] = []
        is_stopped = False

        def start(stop: Callable[[], None]) -> None:
            stops.append(stop)
            # The person may stop the cell while the workers start.
            if is_stopped:
                stop()

        def human(number: int, task: str) -> Human:
            title = f"Row {number + 1}: {in_words.shortened(task)}"
            return _RowHuman(stage.person, title, put, runs_all)

        def run() -> Any:
            try:
                return prepared.run(
                    on_row=lambda *row: put(row),
                    on_start=start,
                    human=None if isinstance(stage.person, AbsentPerson) else human,
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
