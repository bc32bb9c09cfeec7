"""Reads the effects of Python code from its calls.

1. A call is known by its full name, such as ``os.remove``; a method of any object by its own name, such as ``.to_csv``.
2. A function of a library that is mentioned without a call has its effect on an unknown target.
3. Other functions of known libraries, methods of any object, and functions that the block defines only compute. Any
   other name is unknown.
4. An import gives a name its full name; other names that the block does not bind have their usual meaning. An
   assignment of a spelled value gives its value to the name, wherever it stands; a loop over a list gives the elements
   of the list. In a text, `UNSPELLED` stands for a part that is not spelled.
"""

import ast
import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice, product
from typing import TypeAlias, cast

from autogen_nb.core.analysis import sql_effects
from autogen_nb.core.analysis.effect_collector import (
    ALIASES,
    BUILTINS,
    TEMPORARY,
    UNSPELLED,
    EffectCollector,
    FileUse,
    is_url,
    kinds,
    library_kind,
    word_lists,
)
from autogen_nb.core.text.code_blocks import parse_python

Text: TypeAlias = str | None  # None for a text that is not spelled

_FIXED = {"pathlib.Path.home()": "~", "pathlib.Path.cwd()": ".", "os.getcwd()": ".", "sys.executable": "python"}
_SAME_PATH = frozenset("resolve absolute expanduser as_posix with_suffix".split())
_FIELD = re.compile(r"\{[^{}]*\}|%[-+ #0-9.]*[a-zA-Z]")
_MOST = 16
_LONGEST = 20_000
_LONGEST_NAME = 200
_DEEPEST = 30
_CALLS = word_lists("calls")
_ARGUMENTS = word_lists("arguments")
_PATHS = kinds("paths")
_FILES = [(0, word_lists("files")), (1, word_lists("second_files"))]
_WRITING = ("write_", "sink_", "save_", "export_", "dump_")
_RETURNING = ("to_", "write_", "basicConfig")  # these write nothing when they get no file
_NO_WRITING = re.compile(r"[rbtU]*")  # a mode of `open`
_INTERNAL = re.compile(r"__(?!name|version|doc|file|init|len|main|post_init|class|module)\w+__|_(os|sys|io|socket)")


class SpelledValues:
    def __init__(self, nodes: list[ast.AST]) -> None:
        self._imports: dict[str, str] = {}
        # The values of each name that the block binds: an expression, or None if it is not spelled.
        self._assigned: dict[str, list[ast.expr | None]] = defaultdict(list)
        self._known: dict[str, tuple[Text, ...]] = {}
        self._known_names: dict[str, str] = {}
        spelled: set[int] = set()
        for node in nodes:
            for target, value in _assignments(node):
                spelled.add(id(target))
                self._assigned[target.id].append(value)
        for node in nodes:
            match node:
                case ast.Import(names=names):
                    for each in names:
                        root = each.name.partition(".")[0]
                        self._imports |= {each.asname: each.name} if each.asname else {root: root}
                case ast.ImportFrom(module=str(module), names=names, level=0):
                    self._imports |= {each.asname or each.name: f"{module}.{each.name}" for each in names}
                case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) if id(node) not in spelled:
                    self._assigned[name].append(None)
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    self._assigned[name].append(None)

    def binds(self, name: str) -> bool:
        return name in self._assigned

    def name(self, node: ast.expr, deep: int = 0) -> str:
        """The full name, such as ``requests.Session().get``, with ``[]`` for an element; "" if it is not known."""
        parts: list[str] = []
        while len(parts) < _DEEPEST:
            match node:
                case ast.Attribute(value=inner, attr=attr):
                    parts.append(f".{attr}")
                case ast.Call(func=ast.Name(id=function), args=[inner, *_]) if function in _CALLS["same"]:
                    parts.append("[]")
                case ast.Call(func=inner):
                    parts.append("()")
                case ast.Subscript(value=inner) | ast.Starred(value=inner):
                    parts.append("[]")
                case ast.Await(value=inner):
                    pass
                case ast.Name(id=name):
                    root = self._name_of(name, deep)
                    full = "".join((root, *reversed(parts)))
                    return full if root and len(full) <= _LONGEST_NAME else ""
                case _:
                    return ""
            node = inner
        return ""

    def _name_of(self, name: str, deep: int) -> str:
        if name in self._imports:
            return self._imports[name]
        if not self.binds(name):
            return ALIASES.get(name, name if name in BUILTINS else "")
        if deep > _DEEPEST:
            return ""
        if name not in self._known_names:
            self._known_names[name] = ""  # for an assignment to itself
            names = {value and self.name(value, deep + 1) for value in self._assigned[name][:_MOST]}
            self._known_names[name] = (names.pop() or "") if len(names) == 1 else ""
        return self._known_names[name]

    def texts(self, node: ast.expr, deep: int = 0) -> tuple[Text, ...]:
        """The possible texts of an expression, which may be one or more paths."""
        if deep > _DEEPEST:
            return (None,)
        found = dict.fromkeys(islice(self._texts(node, deep + 1), _MOST + 1))
        if len(found) > _MOST or (deep and any(len(text or "") > _LONGEST for text in found)):
            return (None,)
        return tuple(found) or (None,)

    def _texts(self, node: ast.expr, deep: int) -> Iterator[Text]:  # noqa: C901, PLR0912  # one row for each
        match node:
            case ast.Constant(value=str() | int() as value):
                yield str(value)
            case ast.Name(id=name):
                yield from self._texts_of(name, deep)
            case ast.Starred(value=value):
                yield from self._elements(value, deep)
            case ast.JoinedStr(values=parts):
                yield from self._joined("".join, parts, deep)
            case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                yield from self.texts(value, deep)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                yield from self._joined("".join, [left, right], deep)
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                yield from self._joined(_path, [left, right], deep)
            case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod()):
                yield _FIELD.sub(UNSPELLED, text)
            case ast.Attribute(value=value, attr="parent"):
                for each in self.texts(value, deep):
                    yield None if each is None else posixpath.dirname(each) or posixpath.join(each, "..")
            case ast.Attribute(value=value, attr="name"):
                yield from (each if each == TEMPORARY else None for each in self.texts(value, deep))
            case ast.Call():
                yield from self._results(node, deep)
            case _:
                yield _FIXED.get(self.name(node))

    def _texts_of(self, name: str, deep: int) -> tuple[Text, ...]:
        if name not in self._known:
            self._known[name] = (None,)  # for an assignment to itself
            values = self._assigned.get(name, (None,))[: _MOST + 1]
            texts = dict.fromkeys(
                text for value in values for text in ((None,) if value is None else self.texts(value, deep))
            )
            self._known[name] = tuple(texts) if len(texts) <= _MOST else (None,)
        return self._known[name]

    def _elements(self, node: ast.expr, deep: int) -> Iterator[Text]:
        match node:
            case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
                for element in elements:
                    yield from self.texts(element, deep)
            case ast.Name(id=name) if [*map(bool, self._assigned.get(name, ()))] == [True] and deep < _DEEPEST:
                yield from (text for value in self._assigned[name] if value for text in self._elements(value, deep + 1))
            case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in _CALLS["same"] and deep < _DEEPEST:
                yield from self._elements(first, deep + 1)
            case ast.Call(func=ast.Attribute(value=owner, attr="glob"), args=[pattern]):
                yield from self._joined(_path, [pattern] if self.name(owner) == "glob" else [owner, pattern], deep)
            case _:
                yield None

    def _results(self, call: ast.Call, deep: int) -> Iterator[Text]:
        name = self.name(call.func)
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        owners = [call.func.value] if isinstance(call.func, ast.Attribute) else []
        if name in _CALLS["temporary"] and all(each.arg not in ("dir", None) for each in call.keywords):
            yield TEMPORARY
        elif name in _CALLS["path"]:
            yield from self._joined(_path, call.args, deep)
        elif name in _CALLS["same"] and call.args:
            yield from self.texts(call.args[0], deep)
        elif method == "format":
            for text in self.texts(owners[0], deep):
                yield None if text is None else _FIELD.sub(UNSPELLED, text)
        elif method == "joinpath":
            yield from self._joined(_path, [*owners, *call.args], deep)
        elif method in _SAME_PATH:
            yield from self.texts(owners[0], deep)
        else:
            yield _FIXED.get(f"{name}()")

    def _joined(self, join: Callable[[list[str]], str], parts: list[ast.expr], deep: int) -> Iterator[Text]:
        for combination in product(*(self.texts(part, deep) for part in parts[:200])):
            text = join([UNSPELLED if each is None else each for each in combination])
            yield None if UNSPELLED in text and not text.strip(f"{UNSPELLED}/") else text


def _assignments(node: ast.AST) -> Iterator[tuple[ast.Name, ast.expr]]:
    """The names that a node gives a value, with its expression, starred for an element of the expression."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets if isinstance(target, ast.Name))
        case (
            ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value)
            | ast.NamedExpr(target=target, value=value)
            | ast.withitem(context_expr=value, optional_vars=ast.Name() as target)
        ):
            yield target, value
        case ast.For() | ast.AsyncFor() | ast.comprehension() if isinstance(node.target, ast.Name):
            yield node.target, ast.Starred(node.iter)


def _path(parts: list[str]) -> str:
    return posixpath.join(*parts) if parts else "."


class PythonReader:
    def __init__(self, tree: ast.AST, effects: EffectCollector) -> None:
        self._effects = effects
        self._nodes = list(ast.walk(tree))
        self._values = SpelledValues(self._nodes)
        self._databases: list[Text] = []
        self._changes_database = False

    def read(self) -> None:  # noqa: C901, PLR0912  # one row for each kind of node
        # `ast.walk` finds a call before its function, and an attribute before its object.
        read: set[int] = set()
        for node in self._nodes:
            match node:
                case ast.Call(func=func):
                    read.add(id(func))
                    self._read_call(node, self._values.name(func))
                case ast.Subscript(value=ast.Attribute() as value) if self._values.name(value) == "os.environ":
                    read.add(id(value))
                    for text in self._values.texts(node.slice):
                        self._effects.add("environment", text)
                case ast.Attribute(value=value, attr=attr):
                    read.add(id(value))
                    if _INTERNAL.fullmatch(attr):
                        self._effects.add_vague("unknown", f".{attr}")
                    elif id(node) not in read:
                        self._read_mention(self._values.name(node))
                case ast.Name(id=name, ctx=ast.Load()) if id(node) not in read and not self._values.binds(name):
                    self._read_mention(self._values.name(node))
                case ast.Import(names=names):
                    for each in names:
                        self._read_import(each.name, each.asname)
                case ast.ImportFrom(module=module, level=level):
                    self._read_import("." * level + (module or ""), None)
        for path in self._databases:
            sql_effects.read_address(path, self._effects, changing=self._changes_database)
        if self._changes_database and not self._databases:
            self._effects.add("write", words="changes a database")

    def _read_import(self, module: str, name: str | None) -> None:
        kind = library_kind(module)
        if kind is None and module.partition(".")[0] not in ALIASES.values():
            self._effects.add("unknown", words=f"imports {module}, which is not known")
        elif kind != "compute" and name is not None and ALIASES.get(name) != module:
            self._effects.add_vague(kind or "unknown", module)

    def _read_mention(self, name: str) -> None:
        if not name or name.endswith(("()", "[]")) or ("." not in name and name not in BUILTINS):
            return
        if uses := _uses(name):
            self._effects.add_file(uses[0][0], None)
        elif "()" not in name:
            self._add_function(name)

    def _add_function(self, name: str) -> None:
        kind = library_kind(_plain(name)) or ("compute" if name.partition(".")[0] in BUILTINS else "unknown")
        if kind != "compute":
            self._effects.add_vague(kind, name)

    def _read_call(self, call: ast.Call, name: str) -> None:  # noqa: C901, PLR0912  # one row for each kind of call
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        last = method or name.rpartition(".")[2] or getattr(call.func, "id", "")
        library = library_kind(_plain(name))
        if last in _CALLS["unknown"] or any(each.arg == "allow_pickle" for each in call.keywords):
            self._effects.add_vague("unknown", last)
        if (not name and not method) or last in _CALLS["asking"]:
            for address in filter(is_url, self._all_texts(call)):
                self._effects.add_connection(address)
        if not name and not method and self._values.binds(last):
            return
        if name in _CALLS["open"]:
            self._read_opened(self._texts(call, 0, _ARGUMENTS["first"]), call, 1)
        elif name in _CALLS["database"]:
            self._databases += self._texts(call, 0, ("database", "url")) or (":memory:",)
        elif name in _CALLS["temporary"]:
            for text in self._texts(call, len(call.args), ("dir",)) or self._values.texts(call):
                self._effects.add_file("write", text)
        elif name in ("exec", "eval"):
            self._read_code(call)
        elif isinstance(call.func, ast.Attribute) and self._is_path_method(call.func, name):
            self._read_path(call.func.value, method, call)
        elif last in _CALLS["sql"] or name == "duckdb.query":
            self._read_statement(call, name, last)
        elif last == "to_sql":
            self._changes_database = True
            self._databases += [text for text in self._texts(call, 1, ("con",)) if text is not None]
        elif uses := _uses(name or f".{last}"):
            for use, place in uses:
                self._read_file(use, place, call, last)
        elif library == "network" or last in _CALLS["network"] or last.startswith(("fetch_", "download_")):
            self._read_connection(call, name, last)
        elif library == "process" or (last in _CALLS["process"] and (library != "compute" or "()" in name)):
            self._read_program(call, name or last)
        elif name.startswith("os.") and library == "environment" and (texts := self._texts(call, 0)):
            words = "changes the working directory" if name == "os.chdir" else ""
            for text in texts:
                self._effects.add("environment", text, words)
        elif isinstance(call.func, ast.Name) and not name:
            self._effects.add_vague("unknown", last)
        elif name and "()" not in name:
            self._add_function(name)

    def _read_code(self, call: ast.Call) -> None:
        for text in self._texts(call, 0) or (None,):
            if text is None or UNSPELLED in text or parse_python(text) is None:
                self._effects.add("unknown", words="runs code that is not known before it runs")
            else:
                self._effects.inner.append(text)

    def _read_opened(self, paths: Iterable[Text], call: ast.Call, place: int) -> None:
        for path, mode in product(paths, self._texts(call, place, ("mode",)) or ("r",)):
            self._effects.add_file("read" if mode is not None and _NO_WRITING.fullmatch(mode) else "write", path)

    def _is_path_method(self, func: ast.Attribute, name: str) -> bool:
        if func.attr in _PATHS:
            return not name or "()" in name or name.startswith("pathlib.")
        # Tables and texts have methods of these names, too.
        is_path = isinstance(func.value, ast.BinOp) or name.startswith("pathlib.")
        return is_path and func.attr in ("open", "rename", "replace")

    def _read_path(self, owner: ast.expr, method: str, call: ast.Call) -> None:
        for text in self._values.texts(owner):
            if method == "open":
                self._read_opened((text,), call, 0)
            elif method in ("rename", "replace"):
                self._effects.add_file("delete", text)
            elif method in ("glob", "rglob"):
                pattern = (self._texts(call, 0) or (None,))[0]
                # Unlike in a shell, `*` matches hidden files.
                hidden = pattern is None or pattern.rpartition("/")[2] in ("*", "**", ".*")
                self._effects.add_file("read", None if hidden or text is None else f"{text}/{pattern}")
            else:
                self._effects.add_file(cast("FileUse", _PATHS[method]), text)
        if method in ("rename", "replace", "symlink_to", "hardlink_to"):
            for text in self._texts(call, 0):
                self._effects.add_file("write", text)
                if method.endswith("_to"):
                    self._effects.add_file("read", text)

    def _read_file(self, use: FileUse, place: int, call: ast.Call, last: str) -> None:
        texts = self._texts(call, place, _ARGUMENTS["second" if place else "first"])
        node = next(iter(call.args[place : place + 1]), None)
        if node is not None and not any(texts) and self._is_opened(node, use):
            return
        writes = use != "read" and not last.startswith(_RETURNING)
        if not texts and (writes or any(each.arg is None for each in call.keywords)):
            texts = (None,)
        for text in texts:
            self._effects.add_file(use, text)

    def _is_opened(self, node: ast.expr, use: FileUse) -> bool:
        """True for a stream, and for a file to read that comes from a call whose own effects are read."""
        if isinstance(node, ast.Constant) and node.value is None:
            return True
        name = self._values.name(node)
        made_by = name.partition("(")[0]
        is_stream = not {made_by, name.partition(".")[0]}.isdisjoint(_CALLS["streams"] | _CALLS["open"])
        return is_stream or (use == "read" and "()" in name and made_by not in BUILTINS)

    def _read_connection(self, call: ast.Call, name: str, last: str) -> None:
        addresses = [text for text in self._all_texts(call) if is_url(text)]
        if not addresses and last in _CALLS["host"]:
            nodes = [*call.args[:1], *(each.value for each in call.keywords if each.arg == "host")]
            nodes = [node.elts[0] if isinstance(node, ast.Tuple) and node.elts else node for node in nodes]
            addresses = [text for node in nodes for text in self._values.texts(node) if text is not None]
        for address in addresses:
            self._effects.add_connection(address)
        if not addresses:
            self._effects.add_vague("network", name or last)

    def _read_program(self, call: ast.Call, name: str) -> None:
        node = next(iter(call.args), None)
        texts = self._texts(call, 0)
        if isinstance(node, ast.List | ast.Tuple):
            texts = (" ".join(self._values.texts(each)[0] or "..." for each in node.elts[:50]),)
        takes_command = "." not in name or name.startswith(("subprocess.", "os.", "pty.", "asyncio.", "psutil."))
        for text in texts or (None,):
            # A number is that of a process.
            if text is None or not takes_command or text.isdigit() or text.startswith(("...", UNSPELLED)):
                self._effects.add_vague("process", name)
            else:
                self._effects.add("process", text)

    def _read_statement(self, call: ast.Call, name: str, last: str) -> None:
        if last.startswith("read_"):
            self._databases += [text for text in self._texts(call, 1, ("con",)) if text is not None]
        if name.startswith("duckdb.") and "()" not in name:
            self._databases.append(":memory:")
        for text in self._texts(call, 0):
            if text is None or not text.isidentifier():
                sql_effects.read_statement(text, self._effects)
                self._changes_database |= text is not None and sql_effects.changes(text)

    def _texts(self, call: ast.Call, place: int, names: Collection[str] = ()) -> tuple[Text, ...]:
        """The texts of the argument at a place, or of that with one of the names."""
        nodes = call.args[place : place + 1] or [each.value for each in call.keywords if each.arg in names]
        return tuple(text for node in nodes for text in self._values.texts(node))

    def _all_texts(self, call: ast.Call) -> Iterator[str]:
        for node in (*call.args, *(each.value for each in call.keywords)):
            yield from (text for text in self._values.texts(node) if text is not None)


def _plain(name: str) -> str:
    return name.replace("()", "").replace("[]", "")


def _uses(name: str) -> list[tuple[FileUse, int]]:
    """What a function does with the files in its arguments, by their places."""
    name = _plain(name)
    last = name.rpartition(".")[2]
    spellings = {name, last, ".".join(name.split(".")[-2:])}
    listed = [
        (cast("FileUse", use), place)
        for place, table in _FILES
        for use, words in table.items()
        if not spellings.isdisjoint(words)
    ]
    if listed or library_kind(name) == "unknown":
        return listed
    if last.startswith(("read_", "scan_")):
        return [("read", 0)]
    return [("write", 0)] if last.startswith(_WRITING) else []
