"""AutoGen 0.2's runtime logging: a program starts it, and rows about agents, requests and messages are written.

API keys and addresses of servers are left out.
"""

import json
import re
import sqlite3
import threading
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from autogen_nb.core.ports import Completion, Model, ModelRequest
from autogen_nb.errors import ConfigError

_PRIVATE = frozenset(
    "api_key organization base_url azure_endpoint azure_ad_token azure_ad_token_provider default_headers".split()
)
_SERIALISED = frozenset("request response init_args json_state args returns".split())

_TABLES = {
    "chat_completions": "id INTEGER PRIMARY KEY, invocation_id TEXT, client_id INTEGER, wrapper_id INTEGER, "
    "session_id TEXT, source_name TEXT, request TEXT, response TEXT, is_cached INTEGER, cost REAL, start_time TEXT, "
    "end_time TEXT",
    "agents": "id INTEGER PRIMARY KEY, agent_id INTEGER, wrapper_id INTEGER, session_id TEXT, name TEXT, class TEXT, "
    "init_args TEXT, timestamp TEXT, UNIQUE (agent_id, session_id)",
    "oai_wrappers": "id INTEGER PRIMARY KEY, wrapper_id INTEGER, session_id TEXT, init_args TEXT, timestamp TEXT, "
    "UNIQUE (wrapper_id, session_id)",
    "oai_clients": "id INTEGER PRIMARY KEY, client_id INTEGER, wrapper_id INTEGER, session_id TEXT, class TEXT, "
    "init_args TEXT, timestamp TEXT, UNIQUE (client_id, session_id)",
    "version": "id INTEGER PRIMARY KEY CHECK (id = 1), version_number INTEGER NOT NULL",
    "events": "event_name TEXT, source_id INTEGER, source_name TEXT, agent_module TEXT, agent_class_name TEXT, "
    "id INTEGER PRIMARY KEY, json_state TEXT, timestamp TEXT",
    "function_calls": "source_id INTEGER, source_name TEXT, function_name TEXT, args TEXT, returns TEXT, "
    "timestamp TEXT",
}
"""AutoGen's tables."""

_lock = threading.Lock()
_log: sqlite3.Connection | TextIO | None = None
_session = ""


def start(logger: Any = None, logger_type: str = "sqlite", config: Mapping[str, Any] | None = None) -> str:
    """Starts logging to the SQLite file `dbname` or the text file `filename`, and returns the session's id."""
    global _log, _session  # noqa: PLW0603 - one log for the process, as in AutoGen
    if logger is not None:
        raise ConfigError("start() takes no logger of your own; give logger_type='sqlite' or 'file'")
    if logger_type not in ("sqlite", "file"):
        raise ConfigError(f"logger_type is {logger_type!r}; it must be 'sqlite' or 'file'")
    stop()
    config = config or {}
    if logger_type == "sqlite":
        # Models reply on the engine's thread.
        _log = sqlite3.connect(config.get("dbname", "logs.db"), check_same_thread=False)
        for table, columns in _TABLES.items():
            _log.execute(f"CREATE TABLE IF NOT EXISTS {table} ({columns})")
        with _log:
            _log.execute("INSERT OR IGNORE INTO version VALUES (1, 1)")
    else:
        folder = Path("autogen_logs")
        folder.mkdir(exist_ok=True)
        _log = (folder / config.get("filename", "runtime.log")).open("a", encoding="utf-8", buffering=1)
    _session = str(uuid.uuid4())
    return _session


def stop() -> None:
    """Ends logging, and closes the file."""
    global _log  # noqa: PLW0603 - as above
    with _lock:
        if _log is not None:
            _log.close()
        _log = None


def logging_enabled() -> bool:
    """True between `start` and `stop`."""
    return _log is not None


def get_connection() -> sqlite3.Connection | None:
    """The connection to the SQLite file; None if there is none."""
    return _log if isinstance(_log, sqlite3.Connection) else None


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
    source = str(invocation_id), client_id, wrapper_id, _session, _name(agent)
    _write("chat_completions", *source, request, response, int(is_cached), cost, start_time, now())


def log_new_agent(agent: Any, init_args: Mapping[str, Any]) -> None:
    """Logs a new agent and its model."""
    model = getattr(agent, "model", None)
    model_id = None if model is None else id(model)
    _write("agents", id(agent), model_id, _session, agent.name, type(agent).__name__, init_args, now())
    if model is not None:
        log_new_wrapper(model, {"llm_config": init_args.get("llm_config")})
        log_new_client(model, model, {"model": model.name})


def log_event(source: Any, name: str, **kwargs: Any) -> None:
    """Logs an event of an agent, or of another source by its name."""
    kind = (None, None) if isinstance(source, str) else (type(source).__module__, type(source).__name__)
    _write("events", name, id(source), _name(source), *kind, kwargs, now())


def log_function_use(agent: Any, function: Any, args: Mapping[str, Any], returns: Any) -> None:
    """Logs a call of a tool."""
    name = getattr(function, "__name__", str(function))
    _write("function_calls", id(agent), _name(agent), name, args, returns, now())


def log_new_wrapper(wrapper: Any, init_args: Mapping[str, Any]) -> None:
    """Logs a new `OpenAIWrapper`, or an agent's model."""
    _write("oai_wrappers", id(wrapper), _session, init_args, now())


def log_new_client(client: Any, wrapper: Any, init_args: Mapping[str, Any]) -> None:
    """Logs a new client of a model's server."""
    _write("oai_clients", id(client), id(wrapper), _session, type(client).__name__, init_args, now())


def log_completion(agent: Any, model: Model, request: ModelRequest, completion: Completion, start_time: str) -> None:
    """Logs a model's reply."""
    if _log is None:
        return
    lists = {"messages": request.messages, "tools": request.tools, "functions": request.functions}
    sent = {**{name: items for name, items in lists.items() if items}, "model": completion.model}
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


def _write(table: str, *values: Any) -> None:
    """Writes a row: the values of the table's columns, without its primary key."""
    with _lock:
        if _log is None:
            return
        names = re.findall(r"(\w+) (?:INTEGER|TEXT|REAL)(?! PRIMARY)", _TABLES[table])
        row = {name: _json(value) if name in _SERIALISED else value for name, value in zip(names, values, strict=True)}
        if isinstance(_log, sqlite3.Connection):
            marks = ", ".join("?" * len(row))
            statement = f"INSERT OR REPLACE INTO {table} ({', '.join(row)}) VALUES ({marks})"  # noqa: S608 - our own names
            with _log:
                _log.execute(statement, tuple(row.values()))
        else:
            _log.write(json.dumps({"table": table, **row}) + "\n")


def _name(source: Any) -> str:
    return str(getattr(source, "name", source))


def _json(value: Any) -> str:
    return json.dumps(_public(value), default=lambda other: f"<<non-serializable: {type(other).__qualname__}>>")


def _public(value: Any) -> Any:
    match value:
        case Mapping():
            return {str(key): _public(each) for key, each in value.items() if key not in _PRIVATE}
        case list() | tuple():
            return [_public(each) for each in value]
    return value
