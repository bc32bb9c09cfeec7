"""`map`: one chat for each row of a table, on a Dask cluster.

1. Each result is written to the call's journal, a file that the same call reads later to run only the missing rows.
2. Without a client, a cluster in this process runs the rows in threads: it starts at once, and a person can be asked.
3. If a worker of another cluster dies, Dask runs its rows on other workers.
4. Neither the arguments of a row nor the journal contain API keys: other workers read them from their environment.
"""

import logging
import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import platformdirs

from autogen_nb.errors import ChatUnfinished, ConfigError, ExecutionError, SessionError
from autogen_nb.kernels.transfer.describe import cluster_of
from autogen_nb.many.rows import digest, fill_task, read_rows, row_keys
from autogen_nb.models.config import model_selection
from autogen_nb.models.config.model_selection import model_for
from autogen_nb.models.wrappers.budget import Budget, budgeted
from autogen_nb.sessions.log_file import LogFile
from autogen_nb.settings import Settings, checked

if TYPE_CHECKING:
    import pandas as pd
    from distributed import Client, Future

    from autogen_nb.many.row_chat import RowCall, RowHuman

OPTIONS = ("model", "confirm", "budget", "sandbox", "net", "kernel", "memory", "max_turns", "block_timeout", "share")
_STATUS, _MEASURES = "status", ("tokens", "cost", "seconds", "error", "session")


def map(  # noqa: A001 - `autogen_nb` exports this name
    task: str,
    rows: Any,
    *,
    client: "Client | str | None" = None,
    workers: int | None = None,
    inputs: Mapping[str, Any] | None = None,
    outputs: Iterable[str] = (),
    answer: str = "answer",
    out: str | os.PathLike[str] | None = None,
    retry_failed: bool = False,
    on_row: Callable[[dict[str, Any], int, int], object] | None = None,
    on_start: Callable[[Callable[[], None]], object] | None = None,
    **options: Any,
) -> "pd.DataFrame":
    """Runs one chat for each row, on a Dask cluster, and returns a table of the results.

    Each result is stored when its row ends, and the same call again runs only the rows that are missing.

    Parameters
    ----------
    task
        The task of each row; ``{column}`` is replaced by the row's value.
    rows
        A DataFrame of pandas or polars, an Arrow table, dicts, or the path of a CSV file.
    client
        A Dask client, or the address of a Dask scheduler. The workers need `autogen_nb`, and environment variables with
        the models' keys. By default, the rows run in threads of this process, each with a kernel of its own.
    workers
        The number of rows that run at the same time in this process; by default one for each processor.
    inputs
        Values that the kernel of each row gets, by name. If one is a Dask collection, `client` is by default
        Dask's current client.
    outputs
        Variables of the agent's kernel that become columns. A value is text, a number, a list or a dict; a DataFrame
        becomes a list of its rows.
    answer
        The name of the column with the answers.
    out
        The file for the table, ``.csv`` or ``.parquet``: new, or from an earlier call. The journal is beside this file.
    retry_failed
        Whether the same call again also runs the rows that failed.
    on_row
        A function to call after each row, with a dict of row and result, and the numbers of finished and of all rows.
    on_start
        A function to call before the first row. Its argument is a function that any thread can call to stop the rows;
        `map` then raises `ChatUnfinished`.
    **options
        The options of a cell: `model`, `confirm`, `budget`, `sandbox`, `net`, `kernel`, `max_turns`, `block_timeout`
        and `share`. Nobody is asked: without a sandbox, a row with code fails unless `confirm` is "risky", and "never"
        needs a sandbox. The budget is for all rows together, and for earlier calls with the same arguments; when it
        is reached, later rows have the status "not run".

    Returns
    -------
    DataFrame
        The columns of the rows, then ``status`` ("done", "failed" or "not run"), the answer, the outputs, ``tokens``,
        ``cost`` (US dollars, None if it is unknown), ``seconds``, ``error`` and ``session``.

    Raises
    ------
    ConfigError
        If an option, a row or the task cannot be used; nothing has started.
    SessionError
        If the journal is damaged, or another call uses the journal.
    """
    call = PreparedCall(
        task,
        rows,
        client=client,
        workers=workers,
        inputs=inputs,
        outputs=outputs,
        answer=answer,
        out=out,
        retry_failed=retry_failed,
        **options,
    )
    return call.run(on_row=on_row, on_start=on_start)


class Problems(list[str]):
    """Collects errors of a call, so that one error lists them all."""

    @contextmanager
    def collected(self) -> Iterator[None]:
        try:
            yield
        except ConfigError as error:
            self.append(str(error))

    def check(self) -> None:
        if self:
            raise ConfigError(self[0] if len(self) == 1 else "\n".join(f"- {problem}" for problem in self))


class PreparedCall:
    """A call of `map` whose arguments are valid; one ConfigError names all problems. `attended` if a person is asked.

    In this process, the model may also be a configuration with a key.
    """

    def __init__(
        self,
        task: str,
        rows: Any,
        *,
        client: "Client | str | None" = None,
        workers: int | None = None,
        inputs: Mapping[str, Any] | None = None,
        outputs: Iterable[str] = (),
        answer: str = "answer",
        out: str | os.PathLike[str] | None = None,
        retry_failed: bool = False,
        attended: bool = False,
        **options: Any,
    ) -> None:
        _check_installed()
        problems, settings, model = Problems(), Settings(), options.pop("model", None)
        self.task, self.answer, self.workers, self.retry_failed = task, answer, workers, retry_failed
        self.inputs, self.path = dict(inputs or {}), None if out is None else Path(out).expanduser()
        self.table, self.tasks, self.names = list[dict[str, Any]](), list[str](), list[str]()
        with problems.collected():
            self.table = read_rows(rows)
            self.tasks = [fill_task(task, row, number) for number, row in enumerate(self.table)]
        with problems.collected():
            self.names = checked("outputs", list(outputs), "map: ")
            _check_columns(self.table, self.names, checked("answer", answer, "map: "))
        with problems.collected():
            if self.path is not None:
                _check_out(self.path)
        if client is None and cluster_of(self.inputs) is not None:
            from distributed import Client

            client = Client.current()
        if isinstance(model, Mapping) and client is not None:
            problems.append("map: on a cluster, model must be a name; put its configuration into OAI_CONFIG_LIST")
        with problems.collected():
            name = model_selection.resolved(model, os.environ).model if isinstance(model, Mapping) else model
            settings = _settings(options | {"model": name}, attended=attended)
            if client is None:
                settings.place().check(Path.cwd())
                if not isinstance(model, Mapping):
                    model = model_selection.configured(settings.model, os.environ)
                if settings.budget:
                    budgeted(model_for(model), Budget.parse(settings.budget))
        problems.check()
        self.client, self.model, self.budget = client, model, settings.budget
        self.options = {name: value for name, value in settings.options.items() if name != "budget"}
        self.options |= {"model": settings.model} if settings.model else {}

    def run(
        self,
        *,
        on_row: Callable[[dict[str, Any], int, int], object] | None = None,
        on_start: Callable[[Callable[[], None]], object] | None = None,
        human: "RowHuman | None" = None,
    ) -> "pd.DataFrame":
        """Runs the rows; `human`, if given, answers the questions of the rows that run in this process."""
        from dask.tokenize import tokenize

        from autogen_nb.many.row_chat import RowCall

        identity = [self.options, self.names, tokenize(dict(self.inputs)) if self.inputs else ""]
        name = f"map-{digest(self.task, identity)[:8]}"
        keys = row_keys(self.tasks, self.table, identity)
        with closing(_journal(self.path, name)) as journal:
            current_keys = set(keys)
            records = [record for _, record in journal.values if record["key"] in current_keys]
            results = {record["key"]: record for record in records}
            end_statuses = ("done",) if self.retry_failed else ("done", "failed")
            missing = [at for at, key in enumerate(keys) if results.get(key, {}).get("status") not in end_statuses]
            call = RowCall(name, f"{name}-{uuid4().hex}", self.options, tuple(self.names), self.budget)
            spent = sum(record["tokens"] for record in records), sum(record["cost"] or 0.0 for record in records)
            done = len(keys) - len(missing)
            rows_left = [(at, keys[at], self.tasks[at]) for at in missing]
            with closing(self._run(call, rows_left, spent, on_start, human)) as finished_rows:
                for at, result in finished_rows:
                    results[keys[at]] = record = {"key": keys[at], **result}
                    journal.append(record)
                    done += 1
                    if on_row is not None:
                        on_row(self._columns(self.table[at], record), done, len(keys))
        rows = [self._columns(row, results[key]) for row, key in zip(self.table, keys, strict=True)]
        return _write(rows, self.path)

    def _columns(self, row: Mapping[str, Any], record: Mapping[str, Any]) -> dict[str, Any]:
        return {
            **row,
            _STATUS: record["status"],
            self.answer: record["answer"],
            **{name: record["outputs"].get(name) for name in self.names},
            **{name: record[name] for name in _MEASURES},
        }

    def _run(
        self,
        call: "RowCall",
        rows: Sequence[tuple[int, str, str]],
        spent: tuple[int, float],
        on_start: Callable[[Callable[[], None]], object] | None,
        human: "RowHuman | None",
    ) -> Generator[tuple[int, dict[str, Any]]]:
        if not rows:
            return
        from autogen_nb.many.row_chat import SharedLimits, end_rows, local_calls

        with ExitStack() as stack:
            if self.client is None:
                client = stack.enter_context(_embedded_cluster(min(self.workers or os.cpu_count() or 1, len(rows))))
                local_calls[call.limits] = client, self.model, human
                stack.callback(local_calls.pop, call.limits)
            else:
                client = stack.enter_context(_client(self.client)) if isinstance(self.client, str) else self.client
            limits = SharedLimits(call.limits, client)
            limits.begin(*spent)
            # Dask repeats a task of the graph if its worker dies; scattered values would be lost.
            values: Future[Any] = client.submit(dict, self.inputs, key=f"{call.limits}-inputs")
            queue = _Queue(client, call, values, rows)
            if on_start is not None:
                on_start(queue.stop)
            try:
                client.replicate([values])
                yield from queue.results()
            finally:
                # After `limits.end()`, rows that still run send no further request.
                with suppress(Exception):
                    queue.cancel()
                    limits.end()
                    # On another machine, the end of a running block could take long.
                    client.run(end_rows, call.limits, on_error="ignore", wait=self.client is None)


def _settings(values: Mapping[str, Any], *, attended: bool) -> Settings:
    """The settings of the rows, as they result on this machine."""
    if unknown := sorted(values.keys() - {*OPTIONS}):
        raise ConfigError(f"map: there is no option {unknown[0]!r}; the options are {', '.join(OPTIONS)}")
    options = Settings.from_options("", "map: ", **values)
    sandboxed = options.place().is_sandbox
    if options.confirm == "never" and not sandboxed and not attended:
        way_out = "set `confirm` to risky (code that is not clearly harmless fails its row), or use a sandbox"
        raise ConfigError(f"map: nobody is there to approve code: {way_out} (bwrap or docker)")
    options.check_saved()
    return Settings().for_cell(options, attended=attended, sandboxed=sandboxed)


def _check_columns(table: Iterable[Mapping[str, Any]], names: Iterable[str], answer: str) -> None:
    results, outputs = {_STATUS, answer, *_MEASURES}, {*names}
    taken = sorted((results | outputs) & {name for row in table for name in row}) + sorted(results & outputs)
    if taken:
        raise ConfigError(f"map: {taken[0]!r} is the name of a column of the results; rename the column or the output")


def _check_out(path: Path) -> None:
    if path.suffix not in (".csv", ".parquet"):
        raise ConfigError(f"map: out is {str(path)!r}; it must end in .csv or .parquet")
    if not path.parent.is_dir():
        raise ConfigError(f"map: the folder of {str(path)!r} does not exist")
    if path.exists() and not _journal_path(path).exists():
        raise ConfigError(f"map: {str(path)!r} already exists, and is not a table of map; choose another name")


def _journal_path(out: Path) -> Path:
    return out.with_name(f"{out.name}.rows.jsonl")


def _check_installed() -> None:
    try:
        import distributed  # noqa: F401  # checks only that it is installed
        import pandas as pd  # noqa: F401  # checks only that it is installed
    except ImportError as error:
        raise ConfigError("map needs Dask and pandas: pip install 'autogen-nb[data]'") from error


def _journal(out: Path | None, name: str) -> LogFile:
    if out is not None:
        path = _journal_path(out)
    else:
        path = platformdirs.user_data_path("autogen_nb", appauthor=False) / "many" / f"{name}.jsonl"
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        return LogFile(path)
    except SessionError as error:
        raise SessionError(f"the journal {str(path)!r} cannot be used; another call may use it ({error})") from error


class _Queue:
    """Submits at most as many rows at a time as the workers have threads.

    Otherwise, Dask may queue rows at the worker that has their inputs, while other workers are idle.
    """

    def __init__(
        self, client: "Client", call: "RowCall", values: "Future[Any]", rows: Iterable[tuple[int, str, str]]
    ) -> None:
        from distributed import as_completed

        self._client = client
        self._call = call
        self._values = values
        self._waiting = deque(rows)
        self._futures: dict[Future[dict[str, Any]], int] = {}
        self._completed = as_completed([], loop=client.loop)
        self._is_stopped = False

    def results(self) -> Generator[tuple[int, dict[str, Any]]]:
        """Yields the indices and the results of the rows, as they end; raises ChatUnfinished after `stop`."""
        self._submit()
        for future in self._completed:
            if self._is_stopped:
                break
            at, result = self._futures.pop(future), _result(future)
            self._submit()
            yield at, result
        if self._is_stopped:
            raise ChatUnfinished("Stopped: the same call runs the rows that are missing.", reason="stopped")

    def stop(self) -> None:
        """Cancels the rows; any thread may call this method."""
        self._is_stopped = True
        self.cancel()

    def cancel(self) -> None:
        self._client.cancel(list(self._futures))

    def _submit(self) -> None:
        from autogen_nb.many.row_chat import run_row

        free = max(1, sum(self._client.nthreads().values())) - len(self._futures)
        for _ in range(0 if self._is_stopped else min(free, len(self._waiting))):
            at, key, task = self._waiting.popleft()
            name = f"{self._call.limits}-{at}"
            future = self._client.submit(run_row, self._call, self._values, key, at, task, key=name, pure=False)
            self._futures[future] = at
            self._completed.add(future)
        if self._is_stopped:
            self.cancel()


@contextmanager
def _embedded_cluster(threads: int) -> Iterator["Client"]:
    import dask
    from distributed import Client, LocalCluster
    from distributed.comm.inproc import global_manager

    # Otherwise Dask opens a socket to 8.8.8.8 to find this machine's address, and warns if the machine is offline.
    global_manager._ip = global_manager._ip or "127.0.0.1"  # noqa: SLF001  # see above
    options = {
        # By default, Dask stores profiles of an hour and a thousand messages, which only its developers need.
        "distributed.worker.profile.enabled": False,
        "distributed.admin.low-level-log-length": 20,
        # Dask's HTTP servers cannot be turned off; without routes they tell nothing.
        "distributed.scheduler.http.routes": [],
        "distributed.worker.http.routes": [],
    }
    with (
        dask.config.set(options),
        LocalCluster(
            processes=False,
            n_workers=1,
            threads_per_worker=threads,
            memory_limit=None,
            scheduler_kwargs={"dashboard": False},
            dashboard_address="127.0.0.1:0",
            worker_dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        # The notebook's own client, if any, stays the default.
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def _client(address: str) -> "Client":
    from distributed import Client

    try:
        return Client(address)
    except (OSError, ValueError) as error:
        raise ConfigError(f"map: there is no Dask scheduler at {address!r}: {error}") from error


def _result(future: "Future[dict[str, Any]]") -> dict[str, Any]:
    from distributed import KilledWorker

    from autogen_nb.many.row_chat import not_run

    if future.status == "finished":
        return future.result()
    if future.status == "cancelled":
        return not_run("the cluster was restarted")
    error = future.exception()
    if isinstance(error, KilledWorker):
        return not_run("each worker that ran this row died") | {"status": "failed"}
    return not_run(f"the worker cannot run the row: {type(error).__name__}: {error}")


def _write(table: list[dict[str, Any]], path: Path | None) -> "pd.DataFrame":
    import pandas as pd

    frame = pd.DataFrame(table)
    try:
        if path is not None and path.suffix == ".csv":
            frame.to_csv(path, index=False)
        elif path is not None:
            frame.to_parquet(path, index=False)
    except (OSError, ValueError, TypeError, ImportError) as error:
        raise ExecutionError(
            f"{path} cannot be written: {error}; the results are in the journal, and the same call tries again"
        ) from error
    return frame
