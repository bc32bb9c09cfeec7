"""`map`: one chat for each row of a table, on a Dask cluster.

1. Each result is written to the call's journal, a file that the same call reads later to run only the missing rows.
2. If a worker dies, Dask runs its rows on other workers.
3. Neither the arguments of a row nor the journal contain API keys: workers read them from their own environment.
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

from autogen_nb import run
from autogen_nb.errors import ChatUnfinished, ConfigError, ExecutionError, SessionError
from autogen_nb.kernels.transfer.dask_cluster import cluster_of
from autogen_nb.many.rows import digest, fill_task, read_rows, row_keys
from autogen_nb.models.config import model_connection
from autogen_nb.models.config.model_selection import model_for
from autogen_nb.models.wrappers.budget import Budget, budgeted
from autogen_nb.sessions.log_file import LogFile
from autogen_nb.settings import Settings, checked

if TYPE_CHECKING:
    import pandas as pd
    from distributed import Client, Future

    from autogen_nb.many.row_chat import RowCall

OPTIONS = ("model", "confirm", "budget", "sandbox", "net", "kernel", "max_turns", "block_timeout", "share")
RESULTS = ("status", "answer", "tokens", "cost", "seconds", "error", "session")
_DIGITS = 8
_RETRIES = 2
"""How often a row runs again because its worker died, in our own cluster."""


def map(  # noqa: A001 - `autogen_nb` exports this name
    task: str,
    rows: Any,
    *,
    client: "Client | str | None" = None,
    workers: int | None = None,
    inputs: Mapping[str, Any] | None = None,
    outputs: Iterable[str] = (),
    out: str | os.PathLike[str] | None = None,
    retry_failed: bool = False,
    on_row: Callable[[dict[str, Any], int, int], object] | None = None,
    on_start: Callable[[Callable[[], None]], object] | None = None,
    **options: Any,
) -> "pd.DataFrame":
    """Runs one chat for each row, on a Dask cluster, and returns a table of the results.

    Each result is stored when its row ends, and the same call again runs only the rows that are missing. A script needs
    ``if __name__ == "__main__":`` around the call, since the workers are new processes.

    Parameters
    ----------
    task
        The task of each row; ``{column}`` is replaced by the row's value.
    rows
        A DataFrame of pandas or polars, an Arrow table, dicts, or the path of a CSV file.
    client
        A Dask client, or the address of a Dask scheduler. The workers need `autogen_nb`, and environment variables with
        the models' keys. By default, a cluster on this machine runs until the call ends.
    workers
        The number of workers in the cluster on this machine; by default one for each processor.
    inputs
        Values that the kernel of each row gets, by name. If one is a Dask collection, `client` is by default
        Dask's current client.
    outputs
        Variables of the agent's kernel that become columns. A value is text, a number, a list or a dict; a DataFrame
        becomes a list of its rows.
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
        and `share`. `confirm` must be "risky", or "never" with a sandbox. The budget is for all rows together, and for
        earlier calls with the same arguments; when it is reached, later rows have the status "not run".

    Returns
    -------
    DataFrame
        The columns of the rows, then ``status`` ("done", "failed" or "not run"), ``answer``, the outputs, ``tokens``,
        ``cost`` (US dollars, None if it is unknown), ``seconds``, ``error`` and ``session``.

    Raises
    ------
    ConfigError
        If an option, a row or the task cannot be used; nothing has started.
    SessionError
        If the journal is damaged, or another call uses the journal.
    """
    _check_installed()
    table = read_rows(rows)
    tasks = [fill_task(task, row, number) for number, row in enumerate(table)]
    names = checked("outputs", list(outputs), "map: ")
    for_workers, settings = _options(options)
    _check_columns(table, names)
    path = None if out is None else _checked_out(Path(out).expanduser())
    if client is None:
        _check_local_workers(settings)
    from dask.tokenize import tokenize

    from autogen_nb.many.row_chat import RowCall

    values = dict(inputs or {})
    if client is None and cluster_of(values) is not None:
        from distributed import Client

        client = Client.current()
    identity = [settings.model, for_workers, names, tokenize(values) if values else ""]
    name = f"map-{digest(task, identity)[:_DIGITS]}"
    keys = row_keys(tasks, table, identity)
    with closing(_journal(path, name)) as journal:
        current_keys = set(keys)
        records = [record for _, record in journal.values if record["key"] in current_keys]
        results = {record["key"]: record for record in records}
        end_statuses = ("done",) if retry_failed else ("done", "failed")
        missing = [at for at, key in enumerate(keys) if results.get(key, {}).get("status") not in end_statuses]
        call = RowCall(name, f"{name}-{uuid4().hex}", for_workers, tuple(names), settings.budget)
        spent = sum(record["tokens"] for record in records), sum(record["cost"] or 0.0 for record in records)
        done = len(keys) - len(missing)
        rows_left = [(at, keys[at], tasks[at]) for at in missing]
        with closing(_run(call, values, rows_left, client, workers, spent, on_start)) as finished_rows:
            for at, result in finished_rows:
                results[keys[at]] = record = {"key": keys[at], **result}
                journal.append(record)
                done += 1
                if on_row is not None:
                    on_row(_columns(table[at], record, names), done, len(keys))
    return _write([_columns(row, results[key], names) for row, key in zip(table, keys, strict=True)], path)


def _options(values: Mapping[str, Any]) -> tuple[dict[str, Any], Settings]:
    """The options for the workers, and the settings that result from them on this machine."""
    if unknown := sorted(values.keys() - {*OPTIONS}):
        raise ConfigError(f"map: there is no option {unknown[0]!r}; the options are {', '.join(OPTIONS)}")
    if not isinstance(values.get("model") or "", str):
        raise ConfigError("map: model must be a name; put a configuration, which may have a key, into OAI_CONFIG_LIST")
    options = Settings.from_options("", "map: ", **values)
    wall = options.target(Settings().where).kind.wall
    if options.confirm != "risky" and not wall:
        way_out = "set `confirm` to risky (code that is not clearly harmless fails its row), or use a sandbox"
        raise ConfigError(f"map: nobody is there to approve code: {way_out} (bwrap or docker)")
    options = options.unattended()
    settings = Settings().for_cell(options, attended=False, sandboxed=wall, policy=run.policy())
    for_workers = {name: value for name, value in options.options.items() if name != "budget"}
    return for_workers | ({"model": settings.model} if settings.model else {}), settings


def _check_local_workers(settings: Settings) -> None:
    """Raises an error if workers on this machine would fail with these settings."""
    settings.target(Settings().where).check(Path.cwd())
    spec = model_connection.choose(settings.model or None, None, os.environ)
    if spec is None:
        raise ConfigError(model_connection.NO_MODEL)
    if settings.budget:
        budgeted(model_for(spec), Budget.parse(settings.budget))


def _check_columns(table: Sequence[Mapping[str, Any]], names: Sequence[str]) -> None:
    taken = sorted({*RESULTS, *names} & {name for row in table for name in row}) + sorted({*RESULTS} & {*names})
    if taken:
        raise ConfigError(f"map: {taken[0]!r} is the name of a column of the results; rename the column or the output")


def _checked_out(path: Path) -> Path:
    if path.suffix not in (".csv", ".parquet"):
        raise ConfigError(f"map: out is {str(path)!r}; it must end in .csv or .parquet")
    if not path.parent.is_dir():
        raise ConfigError(f"map: the folder of {str(path)!r} does not exist")
    if path.exists() and not _journal_path(path).exists():
        raise ConfigError(f"map: {str(path)!r} already exists, and is not a table of map; choose another name")
    return path


def _journal_path(out: Path) -> Path:
    return out.with_name(f"{out.name}.rows.jsonl")


def _check_installed() -> None:
    try:
        import cryptography  # noqa: F401  # for the certificates of our own cluster
        import distributed  # noqa: F401  # checks only that it is installed
        import pandas as pd  # noqa: F401  # checks only that it is installed
    except ImportError as error:
        raise ConfigError("map needs Dask and pandas: pip install 'autogen-nb[many]'") from error


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


def _run(
    call: "RowCall",
    inputs: Mapping[str, Any],
    rows: Sequence[tuple[int, str, str]],
    where: "Client | str | None",
    workers: int | None,
    spent: tuple[int, float],
    on_start: Callable[[Callable[[], None]], object] | None,
) -> Generator[tuple[int, dict[str, Any]]]:
    if not rows:
        return
    from autogen_nb.many.row_chat import end_kernels
    from autogen_nb.many.shared_limits import SharedLimits

    with ExitStack() as stack:
        if where is None:
            client = stack.enter_context(_own_cluster(min(workers or os.cpu_count() or 1, len(rows))))
        else:
            client = stack.enter_context(_client(where)) if isinstance(where, str) else where
        limits = SharedLimits(call.limits, client)
        limits.begin(*spent)
        # Dask repeats a task of the graph if its worker dies; scattered values would be lost.
        values: Future[Any] = client.submit(dict, inputs, key=f"{call.limits}-inputs")
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
                # `wait=False`, because the end of a running block could take long.
                client.run(end_kernels, call.limits, on_error="ignore", wait=False)


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
        self._completed = as_completed([])
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
def _own_cluster(workers: int) -> Iterator["Client"]:
    import dask
    from distributed import Client, LocalCluster

    options = {
        "distributed.scheduler.allowed-failures": _RETRIES,
        # By default, Dask stores profiles of an hour and a thousand messages, which only its developers need.
        "distributed.worker.profile.enabled": False,
        "distributed.admin.low-level-log-length": 20,
    }
    with (
        dask.config.set(options),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            # Without certificates, every user of this machine could run code in the workers.
            security=True,
            scheduler_kwargs={"dashboard": False},
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
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


def _columns(row: Mapping[str, Any], record: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    first, rest = RESULTS[:2], RESULTS[2:]
    return {
        **row,
        **{name: record[name] for name in first},
        **{name: record["outputs"].get(name) for name in names},
        **{name: record[name] for name in rest},
    }


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
