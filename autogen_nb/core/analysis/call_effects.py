"""What a call does, by what is called and what with."""

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
from autogen_nb.core.analysis.evaluator import Evaluator
from autogen_nb.core.analysis.found_effects import FileUse, FoundEffects, is_url
from autogen_nb.core.analysis.known_names import word_lists
from autogen_nb.effects import Effect, EffectKind

_ARGUMENTS = word_lists("arguments")
_CALLS = word_lists("calls")
_CONNECTIONS = ("memory", "sqlite3.connect()", "duckdb.connect()", "sqlalchemy.create_engine()", "duckdb")
_LITE = ("sqlite3.connect()", "memory.sqlite3")
_OF_PATHS = ("with_name", "with_suffix", "with_stem")
"""Methods that only a path has, and that make another path."""
_THREADS = ("threading", "sequential", "threads", "sharedmem")
_WORKERS = ("concurrent.", "joblib.", "multiprocessing.", "torch.multiprocessing.")
"""What they start is Python again: no text that they are given is a command."""
_STANDARD = (Ref("sys.stdout"), Ref("sys.stderr"), Ref("sys.stdin"))
_FILE_USES = ("read", "write", "delete")
_PATH_USES = [(method, use) for use, methods in word_lists("paths").items() for method in methods]
"""What methods of a path do to its file."""
_GIVEN_USES = [(method, use) for use, methods in word_lists("paths_given").items() for method in methods]
"""What they do to the file that they are given."""


class CallReader:
    """Finds what the calls of a block do."""

    def __init__(self, values: Evaluator, found: FoundEffects, own: Iterable[str], *, changing: bool) -> None:
        self._values = values
        self._found = found
        self._own = frozenset(own)
        self._changing = changing

    def read(self, call: ast.Call) -> None:
        """Finds what the call itself does, beyond what its arguments do."""
        if _given(call, _ARGUMENTS["folder"]):
            self._found.add_unknown("takes a path from the number of a folder")
        func = call.func
        refs = self._values.refs(func)
        for ref in refs:
            self._read_library(library_effects.plain(ref), call, made="()" in ref)
        if isinstance(func, ast.Attribute):
            for value in self._values.of(func.value):
                self._read_method(value, func.attr, call)
        elif isinstance(func, ast.Name):
            self._read_function(func, call)
        name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
        harmless = name in _CALLS["quiet"] or name in self._own
        if not harmless and not method_effects.effect(name) and not any(map(_is_known, refs)):
            # Addresses that are handed to what is not known.
            for address in self._addresses(call):
                if is_url(address):
                    self._found.add_connection(address)
                elif address.lower().startswith(("sqlite://", "sqlite+", "duckdb://")):
                    sql_effects.read_address(address, self._found, changing=True)

    def _read_function(self, func: ast.Name, call: ast.Call) -> None:
        for value in self._values.of(func):
            if isinstance(value, Ref) and not _is_known(value.name):
                self._read_name(value.name.rpartition(".")[2], call, value.name)
            elif value is UNKNOWN:
                self._read_name(func.id, call, func.id)

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
                sql_effects.read_address(text, self._found, changing=self._changing and not read_only)
        elif name.startswith("IPython.display."):
            self._read_display(call)
        elif name.startswith("tempfile.") and name != "tempfile.gettempdir":
            self._read_temporary(name, call)
        elif name == "logging.basicConfig":
            for text in self._files(call, len(call.args), ("filename",)):
                self._found.add_file("write", text)
        elif name == "numpy.load" and any(each.arg in ("allow_pickle", None) for each in call.keywords):
            self._found.add_unknown("unpickles a file, which can run code")
        elif name in library_effects.FILES:
            for use, place in library_effects.FILES[name]:
                self._read_files(use, place, call)
        elif (kind := library_effects.default(name)) not in (None, "compute"):
            self._read_default(kind, name, call, made=made)

    def _in_threads(self, call: ast.Call) -> bool:
        told = {each.arg: self._values.of(each.value) for each in call.keywords}
        jobs = self._values.of(call.args[0]) if call.args else told.get("n_jobs", (None,))
        where = told.get("backend") or (*told.get("prefer", ()), *told.get("require", ()))
        alone = all(each in (None, 1) for each in jobs)
        threads = bool(where) and all(each in _THREADS for each in where)
        return None not in told and not call.args[1:] and (alone or threads)

    def _read_temporary(self, name: str, call: ast.Call) -> None:
        kept = any(not isinstance(each, ast.Constant) or not each.value for each in _given(call, ("delete",)))
        stays = (kept or name.startswith("tempfile.mk")) and not self._found.scope.private_temporary
        folder = self._values.temporary_folder(name, call)
        if folder is None or not is_temporary(folder):
            self._found.add_file("write", folder)
        elif stays:
            # Where they usually are; elsewhere, running code is asked about.
            self._found.add(Effect("write", "/tmp", "writes a temporary file"))  # noqa: S108 - none is made here

    def _read_display(self, call: ast.Call) -> None:
        for text in (text for node in _given(call, ("filename",)) for text in self._values.texts(node)):
            self._found.add_file("read", text)
        for text in (text for node in _given(call, ("url",)) for text in self._values.texts(node)):
            self._found.add_connection(text)
        for text in self._files(call, keywords=()):
            if text is not None and method_effects.file_like(text):
                self._found.add_file("read", text)

    def _read_default(self, kind: EffectKind, name: str, call: ast.Call, *, made: bool) -> None:
        if name in _CALLS["parallel"] and (made or self._in_threads(call)):
            return
        found = FoundEffects(self._found.scope)
        text = next(filter(None, self._texts(call)), None)
        last = name.rpartition(".")[2]
        if kind == "network":
            self._read_connection(last, call, found)
        elif kind == "process":
            found.add_program(None if name.startswith(_WORKERS) else text)
        else:
            named = text if kind == "environment" and name.startswith("os.") else None
            found.add(library_effects.used(kind, name, named or ""))
        vague = (made and last not in _CALLS["asking"]) or last in _CALLS["making"]
        if vague and not any(effect.target for effect in found.effects):
            self._found.add_vague(found.effects)
        else:
            self._found.add(*found.effects)

    def _read_connection(self, name: str, call: ast.Call, found: FoundEffects) -> None:
        addresses = list(filter(is_url, self._addresses(call)))
        if not addresses and name in _CALLS["by_host"]:
            # By its name alone, or with its port.
            values = [
                each for node in [*call.args[:1], *_given(call, ("host", "hostname"))] for each in self._values.of(node)
            ]
            hosts = [text_of(value[0] if isinstance(value, tuple) and value else value) for value in values]
            addresses = [host for host in hosts if host]
        for address in addresses or (None,):
            found.add_connection(address)

    def _read_method(self, owner: Any, method: str, call: ast.Call) -> None:
        if isinstance(owner, PathText):
            self._read_path(owner.text, method, call)
        elif isinstance(owner, OpenedFile):
            if method in ("extractall", "extract"):
                for text in self._files(call, 0 if method == "extractall" else 1) or (".",):
                    self._found.add_file("write", text)
        elif isinstance(owner, Ref):
            if not _is_known(f"{owner.name}.{method}"):
                self._read_name(method, call, owner.name)
        elif owner is UNKNOWN or (isinstance(owner, LocalName) and method not in self._own):
            self._read_name(method, call)

    def _read_path(self, path: str, method: str, call: ast.Call) -> None:
        for use in (use for name, use in _PATH_USES if name == method):
            self._found.add_file(cast("FileUse", use), path)
        for use in (use for name, use in _GIVEN_USES if name == method):
            self._read_files(use, 0, call)
        if method == "open":
            self._read_mode(path, self._mode(call, 0, "r"))

    def _read_name(self, name: str, call: ast.Call, owner: str = "") -> None:  # noqa: C901  # one row for each kind
        kind = method_effects.effect(name)
        if name in ("dump", "safe_dump"):
            texts = self._files(call, 1, (*_ARGUMENTS["second"], "stream"))
            # An array names the file alone.
            texts = texts or tuple(text for text in self._files(call) if text and method_effects.file_like(text))
            for text in texts:
                self._found.add_file("write", text)
        elif name in ("rename", "replace") and owner == "":
            self._read_renaming(name, call)
        elif kind == "sql":
            self._read_statement(name, call, owner)
        elif name == "to_sql":
            self._read_table(call)
        elif kind == "network":
            self._read_connection(name, call, self._found)
        elif name in _CALLS["ending"]:
            self._found.add(Effect("process", "", f"ends or pauses a process: .{name}"))
        elif kind == "process":
            self._found.add_program(next(filter(None, self._texts(call)), None))
        elif kind == "unknown":
            self._found.add_unknown(f"may run code: .{name}")
        elif name in _CALLS["its_own"]:
            library_effects.hand_on(kind, name, self._found)
        elif kind and not (method_effects.textual(name) and self._files(call) == ()):
            self._read_files(kind, 0, call)

    def _read_renaming(self, name: str, call: ast.Call) -> None:
        if len(call.args) != 1 or call.keywords:
            return
        func = call.args[0].func if isinstance(call.args[0], ast.Call) else None
        path = isinstance(func, ast.Attribute) and func.attr in _OF_PATHS
        for value in self._values.of(call.args[0]):
            text = text_of(value)
            if path or isinstance(value, PathText) or (text is not None and method_effects.file_like(text)):
                self._found.add(Effect("delete", text or "", f"moves a file: .{name}"))
                self._found.add_file("write", text)

    def _read_statement(self, name: str, call: ast.Call, owner: str) -> None:
        if not call.args or name == "from_query":
            return
        known = owner.startswith(_CONNECTIONS) or name in ("sql", "read_sql_table")
        for node in call.args[1:2] if name.startswith(("read_sql", "read_database")) else ():
            for value in self._values.of(node):
                address = text_of(value)
                known = known or address is not None or _is_connection(value)
                if address is not None:
                    sql_effects.read_address(address, self._found, changing=self._changing)
        for text in statements(self._values, call):
            if text is None or not text.isidentifier():
                sql_effects.read_statement(text, self._found)
                if not known and sql_effects.changes(text):
                    self._found.add(Effect("write", "", "changes a database"))

    def _read_table(self, call: ast.Call) -> None:
        nodes = [*call.args[1:2], *_given(call, ("con",))]
        for value in [value for node in nodes for value in self._values.of(node)] or [UNKNOWN]:
            if isinstance(value, str):
                sql_effects.read_address(text_of(value), self._found, changing=True)
            elif not _is_connection(value):
                self._found.add(Effect("write", "", "changes a database"))

    def _mode(self, call: ast.Call, place: int, otherwise: str) -> str:
        if any(each.arg is None for each in call.keywords) or any(isinstance(each, ast.Starred) for each in call.args):
            return "w"
        nodes = [*call.args[place : place + 1], *_given(call, ("mode",))]
        return "".join(text or "w" for node in nodes for text in self._values.texts(node)) or otherwise

    def _read_mode(self, path: str | None, mode: str) -> None:
        if set(mode) & set("wax+"):
            self._found.add_file("write", path)
        if not set(mode) & set("wax"):
            self._found.add_file("read", path)

    def _read_files(self, kind: str, place: int, call: ast.Call) -> None:
        for text in self._files(call, place, _ARGUMENTS["second"] if place else _ARGUMENTS["path"]) or (None,):
            if kind in _FILE_USES:
                self._found.add_file(cast("FileUse", kind), text)
            else:
                self._found.add_program(text)

    def _files(
        self, call: ast.Call, place: int = 0, keywords: Iterable[str] = _ARGUMENTS["path"]
    ) -> tuple[str | None, ...]:
        """The texts of the argument that names a file; empty where there is none, None for what cannot be told.

        A stream is no file to be named, and neither is no file at all.
        """
        node = next(iter([*call.args[place : place + 1], *_given(call, keywords)]), None)
        if node is None:
            return (None,) if any(each.arg is None for each in call.keywords) else ()
        texts: list[str | None] = []
        for value in self._values.of(node):
            if isinstance(value, OpenedFile) or value is None or value in _STANDARD:
                # The file has been judged where it was opened.
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
    """The statements of SQL that a call is given, None for one that cannot be told.

    SQLite runs one statement at a time: one that begins as a query is one, whatever the names in it are.
    """
    name = getattr(call.func, "attr", "")
    asked = [call.func.value] if isinstance(call.func, ast.Attribute) and name == "execute" else []
    if name in ("read_sql", "read_sql_query"):
        asked = [*call.args[1:2], *_given(call, ("con",))]
    databases = [value for node in asked for value in values.of(node)]
    lite = all(isinstance(each, Ref) and each.name.startswith(_LITE) for each in databases)
    for value in values.of(call.args[0]) if call.args else ():
        text = raw(value)
        named = databases and lite and text is not None and sql_effects.asks(text.partition(HOLE)[0])
        yield (text or "").replace(HOLE, "name") if named else text_of(value)


def _given(call: ast.Call, keywords: Iterable[str]) -> list[ast.expr]:
    return [each.value for each in call.keywords if each.arg is not None and each.arg in keywords]


def _is_known(name: str) -> bool:
    plain = library_effects.plain(name)
    in_table = library_effects.exact(plain) or plain in _CALLS["open"] or plain in _CALLS["database"]
    return in_table or library_effects.default(plain) != "compute"


def _is_connection(value: Any) -> bool:
    return isinstance(value, Ref) and value.name.startswith(_CONNECTIONS)
