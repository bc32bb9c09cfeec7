"""AutoGen 0.2's runtime logging: rows for agents, requests, messages and calls, without keys and servers' addresses."""

import json
import sqlite3
import threading
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import wraps
from pathlib import Path
from typing import Any, TypeAlias

from autogen_nb.core.ports import Model, ModelRequest
from autogen_nb.errors import ConfigError
from autogen_nb.messages import Completion

_PRIVATE = frozenset(
    "api_key organization base_url azure_endpoint azure_ad_token azure_ad_token_provider default_headers".split()
)
_SERIALISED = frozenset("request response init_args json_state args returns".split())

_TABLES = {
    "chat_completions": "invocation_id client_id wrapper_id session_id source_name request response is_cached cost "
    "start_time end_time",
    "agents": "agent_id wrapper_id session_id name class init_args timestamp",
    "oai_wrappers": "wrapper_id session_id init_args timestamp",
    "oai_clients": "client_id wrapper_id session_id class init_args timestamp",
    "events": "event_name source_id source_name agent_module agent_class_name json_state timestamp",
    "function_calls": "source_id source_name function_name args returns timestamp",
    "version": "version_number",
}

Row: TypeAlias = tuple[Any, ...]  # a table, and the values of its columns

_lock = threading.Lock()
_log: Any = None  # a connection, a file, or a program's own logger
_session = ""

active = False
"""True between `start` and `stop`. Callers check this first, because the arguments of log functions may be costly."""


def start(logger: Any = None, logger_type: str = "sqlite", config: Mapping[str, Any] | None = None) -> str:
    """Logs to `logger`, or to the file ``dbname`` (SQLite) or ``filename`` of `config`; returns the session's id."""
    global _log, _session, active  # noqa: PLW0603 - one log for the process, as in AutoGen
    if logger_type not in ("sqlite", "file"):
        raise ConfigError(f"logger_type is {logger_type!r}; it must be 'sqlite' or 'file'")
    stop()
    config, _session = config or {}, str(uuid.uuid4())
    if logger is not None:
        _session = logger.start()
        _log = logger
    elif logger_type == "sqlite":
        # The engine's thread writes, too, because models reply there.
        _log = sqlite3.connect(config.get("dbname", "logs.db"), check_same_thread=False)
        for table, columns in _TABLES.items():
            names = ["id INTEGER PRIMARY KEY", *columns.split()]
            if "init_args" in names:
                names.append(f"UNIQUE ({names[1]}, session_id)")
            _log.execute(f"CREATE TABLE IF NOT EXISTS {table} ({', '.join(names)})")
        with _log:
            _log.execute("INSERT OR REPLACE INTO version VALUES (1, 1)")
    else:
        folder = Path("autogen_logs")
        folder.mkdir(exist_ok=True)
        _log = (folder / config.get("filename", "runtime.log")).open("a", encoding="utf-8", buffering=1)
    active = True
    return _session


def stop() -> None:
    global _log, active
    with _lock:
        if _log is not None:
            (_log.stop if _is_custom() else _log.close)()
        _log, active = None, False


def logging_enabled() -> bool:
    return active


def get_connection() -> sqlite3.Connection | None:
    return _log if isinstance(_log, sqlite3.Connection) else None


def _logs(row: Callable[..., Row]) -> Callable[..., None]:
    """Writes the row that `row` returns, or passes the call to a program's own logger."""

    @wraps(row)
    def log(*args: Any, **kwargs: Any) -> None:
        if _is_custom():
            getattr(_log, row.__name__)(*args, **kwargs)
        elif _log is not None:
            _write(*row(*args, **kwargs))

    return log


def _is_custom() -> bool:
    return hasattr(_log, "log_event")


@_logs
def log_chat_completion(
    invocation_id: Any, client_id: int, wrapper_id: int, agent: Any, request: Any, response: Any, *more: Any
) -> Row:
    """Logs a request and its reply; `more` is whether it was cached (1 or 0), the cost and the start time."""
    ids = str(invocation_id), client_id, wrapper_id, _session
    return "chat_completions", *ids, _name(agent), request, response, *more, now()


@_logs
def log_new_agent(agent: Any, init_args: Mapping[str, Any]) -> Row:
    model = getattr(agent, "model", None)
    if model is not None:
        log_new_wrapper(model, {"llm_config": init_args.get("llm_config")})
        log_new_client(model, model, {"model": model.name})
    return "agents", id(agent), model and id(model), _session, agent.name, type(agent).__name__, init_args, now()


@_logs
def log_event(source: Any, name: str, **kwargs: Any) -> Row:
    kind = (None, None) if isinstance(source, str) else (type(source).__module__, type(source).__name__)
    return "events", name, id(source), _name(source), *kind, kwargs, now()


@_logs
def log_function_use(agent: Any, function: Any, args: Mapping[str, Any], returns: Any) -> Row:
    return "function_calls", id(agent), _name(agent), getattr(function, "__name__", str(function)), args, returns, now()


@_logs
def log_new_wrapper(wrapper: Any, init_args: Mapping[str, Any]) -> Row:
    return "oai_wrappers", id(wrapper), _session, init_args, now()


@_logs
def log_new_client(client: Any, wrapper: Any, init_args: Mapping[str, Any]) -> Row:
    return "oai_clients", id(client), id(wrapper), _session, type(client).__name__, init_args, now()


def log_completion(agent: Any, model: Model, request: ModelRequest, completion: Completion, seconds: float) -> None:
    """Logs a reply that came `seconds` after its request."""
    lists = {"messages": request.messages, "tools": request.tools, "functions": request.functions}
    sent = {**{name: items for name, items in lists.items() if items}, "model": completion.model}
    source, more = (uuid.uuid4(), id(model), id(model), agent), (int(completion.cached), completion.cost or 0.0)
    log_chat_completion(*source, sent, openai_form(completion), *more, now(-seconds))


def openai_form(completion: Completion) -> dict[str, Any]:
    """A reply in the form of OpenAI's chat completions API, with its cost; an unknown cost is 0."""
    usage = completion.usage
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    message = {"role": "assistant", "tool_calls": None, "function_call": None, **completion.message.to_dict()}
    return {
        "choices": [{"index": 0, "message": message, "finish_reason": completion.finish_reason}],
        "model": completion.model,
        "usage": usage and {name: getattr(usage, name) for name in names},
        "cost": completion.cost or 0.0,
        **({"note": completion.note} if completion.note else {}),
    }


def now(later: float = 0.0) -> str:
    """The time in `later` seconds, in UTC."""
    return f"{datetime.now(UTC) + timedelta(seconds=later):%Y-%m-%d %H:%M:%S.%f}"


def _write(table: str, *values: Any) -> None:
    names = _TABLES[table].split()
    row = {name: _json(value) if name in _SERIALISED else value for name, value in zip(names, values, strict=True)}
    with _lock:
        if isinstance(_log, sqlite3.Connection):
            marks = ", ".join("?" * len(row))
            statement = f"INSERT OR REPLACE INTO {table} ({', '.join(row)}) VALUES ({marks})"  # noqa: S608 - our own names
            with _log:
                _log.execute(statement, tuple(row.values()))
        elif _log is not None:
            _log.write(json.dumps({"table": table, **row}) + "\n")


def _name(source: Any) -> str:
    return str(getattr(source, "name", source))


def _json(value: Any) -> str:
    return json.dumps(_public(value), default=lambda other: f"<<non-serializable: {type(other).__qualname__}>>")


def _public(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _public(each) for key, each in value.items() if key not in _PRIVATE}
    return list(map(_public, value)) if isinstance(value, list | tuple) else value
