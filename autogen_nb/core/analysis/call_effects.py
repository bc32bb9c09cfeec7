"""Predicts the effects of a call from the function and its arguments."""

import ast
from collections.abc import Iterable, Iterator
from typing import Any, cast

from autogen_nb.core.analysis import library_effects, method_effects, sql_effects
from autogen_nb.core.analysis.abstract_values import (
    HOLE,
    UNKNOWN,
    LocalName,
    OpenedFile,
    PathText,
    Ref,
    is_temporary,
    path_of,
    raw,
    text_of,
)
from autogen_nb.core.analysis.effect_collector import EffectCollector, FileUse, is_url
from autogen_nb.core.analysis.evaluator import Evaluator
from autogen_nb.core.analysis.known_names import word_lists
from autogen_nb.effects import Effect, EffectKind

_ARGUMENTS = word_lists("arguments")
_CALLS = word_lists("calls")
_CONNECTIONS = ("memory", "sqlite3.connect()", "duckdb.connect()", "sqlalchemy.create_engine()", "duckdb")
_LITE = ("sqlite3.connect()", "memory.sqlite3")
_METHODS_TO_PATHS = ("with_name", "with_suffix", "with_stem")
_THREADS = ("threading", "sequential", "threads", "sharedmem")
_WORKERS = ("concurrent.", "joblib.", "multiprocessing.", "torch.multiprocessing.")
"""Libraries whose workers run Python functions, so a string argument is no command."""
_STANDARD = (Ref("sys.stdout"), Ref("sys.stderr"), Ref("sys.stdin"))
_FILE_USES = ("read", "write", "delete")
_PATH_USES = [(method, use) for use, methods in word_lists("paths").items() for method in methods]
_ARGUMENT_USES = [(method, use) for use, methods in word_lists("path_arguments").items() for method in methods]
"""Pairs of a method of `Path` and what it does with the path or the argument: read, write or delete."""


class CallReader:
    def __init__(self, values: Evaluator, effects: EffectCollector, own: Iterable[str], *, changing: bool) -> None:
        self._values = values
        self._effects = effects
        self._own = frozenset(own)
        self._changing = changing

    def read(self, call: ast.Call) -> None:
        if _keyword_values(call, _ARGUMENTS["folder"]):
            self._effects.add_unknown("uses a path relative to a folder's descriptor")
        func = call.func
        refs = self._values.refs(func)
        for ref in refs:
            self._read_library(library_effects.without_calls(ref), call, made="()" in ref)
        if isinstance(func, ast.Attribute):
            for value in self._values.of(func.value):
                self._read_method(value, func.attr, call)
        elif isinstance(func, ast.Name):
            self._read_function(func, call)
        name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
        harmless = name in _CALLS["quiet"] or name in self._own
        if not harmless and not method_effects.kind(name) and not any(map(_is_known, refs)):
            # An unknown function may connect to any address in its arguments.
            for address in self._addresses(call):
                if is_url(address):
                    self._effects.add_connection(address)
                elif address.lower().startswith(("sqlite://", "sqlite+", "duckdb://")):
                    sql_effects.read_address(address, self._effects, changing=True)

    def _read_function(self, func: ast.Name, call: ast.Call) -> None:
        for value in self._values.of(func):
            if isinstance(value, Ref) and not _is_known(value.name):
                self._read_unknown_owner(value.name.rpartition(".")[2], call, value.name)
            elif value is UNKNOWN:
                self._read_unknown_owner(func.id, call, func.id)

    def _read_library(  # noqa: C901  # one row for each kind of library
        self, name: str, call: ast.Call, *, made: bool
    ) -> None:
        if name in _CALLS["open"]:
            binary = name not in ("open", "io.open")
            for text in self._files(call) or (None,):
                self._read_mode(text, self._mode(call, 1, "b" if binary else "t"))
        elif name in _CALLS["database"]:
            for text in self._files(call, keywords=("database", "url")):
                read_only = any(each.arg == "read_only" for each in call.keywords) or "mode=ro" in (text or "")
                sql_effects.read_address(text, self._effects, changing=self._changing and not read_only)
        elif name.startswith("IPython.display."):
            self._read_display(call)
        elif name.startswith("tempfile.") and name != "tempfile.gettempdir":
            self._read_temporary(name, call)
        elif name == "logging.basicConfig":
            for text in self._files(call, len(call.args), ("filename",)):
                self._effects.add_file("write", text)
        elif name == "numpy.load" and any(each.arg in ("allow_pickle", None) for each in call.keywords):
            self._effects.add_unknown("unpickles a file, which can run code")
        elif name in library_effects.FILES:
            for use, place in library_effects.FILES[name]:
                self._read_files(use, place, call)
        elif (kind := library_effects.default_kind(name)) not in (None, "compute"):
            self._read_default(kind, name, call, made=made)

    def _in_threads(self, call: ast.Call) -> bool:
        keywords = {each.arg: self._values.of(each.value) for each in call.keywords}
        jobs = self._values.of(call.args[0]) if call.args else keywords.get("n_jobs", (None,))
        backends = keywords.get("backend") or (*keywords.get("prefer", ()), *keywords.get("require", ()))
        single = all(each in (None, 1) for each in jobs)
        threads = bool(backends) and all(each in _THREADS for each in backends)
        return None not in keywords and not call.args[1:] and (single or threads)

    def _read_temporary(self, name: str, call: ast.Call) -> None:
        persists = any(
            not isinstance(each, ast.Constant) or not each.value for each in _keyword_values(call, ("delete",))
        )
        stays = (persists or name.startswith("tempfile.mk")) and not self._effects.scope.private_temporary
        folder = self._values.temporary_folder(name, call)
        if folder is None or not is_temporary(folder):
            self._effects.add_file("write", folder)
        elif stays:
            # If the kernel's temporary folder is not /tmp, the guard in the kernel asks when the code runs.
            self._effects.add(Effect("write", "/tmp", "writes a temporary file"))  # noqa: S108  # only the target of the effect

    def _read_display(self, call: ast.Call) -> None:
        for text in (text for node in _keyword_values(call, ("filename",)) for text in self._values.texts(node)):
            self._effects.add_file("read", text)
        for text in (text for node in _keyword_values(call, ("url",)) for text in self._values.texts(node)):
            self._effects.add_connection(text)
        for text in self._files(call, keywords=()):
            if text is not None and method_effects.is_file_like(text):
                self._effects.add_file("read", text)

    def _read_default(self, kind: EffectKind, name: str, call: ast.Call, *, made: bool) -> None:
        if name in _CALLS["parallel"] and (made or self._in_threads(call)):
            return
        effects = EffectCollector(self._effects.scope)
        text = next(filter(None, self._texts(call)), None)
        last = name.rpartition(".")[2]
        if kind == "network":
            self._read_connection(last, call, effects)
        elif kind == "process":
            effects.add_program(None if name.startswith(_WORKERS) else text)
        else:
            named = text if kind == "environment" and name.startswith("os.") else None
            effects.add(library_effects.usage_effect(kind, name, named or ""))
        vague = (made and last not in _CALLS["asking"]) or last in _CALLS["making"]
        if vague and not any(effect.target for effect in effects.effects):
            self._effects.add_vague(effects.effects)
        else:
            self._effects.add(*effects.effects)

    def _read_connection(self, name: str, call: ast.Call, effects: EffectCollector) -> None:
        addresses = list(filter(is_url, self._addresses(call)))
        if not addresses and name in _CALLS["by_host"]:
            nodes = [*call.args[:1], *_keyword_values(call, ("host", "hostname"))]
            values = [each for node in nodes for each in self._values.of(node)]
            hosts = [text_of(value[0] if isinstance(value, tuple) and value else value) for value in values]
            addresses = [host for host in hosts if host]
        for address in addresses or (None,):
            effects.add_connection(address)

    def _read_method(self, owner: Any, method: str, call: ast.Call) -> None:
        if isinstance(owner, PathText):
            self._read_path(owner.text, method, call)
        elif isinstance(owner, OpenedFile):
            if method in ("extractall", "extract"):
                for text in self._files(call, 0 if method == "extractall" else 1) or (".",):
                    self._effects.add_file("write", text)
        elif isinstance(owner, Ref):
            if not _is_known(f"{owner.name}.{method}"):
                self._read_unknown_owner(method, call, owner.name)
        elif owner is UNKNOWN or (isinstance(owner, LocalName) and method not in self._own):
            self._read_unknown_owner(method, call)

    def _read_path(self, path: str, method: str, call: ast.Call) -> None:
        for use in (use for name, use in _PATH_USES if name == method):
            self._effects.add_file(cast("FileUse", use), path)
        for use in (use for name, use in _ARGUMENT_USES if name == method):
            self._read_files(use, 0, call)
        if method == "open":
            self._read_mode(path, self._mode(call, 0, "r"))

    def _read_unknown_owner(self, name: str, call: ast.Call, owner: str = "") -> None:  # noqa: C901  # one row for each kind
        kind = method_effects.kind(name)
        if name in ("dump", "safe_dump"):
            texts = self._files(call, 1, (*_ARGUMENTS["second"], "stream"))
            # `numpy.ndarray.dump` has the file as its only argument.
            texts = texts or tuple(text for text in self._files(call) if text and method_effects.is_file_like(text))
            for text in texts:
                self._effects.add_file("write", text)
        elif name in ("rename", "replace") and owner == "":
            self._read_renaming(name, call)
        elif kind == "sql":
            self._read_statement(name, call, owner)
        elif name == "to_sql":
            self._read_table(call)
        elif kind == "network":
            self._read_connection(name, call, self._effects)
        elif name in _CALLS["ending"]:
            self._effects.add(Effect("process", "", f"ends or pauses a process: .{name}"))
        elif kind == "process":
            self._effects.add_program(next(filter(None, self._texts(call)), None))
        elif kind == "unknown":
            self._effects.add_unknown(f"may run code: .{name}")
        elif name in _CALLS["its_own"]:
            library_effects.add_reference(kind, name, self._effects)
        elif kind and not (method_effects.returns_text(name) and self._files(call) == ()):
            self._read_files(kind, 0, call)

    def _read_renaming(self, name: str, call: ast.Call) -> None:
        if len(call.args) != 1 or call.keywords:
            return
        func = call.args[0].func if isinstance(call.args[0], ast.Call) else None
        path = isinstance(func, ast.Attribute) and func.attr in _METHODS_TO_PATHS
        for value in self._values.of(call.args[0]):
            text = text_of(value)
            if path or isinstance(value, PathText) or (text is not None and method_effects.is_file_like(text)):
                self._effects.add(Effect("delete", text or "", f"moves a file: .{name}"))
                self._effects.add_file("write", text)

    def _read_statement(self, name: str, call: ast.Call, owner: str) -> None:
        if not call.args or name == "from_query":
            return
        known = owner.startswith(_CONNECTIONS) or name in ("sql", "read_sql_table")
        for node in call.args[1:2] if name.startswith(("read_sql", "read_database")) else ():
            for value in self._values.of(node):
                address = text_of(value)
                known = known or address is not None or _is_connection(value)
                if address is not None:
                    sql_effects.read_address(address, self._effects, changing=self._changing)
        for text in statements(self._values, call):
            if text is None or not text.isidentifier():
                sql_effects.read_statement(text, self._effects)
                if not known and sql_effects.changes(text):
                    self._effects.add(Effect("write", "", "changes a database"))

    def _read_table(self, call: ast.Call) -> None:
        nodes = [*call.args[1:2], *_keyword_values(call, ("con",))]
        for value in [value for node in nodes for value in self._values.of(node)] or [UNKNOWN]:
            if isinstance(value, str):
                sql_effects.read_address(text_of(value), self._effects, changing=True)
            elif not _is_connection(value):
                self._effects.add(Effect("write", "", "changes a database"))

    def _mode(self, call: ast.Call, place: int, otherwise: str) -> str:
        if any(each.arg is None for each in call.keywords) or any(isinstance(each, ast.Starred) for each in call.args):
            return "w"
        nodes = [*call.args[place : place + 1], *_keyword_values(call, ("mode",))]
        return "".join(text or "w" for node in nodes for text in self._values.texts(node)) or otherwise

    def _read_mode(self, path: str | None, mode: str) -> None:
        if set(mode) & set("wax+"):
            self._effects.add_file("write", path)
        if not set(mode) & set("wax"):
            self._effects.add_file("read", path)

    def _read_files(self, kind: str, place: int, call: ast.Call) -> None:
        for text in self._files(call, place, _ARGUMENTS["second"] if place else _ARGUMENTS["path"]) or (None,):
            if kind in _FILE_USES:
                self._effects.add_file(cast("FileUse", kind), text)
            else:
                self._effects.add_program(text)

    def _files(
        self, call: ast.Call, place: int = 0, keywords: Iterable[str] = _ARGUMENTS["path"]
    ) -> tuple[str | None, ...]:
        """The possible paths in the file argument, with None for an unknown path; empty without a file argument."""
        node = next(iter([*call.args[place : place + 1], *_keyword_values(call, keywords)]), None)
        if node is None:
            return (None,) if any(each.arg is None for each in call.keywords) else ()
        texts: list[str | None] = []
        for value in self._values.of(node):
            if isinstance(value, OpenedFile) or value is None or value in _STANDARD:
                # Streams need no check, and `read` checks the call that opens a file.
                texts.append("/dev/null")
            else:
                texts += map(path_of, value if isinstance(value, tuple) else (value,))
        return tuple(texts)

    def _arguments(self, call: ast.Call) -> Iterator[Any]:
        for node in [*call.args, *(each.value for each in call.keywords)]:
            yield from self._values.of(node)

    def _texts(self, call: ast.Call) -> Iterator[str | None]:
        for value in self._arguments(call):
            if isinstance(value, tuple):
                parts = [text_of(each) for each in value]
                yield " ".join(part or "..." for part in parts) if any(parts) else None
            else:
                yield text_of(value)

    def _addresses(self, call: ast.Call) -> list[str]:
        return [text.replace(HOLE, "*") for value in self._arguments(call) if (text := raw(value))]


def statements(values: Evaluator, call: ast.Call) -> Iterator[str | None]:
    """The SQL statements that a call may run, with None for an unknown statement."""
    name = getattr(call.func, "attr", "")
    owners = [call.func.value] if isinstance(call.func, ast.Attribute) and name == "execute" else []
    if name in ("read_sql", "read_sql_query"):
        owners = [*call.args[1:2], *_keyword_values(call, ("con",))]
    # SQLite runs one statement in a call, so the values in the f-string of a query cannot add another statement.
    databases = [value for node in owners for value in values.of(node)]
    lite = all(isinstance(each, Ref) and each.name.startswith(_LITE) for each in databases)
    for value in values.of(call.args[0]) if call.args else ():
        text = raw(value)
        is_query = databases and lite and text is not None and sql_effects.is_query_prefix(text.partition(HOLE)[0])
        yield (text or "").replace(HOLE, "name") if is_query else text_of(value)


def _keyword_values(call: ast.Call, keywords: Iterable[str]) -> list[ast.expr]:
    return [each.value for each in call.keywords if each.arg is not None and each.arg in keywords]


def _is_known(name: str) -> bool:
    plain = library_effects.without_calls(name)
    in_table = library_effects.is_listed(plain) or plain in _CALLS["open"] or plain in _CALLS["database"]
    return in_table or library_effects.default_kind(plain) != "compute"


def _is_connection(value: Any) -> bool:
    return isinstance(value, Ref) and value.name.startswith(_CONNECTIONS)
