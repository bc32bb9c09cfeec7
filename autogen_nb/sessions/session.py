"""A session: a stored chat of a notebook, or the stored chats of a program.

Each change is a record in the file. Reading a session applies the records of the file, and appending a record also
applies it, so both lead to the same state. With variables, a session keeps how the notebook read its tables from files;
to find that out, nothing runs but a reader of pandas with literal arguments.
"""

import ast
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import count, takewhile
from pathlib import Path
from typing import Any, TypeAlias

from autogen_nb.core.text import code_blocks
from autogen_nb.errors import SessionError
from autogen_nb.event_json import from_json, to_json
from autogen_nb.events import CodeAsked, CodeRan, Event, ModelReplied, Recorded
from autogen_nb.messages import Completion
from autogen_nb.sessions.document import blocks_that_ran
from autogen_nb.sessions.log_file import LogFile

_READERS = frozenset({"read_csv", "read_excel", "read_parquet"})


@dataclass(frozen=True, slots=True)
class TableRead:
    """A call of a reader of pandas with a local file; `options` has the source of its literal options."""

    reader: str
    file: str
    options: Mapping[str, str]

    def gives(self, value: Any) -> bool:
        """True if the file still has the value."""
        if self.reader not in _READERS or not Path(self.file).is_file():
            return False
        try:
            import pandas as pd

            options = {name: ast.literal_eval(source) for name, source in self.options.items()}
            read = getattr(pd, self.reader)(self.file, **options)
            pd.testing.assert_frame_equal(read, value, check_exact=True)
        except Exception:  # noqa: BLE001 - a reader may raise any error for a file that has changed
            return False
        return True

    def code(self, file: str) -> str:
        """The call, with an expression for its file."""
        return f"pd.{self.reader}({', '.join([file, *(f'{name}={source}' for name, source in self.options.items())])})"


def table_reads(names: Iterable[str], namespace: Mapping[str, Any]) -> dict[str, TableRead]:
    """Maps names to the calls that the notebook's cells last set them to; other names are left out."""
    history = namespace.get("In")
    cells = [code for code in history if isinstance(code, str)] if isinstance(history, list) else []
    return {name: read for name in names if (read := _latest(name, cells, namespace))}


def _latest(name: str, cells: list[str], namespace: Mapping[str, Any]) -> TableRead | None:
    cell = next((code for code in reversed(cells) if name in code_blocks.defined_names(code)), "")
    tree = code_blocks.parse_python(cell)
    match [each for each in tree.body if name in code_blocks.defined_names(ast.unparse(each))] if tree else []:
        case [
            ast.Assign(
                [ast.Name()], ast.Call(ast.Attribute(ast.Name(module), reader), [ast.Constant(str(file))], keywords)
            )
        ] if getattr(namespace.get(module), "__name__", "") == "pandas" and reader in _READERS:
            options = {option.arg: ast.unparse(option.value) for option in keywords if option.arg}
            path = Path(file).expanduser().absolute()
            if path.is_file() and len(options) == len(keywords):
                return TableRead(reader, str(path), options)
    return None


FORMAT = 1
"""The version of the records; records that older releases cannot read get a new version."""

LOG = "events.jsonl"


@dataclass(frozen=True, slots=True)
class CodeStep:
    """Blocks that ran, up to the first error; `inner` has the questions of their code, each followed by its answer."""

    asked: CodeAsked
    inner: tuple[Recorded, ...]


@dataclass(frozen=True, slots=True)
class InputsStep:
    """Variables that were copied to the agent's kernel; `folder` has their pickles, if they are stored.

    `reads` says how the notebook read its tables.
    """

    names: tuple[str, ...]
    folder: Path | None
    reads: Mapping[str, TableRead] = field(default_factory=dict)


Step: TypeAlias = CodeStep | InputsStep


class RunLog(list[Recorded]):
    """The log of a run; `append` writes an event to the session's file before the event is part of the log."""

    def __init__(self, session: "Session") -> None:
        super().__init__()
        # In seconds since 1970.
        self.times: list[float] = []
        self._session = session

    def append(self, event: Recorded) -> None:
        now = round(time.time(), 3)
        self._session.write({"event": to_json(event), "at": now})
        self.add(event, now)

    def add(self, event: Recorded, at: float) -> None:
        """Adds an event that is already in the file."""
        asked = self[-1] if self else None
        if isinstance(event, CodeRan) and isinstance(asked, CodeAsked) and (blocks := blocks_that_ran(asked, event)):
            self._session.add_step(CodeStep(replace(asked, blocks=blocks), event.inner))
        self.times.append(at)
        super().append(event)


@dataclass(slots=True, eq=False)
class SessionRun:
    """The part of a session that one cell ran; `origin` and `settings` are JSON from the notebook."""

    task: str
    message: str
    origin: Mapping[str, Any]
    settings: Mapping[str, Any]
    log: RunLog
    # The number of steps before this run.
    step: int = 0
    # The variables that were copied to the kernel between the previous run and this run.
    inputs: list[InputsStep] = field(default_factory=list)
    # The digests of the variables at the end of this run.
    fingerprints: Mapping[str, str | None] | None = None


@dataclass(slots=True, eq=False)
class TakenBack:
    """Runs that `undo` took back: their position, and the kernel's steps from the first of these runs on."""

    index: int
    runs: list[SessionRun]
    steps: list[Step | None]


class Session:
    """The runs of a session, and the steps that lead to the variables of its kernel.

    Without a `file`, nothing is stored. If the file cannot be written, `problem` says why, and nothing is stored from
    then on.
    """

    def __init__(
        self, folder: Path, records: Iterable[tuple[int, Mapping[str, Any]]] = (), file: LogFile | None = None
    ) -> None:
        self.folder = folder
        self.problem = ""
        self.head: dict[str, Any] = {}
        self.runs: list[SessionRun] = []
        self.taken_back: list[TakenBack] = []
        self._replaced: list[Completion] = []
        # None stands for a new kernel, with which the person threw the earlier variables away.
        self._steps: list[Step | None] = []
        self._file: LogFile | None = None
        self._new_inputs: list[InputsStep] = []
        for number, record in records:
            try:
                self._apply(record)
            except (SessionError, LookupError, TypeError, ValueError, AttributeError) as error:
                raise SessionError(f"line {number} of {str(folder / LOG)!r} cannot be used: {error}") from error
        self._file = file

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def is_stored(self) -> bool:
        return self._file is not None

    @property
    def steps(self) -> list[Step]:
        """The steps that lead to the variables, also those before a crash: they bring back what it lost."""
        return self.steps_before(len(self.runs))

    def steps_before(self, index: int) -> list[Step]:
        """The steps that lead to the variables before the run at this index."""
        earlier = self._steps if index == len(self.runs) else self._steps[: self.runs[index].step]
        later = takewhile(lambda step: step is not None, reversed(earlier))
        return [step for step in later if step is not None][::-1]

    def add_step(self, step: Step) -> None:
        self._steps.append(step)

    @property
    def replaced(self) -> list[Completion]:
        """The replies of runs that are not part of the chat any more."""
        return self._replaced + _replies(run for each in self.taken_back for run in each.runs)

    @property
    def events(self) -> list[Recorded]:
        """The events of all cells, in order."""
        return [event for run in self.runs for event in run.log]

    def to_frame(self) -> Any:
        """A DataFrame with a row for each event: the cell, the time, the type and the fields of the event."""
        import pandas as pd

        rows = [
            {"cell": number, "time": pd.Timestamp(at, unit="s"), "event": type(event).__name__}
            | {each.name: getattr(event, each.name) for each in fields(event)}
            for number, run in enumerate(self.runs, 1)
            for event, at in zip(run.log, run.log.times, strict=True)
        ]
        return pd.DataFrame(rows)

    def open(self, **head: Any) -> None:
        """Records which process uses the session now."""
        self.add({"head": {"format": FORMAT, "pid": os.getpid(), **head}})

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file = None

    def set_chat(self, chat: str) -> None:
        self.add({"head": {"chat": chat}})

    def begin(
        self, task: str, message: str, origin: Mapping[str, Any], settings: Mapping[str, Any], *, instead: bool = False
    ) -> SessionRun:
        """Begins a run; with `instead`, the run replaces those that `undo` took back last."""
        run = {"task": task, "message": message, "origin": origin, "settings": settings}
        self.add({"run": run, **({"instead": True} if instead else {})})
        return self.runs[-1]

    def undo(self, index: int) -> None:
        """Takes back the runs from this index on, and their steps."""
        self.add({"undo": index})

    def redo(self) -> None:
        """Brings back the runs that `undo` took back last, and takes back the runs that replaced them."""
        self.add({"redo": True})

    def drop(self, index: int) -> None:
        """Removes the runs from this index on; the kernel keeps their variables, and the next run gets their inputs."""
        self.add({"drop": index})

    def cut_log(self, size: int) -> None:
        """Cuts the log of the latest run to its first `size` events."""
        self.add({"keep": size})

    def new_inputs_folder(self) -> Path | None:
        """The path of a new folder for pickles of variables to copy to the kernel; None if nothing is stored."""
        if self._file is None:
            return None
        return next(path for number in count(1) if not (path := self.folder / f"inputs-{number}").exists())

    def add_inputs(
        self, names: Sequence[str], folder: Path | None, reads: Mapping[str, TableRead] | None = None
    ) -> None:
        calls = {name: [read.reader, read.file, dict(read.options)] for name, read in (reads or {}).items()}
        self.add({"inputs": list(names), "folder": folder and folder.name, "reads": calls})

    @property
    def fingerprints(self) -> Mapping[str, str | None]:
        """The digests of the variables at the end of the latest run that ended."""
        return next((run.fingerprints for run in reversed(self.runs) if run.fingerprints is not None), {})

    def set_fingerprints(self, fingerprints: Mapping[str, str | None]) -> None:
        self.add({"fingerprints": dict(fingerprints)})

    def begin_kernel(self) -> None:
        """Records that the person has thrown the variables away, so that no earlier block runs again."""
        if self.steps:
            self.add({"kernel": "new"})

    def add(self, record: Mapping[str, Any]) -> None:
        """Writes a record, and applies it."""
        self.write(record)
        self._apply(record)

    def write(self, record: Mapping[str, Any]) -> None:
        if self._file is None:
            return
        try:
            self._file.append(record)
        except (OSError, ValueError, RecursionError) as error:
            self.problem = f"{getattr(error, 'strerror', None) or error}"
            self.close()

    def _apply(self, record: Mapping[str, Any]) -> None:
        match record:
            case {"head": dict(head)}:
                if head.get("format", FORMAT) != FORMAT:
                    raise SessionError(f"it has format {head['format']}, and this release reads format {FORMAT}")
                self.head |= head
            case {"event": event, "at": float() | int() as at}:
                self.runs[-1].log.add(_recorded(from_json(event)), at)
            case {"inputs": list(names), "folder": folder}:
                reads = {name: TableRead(*call) for name, call in record.get("reads", {}).items()}
                self._new_inputs.append(InputsStep(tuple(names), folder and self.folder / Path(folder).name, reads))
                self.add_step(self._new_inputs[-1])
            case {"kernel": "new"}:
                self._steps.append(None)
                for run in self.runs:
                    run.fingerprints = None
            case {"fingerprints": dict(fingerprints)}:
                if self.runs:
                    self.runs[-1].fingerprints = fingerprints
            case _:
                self._apply_to_runs(record)

    def _apply_to_runs(self, record: Mapping[str, Any]) -> None:
        match record:
            case {"run": dict(run)}:
                if not record.get("instead"):
                    self._replaced, self.taken_back = self.replaced, []
                self.runs.append(SessionRun(log=RunLog(self), step=len(self._steps), inputs=self._new_inputs, **run))
                self._new_inputs = []
            case {"undo": int(index)}:
                self._take_back(index)
            case {"redo": True}:
                earlier = self.taken_back.pop()
                self._take_back(earlier.index)
                self._new_inputs = [each for each in self._new_inputs if each not in earlier.runs[0].inputs]
                self.runs += earlier.runs
                self._steps[earlier.runs[0].step :] = earlier.steps
            case {"drop": int(index)}:
                dropped, self.runs[index:] = self.runs[index:], []
                self._replaced += _replies(dropped)
                copied_again = {name for step in self._new_inputs for name in step.names}
                kept = [step for run in dropped for step in run.inputs if not copied_again.issuperset(step.names)]
                self._new_inputs = kept + self._new_inputs
            case {"keep": int(size)}:
                del self.runs[-1].log[size:], self.runs[-1].log.times[size:]
            case _:
                raise SessionError(f"it has an unknown record: {', '.join(map(str, record))}")

    def _take_back(self, index: int) -> None:
        if runs := self.runs[index:]:
            step = runs[0].step
            removed = self._steps[step:]
            self.taken_back.append(TakenBack(index, runs, removed))
            # The kernel keeps the variables that were copied before the first of these runs.
            self._new_inputs = [*runs[0].inputs, *self._new_inputs]
            del self.runs[index:]
            # Without code in these runs, the kernel stays as it is, so it has no variables from before its beginning.
            stays = None in removed and not any(isinstance(each, CodeStep) for each in removed)
            self._steps[step:] = [None] if stays else []


def _replies(runs: Iterable[SessionRun]) -> list[Completion]:
    return [event.completion for run in runs for event in run.log if isinstance(event, ModelReplied)]


def _recorded(event: Event) -> Recorded:
    if isinstance(event, Recorded):
        return event
    raise SessionError(f"a {type(event).__name__} is not part of a log")
