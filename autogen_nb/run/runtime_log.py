"""AutoGen 0.2's runtime logging: a program starts it, and rows about agents, requests and messages are written.

API keys and addresses of servers are left out.
"""

import json
import sqlite3
import threading
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from autogen_nb.core.ports import Completion, Model, ModelRequest
from autogen_nb.errors import ConfigError

_PRIVATE = frozenset(
    "api_key organization base_url azure_endpoint azure_ad_token azure_ad_token_provider default_headers".split()
)

_TABLES = {
    "chat_completions": (
        "id INTEGER PRIMARY KEY, invocation_id TEXT, client_id INTEGER, wrapper_id INTEGER, session_id TEXT, "
        "source_name TEXT, request TEXT, response TEXT, is_cached INTEGER, cost REAL, start_time TEXT, end_time TEXT"
    ),
    "agents": (
        "id INTEGER PRIMARY KEY, agent_id INTEGER, wrapper_id INTEGER, session_id TEXT, name TEXT, class TEXT, "
        "init_args TEXT, timestamp TEXT, UNIQUE (agent_id, session_id)"
    ),
    "oai_wrappers": (
        "id INTEGER PRIMARY KEY, wrapper_id INTEGER, session_id TEXT, init_args TEXT, timestamp TEXT, "
        "UNIQUE (wrapper_id, session_id)"
    ),
    "oai_clients": (
        "id INTEGER PRIMARY KEY, client_id INTEGER, wrapper_id INTEGER, session_id TEXT, class TEXT, init_args TEXT, "
        "timestamp TEXT, UNIQUE (client_id, session_id)"
    ),
    "version": "id INTEGER PRIMARY KEY CHECK (id = 1), version_number INTEGER NOT NULL",
    "events": (
        "event_name TEXT, source_id INTEGER, source_name TEXT, agent_module TEXT, agent_class_name TEXT, "
        "id INTEGER PRIMARY KEY, json_state TEXT, timestamp TEXT"
    ),
    "function_calls": (
        "source_id INTEGER, source_name TEXT, function_name TEXT, args TEXT, returns TEXT, timestamp TEXT"
    ),
}
"""AutoGen's tables."""


class _SqliteLog:
    def __init__(self, config: Mapping[str, Any]) -> None:
        # Models reply on the engine's thread.
        self.connection: sqlite3.Connection | None = sqlite3.connect(
            config.get("dbname", "logs.db"), check_same_thread=False
        )
        for table, columns in _TABLES.items():
            self.connection.execute(f"CREATE TABLE IF NOT EXISTS {table} ({columns})")
        self.write("version", {"id": 1, "version_number": 1})

    def write(self, table: str, row: Mapping[str, Any]) -> None:
        if self.connection is None:
            return
        values = ", ".join("?" * len(row))
        statement = f"INSERT OR REPLACE INTO {table} ({', '.join(row)}) VALUES ({values})"  # noqa: S608 - our own names
        with self.connection:
            self.connection.execute(statement, tuple(row.values()))

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
        self.connection = None


class _FileLog:
    connection = None

    def __init__(self, config: Mapping[str, Any]) -> None:
        folder = Path("autogen_logs")
        folder.mkdir(exist_ok=True)
        self._file = (folder / config.get("filename", "runtime.log")).open("a", encoding="utf-8")

    def write(self, table: str, row: Mapping[str, Any]) -> None:
        self._file.write(json.dumps({"table": table, **row}) + "\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()


_LOGS: Mapping[str, type[_SqliteLog | _FileLog]] = {"sqlite": _SqliteLog, "file": _FileLog}
_lock = threading.Lock()
_log: _SqliteLog | _FileLog | None = None
_session = ""


def start(logger: Any = None, logger_type: str = "sqlite", config: Mapping[str, Any] | None = None) -> str:
    """Starts logging, and returns the session's id.

    Parameters
    ----------
    logger_type
        "sqlite" (the file ``config["dbname"]``, by default logs.db), or "file" (``config["filename"]`` in the folder
        autogen_logs, a JSON object on each line).
    """
    global _log, _session
    if logger is not None:
        raise ConfigError("start() takes no logger of your own; give logger_type='sqlite' or 'file'")
    if logger_type not in _LOGS:
        raise ConfigError(f"logger_type is {logger_type!r}; it must be 'sqlite' or 'file'")
    stop()
    _log, _session = _LOGS[logger_type](config or {}), str(uuid.uuid4())
    return _session


def stop() -> None:
    """Ends logging, and closes the file."""
    global _log  # noqa: PLW0603 - one log for the process, as in AutoGen
    with _lock:
        if _log is not None:
            _log.close()
        _log = None


def logging_enabled() -> bool:
    """True between `start` and `stop`."""
    return _log is not None


def get_connection() -> sqlite3.Connection | None:
    """The connection to the SQLite file; None if there is none."""
    return None if _log is None else _log.connection


def log_chat_completion(
    invocation_id: Any,
    client_id: int,
    wrapper_id: int,
    agent: Any,
    request: Mapping[str, Any],
    response: Any,
    is_cached: int,
    cost: float | None,
    start_time: str,
) -> None:
    """Logs a request to a model and its reply."""
    _write(
        "chat_completions",
        invocation_id=str(invocation_id),
        client_id=client_id,
        wrapper_id=wrapper_id,
        session_id=_session,
        source_name=_name(agent),
        request=_json(request),
        response=_json(response),
        is_cached=int(is_cached),
        cost=cost,
        start_time=start_time,
        end_time=now(),
    )


def log_new_agent(agent: Any, init_args: Mapping[str, Any]) -> None:
    """Logs a new agent and its model."""
    model = getattr(agent, "model", None)
    _write(
        "agents",
        agent_id=id(agent),
        wrapper_id=None if model is None else id(model),
        session_id=_session,
        name=agent.name,
        **{"class": type(agent).__name__},
        init_args=_json(init_args),
        timestamp=now(),
    )
    if model is not None:
        log_new_wrapper(model, {"llm_config": init_args.get("llm_config")})
        log_new_client(model, model, {"model": model.name})


def log_event(source: Any, name: str, **kwargs: Any) -> None:
    """Logs an event of an agent, or of another source by its name."""
    is_agent = not isinstance(source, str)
    _write(
        "events",
        event_name=name,
        source_id=id(source),
        source_name=_name(source),
        agent_module=type(source).__module__ if is_agent else None,
        agent_class_name=type(source).__name__ if is_agent else None,
        json_state=_json(kwargs),
        timestamp=now(),
    )


def log_function_use(agent: Any, function: Any, args: Mapping[str, Any], returns: Any) -> None:
    """Logs a call of a tool."""
    _write(
        "function_calls",
        source_id=id(agent),
        source_name=_name(agent),
        function_name=getattr(function, "__name__", str(function)),
        args=_json(args),
        returns=_json(returns),
        timestamp=now(),
    )


def log_new_wrapper(wrapper: Any, init_args: Mapping[str, Any]) -> None:
    """Logs a new `OpenAIWrapper`, or an agent's model."""
    _write("oai_wrappers", wrapper_id=id(wrapper), session_id=_session, init_args=_json(init_args), timestamp=now())


def log_new_client(client: Any, wrapper: Any, init_args: Mapping[str, Any]) -> None:
    """Logs a new client of a model's server."""
    _write(
        "oai_clients",
        client_id=id(client),
        wrapper_id=id(wrapper),
        session_id=_session,
        **{"class": type(client).__name__},
        init_args=_json(init_args),
        timestamp=now(),
    )


def log_completion(agent: Any, model: Model, request: ModelRequest, completion: Completion, start_time: str) -> None:
    """Logs a model's reply."""
    if _log is None:
        return
    sent = {"messages": request.messages, "model": completion.model}
    lists = {"tools": request.tools, "functions": request.functions}
    sent |= {name: list(definitions) for name, definitions in lists.items() if definitions}
    reply = openai_form(completion)
    cached, cost = int(completion.cached), completion.cost or 0.0
    log_chat_completion(uuid.uuid4(), id(model), id(model), agent, sent, reply, cached, cost, start_time)


def openai_form(completion: Completion) -> dict[str, Any]:
    """A reply in the form of OpenAI's chat completions API, with its cost; an unknown cost is 0."""
    usage = completion.usage
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    return {
        "choices": [{"index": 0, "message": completion.message.to_dict(), "finish_reason": completion.finish_reason}],
        "model": completion.model,
        "usage": usage and {name: getattr(usage, name) for name in names},
        "cost": completion.cost or 0.0,
    }


def now() -> str:
    """The time in AutoGen's form."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")


def _write(table: str, **row: Any) -> None:
    with _lock:
        if _log is not None:
            _log.write(table, row)


def _name(source: Any) -> str:
    return str(getattr(source, "name", source))


def _json(value: Any) -> str:
    if _log is None:
        return ""
    return json.dumps(_public(value), default=lambda other: f"<<non-serializable: {type(other).__qualname__}>>")


def _public(value: Any) -> Any:
    match value:
        case Mapping():
            return {str(key): _public(each) for key, each in value.items() if key not in _PRIVATE}
        case list() | tuple():
            return [_public(each) for each in value]
    return value
