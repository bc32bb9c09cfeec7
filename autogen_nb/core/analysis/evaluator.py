"""Finds the possible values of an expression from the code of its block."""

import ast
import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice, product
from typing import Any

from autogen_nb.core.analysis.abstract_values import (
    HOLE,
    MOST,
    TEMPORARY,
    UNKNOWN,
    DictItems,
    LocalName,
    OneOf,
    OpenedFile,
    PathText,
    Ref,
    Values,
    binary_result,
    deduplicated,
    elements,
    is_temporary,
    raw,
    string_form,
    subscript,
    text_of,
)
from autogen_nb.core.analysis.bindings import Bindings, BoundExpression
from autogen_nb.core.analysis.known_names import ALIASES, BUILTINS, word_lists

_DEEP = 30
_STEPS = 10_000
_LATER_STEPS = 20
_PATHS = 64
"""The maximum number of ways through the assignments of a name that its own value depends on."""

_FIXED: Mapping[str, Any] = {
    "pathlib.Path.home": PathText("~"),
    "pathlib.Path.cwd": PathText("."),
    "os.getcwd": ".",
    "tempfile.gettempdir": "/tmp",  # noqa: S108  # nothing is written there
}
_CALLS = word_lists("calls")
_TEMPORARY_RESULTS: Mapping[str, Any] = {
    "tempfile.mkdtemp": TEMPORARY,
    "tempfile.mkstemp": (OpenedFile(), TEMPORARY),
    "tempfile.mktemp": TEMPORARY,
    "tempfile.TemporaryDirectory": TEMPORARY,
    "tempfile.NamedTemporaryFile": OpenedFile(TEMPORARY),
    "tempfile.TemporaryFile": OpenedFile(),
    "tempfile.SpooledTemporaryFile": OpenedFile(),
}


class Evaluator:
    def __init__(self, names: Bindings, *, private_temporary: bool = False) -> None:
        self._names = names
        self._fixed = {**_FIXED, "tempfile.gettempdir": TEMPORARY} if private_temporary else _FIXED
        self._busy: set[int] = set()
        self._open_names = Counter[str]()
        self._cache: dict[int | str, Values] = {}
        self._steps = 0
        self._limit = _STEPS
        self._cuts = 0

    def of(self, node: ast.expr) -> Values:
        # The values of a name do not depend on its place.
        key = node.id if isinstance(node, ast.Name) else id(node)
        if key in self._cache:
            return self._cache[key]
        if not self._busy:
            for inner in ast.walk(node):
                if isinstance(inner, ast.Name) and inner is not node:
                    self.of(inner)
            # Names in cycles can use up all steps, but later calls must not lose their effects.
            self._limit = max(_STEPS, self._steps + _LATER_STEPS)
        self._steps += 1
        if id(node) in self._busy or len(self._busy) > _DEEP or self._steps > self._limit:
            self._cuts += 1
            return (UNKNOWN,)
        cuts = self._cuts
        self._busy.add(id(node))
        try:
            values = deduplicated(self._evaluate(node))
        finally:
            self._busy.discard(id(node))
        # If a cycle of names or a limit has cut the evaluation short, only the outermost call caches the result.
        if self._cuts == cuts or not self._busy:
            self._cache[key] = values
        return values

    def temporary_folder(self, name: str, call: ast.Call) -> str | None:
        # The first argument of functions such as `NamedTemporaryFile` is a mode.
        mode = 1 if name.endswith("File") else 0
        name_parts = [*call.args[mode:], *(item.value for item in call.keywords if item.arg in ("prefix", "suffix"))]
        may_leave_folder = any(text is None or "/" in text for item in name_parts for text in self.texts(item))
        if may_leave_folder or len(call.args) > mode + 1 or any(item.arg is None for item in call.keywords):
            return None
        folders = [value for item in call.keywords if item.arg == "dir" for value in self.of(item.value)]
        texts = {TEMPORARY if value is None else text_of(value) for value in folders or (None,)}
        return texts.pop() if len(texts) == 1 else None

    def refs(self, node: ast.expr) -> tuple[str, ...]:
        return tuple(value.name for value in self.of(node) if isinstance(value, Ref))

    def texts(self, node: ast.expr) -> tuple[str | None, ...]:
        return tuple(dict.fromkeys(text_of(value) for value in self.of(node)))

    def _evaluate(self, node: ast.expr) -> Iterable[Any]:  # noqa: C901, PLR0912  # one row for each kind of expression
        match node:
            case ast.Constant(value=str(text)) if TEMPORARY[-1] in text:
                return (UNKNOWN,)
            case ast.Constant(value=value):
                return (value,)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
                return (-number,)
            case ast.Name(id=name):
                return self._name_values(name)
            case ast.Attribute(value=inner, attr=attr):
                return [self._attribute(item, attr) for item in self.of(inner)]
            case ast.Call():
                return self._call_results(node)
            case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
                return (tuple(self._member(item) for item in elements),)
            case ast.Dict(keys=keys, values=values):
                return (
                    DictItems(tuple(pair for item in zip(keys, values, strict=True) for pair in self._pairs(*item))),
                )
            case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element) | ast.SetComp(elt=element):
                return (tuple(self.of(element)),)
            case ast.JoinedStr(values=parts):
                texts = ([HOLE if text is UNKNOWN else text for text in self.of(part)] for part in parts)
                return ["".join(combination) for combination in islice(product(*texts), MOST + 1)]
            case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                return [string_form(item) for item in self.of(value)]
            case ast.FormattedValue():
                return (HOLE,)
            case ast.BinOp(left=left, op=op, right=right):
                return [binary_result(op, a, b) for a, b in product(self.of(left), self.of(right))]
            case ast.Subscript(value=inner, slice=index):
                return [item for value in self.of(inner) for item in subscript(value, self.of(index))]
            case ast.IfExp(body=body, orelse=other):
                return (*self.of(body), *self.of(other))
            case ast.BoolOp(values=values):
                return [item for value in values for item in self.of(value)]
            case ast.Await(value=value) | ast.NamedExpr(value=value) | ast.Starred(value=value):
                return self.of(value)
            case _:
                return (UNKNOWN,)

    def _member(self, node: ast.expr) -> Any:
        values = self.of(node)
        return values[0] if len(values) == 1 else OneOf(values)

    def _name_values(self, name: str) -> Iterable[Any]:
        names = self._names
        if name not in names:
            return (Ref(ALIASES[name]),) if name in ALIASES else (Ref(name),) if name in BUILTINS else (UNKNOWN,)
        values: list[Any] = [Ref(path) for path in sorted(names.imports.get(name, ()))]
        bound = names.bound.get(name, ())
        if len(bound) ** self._open_names[name] > _PATHS:
            self._cuts += 1
            return (UNKNOWN,)
        self._open_names[name] += 1
        values += [item for expression in bound for item in self._bound_values(expression)]
        self._open_names[name] -= 1
        if name in names.stored:
            values = [new for item in values or (UNKNOWN,) for new in self._with_stored(item, names.stored[name])]
        if name in names.functions or name in names.classes:
            values.append(LocalName(name))
        for function, place, default in names.parameters.get(name, ()):
            values += self._argument_values(function, place, name, default)
        if name in names.opaque:
            values.append(UNKNOWN)
        return values

    def _with_stored(self, value: Any, stored: Sequence[tuple[ast.expr | None, ast.expr]]) -> Values:
        if isinstance(value, DictItems):
            return (DictItems((*value.pairs, *(p for key, item in stored for p in self._pairs(key, item)))),)
        if isinstance(value, tuple) and all(key is None for key, _ in stored):
            # The order of insertion is unknown, so each element may be any of the values.
            return ((OneOf((*elements(value), *(new for _, item in stored for new in self.of(item)))),),)
        return (value, UNKNOWN)

    def _bound_values(self, bound: BoundExpression) -> Iterable[Any]:
        values: Values = self.of(bound.expression)
        for part in bound.part:
            values = tuple(
                item for value in values for item in (elements(value) if part is None else subscript(value, (part,)))
            )
        return values

    def _argument_values(self, function: str, place: int, name: str, default: ast.expr | None) -> Iterable[Any]:
        if name in ("self", "cls"):
            return (LocalName(name),)
        calls = self._names.calls.get(function, ())
        if not calls:
            return (UNKNOWN,)
        return [item for call in calls for item in self._argument(call, place, name, default)]

    def _argument(self, call: ast.Call, place: int, name: str, default: ast.expr | None) -> Values:
        if any(isinstance(item, ast.Starred) for item in call.args) or any(item.arg is None for item in call.keywords):
            return (UNKNOWN,)
        if 0 <= place < len(call.args):
            return self.of(call.args[place])
        for keyword in call.keywords:
            if keyword.arg == name:
                return self.of(keyword.value)
        return (UNKNOWN,) if default is None else self.of(default)

    @staticmethod
    def _attribute(value: Any, attr: str) -> Any:
        if isinstance(value, Ref):
            return Ref(f"{value.name}.{attr}")
        if isinstance(value, PathText) and attr == "parent":
            plain = posixpath.normpath(value.text)
            # The parent of `..` is `../..`.
            return PathText(posixpath.join(plain, "..") if plain.endswith(".") else posixpath.dirname(plain) or ".")
        if isinstance(value, PathText) and attr in ("name", "stem"):
            return posixpath.basename(value.text)
        if isinstance(value, OpenedFile) and value.name and attr == "name":
            return value.name
        if isinstance(value, str) and value == TEMPORARY and attr == "name":
            return value
        return value if isinstance(value, LocalName) else UNKNOWN

    def _call_results(self, node: ast.Call) -> Iterable[Any]:
        results: list[Any] = []
        if isinstance(node.func, ast.Attribute):
            results += self._method(node.func, node)
        for value in self.of(node.func):
            if isinstance(value, Ref):
                results += self._from_library(value.name, node)
            elif isinstance(value, LocalName):
                results.append(value if value.name in self._names.classes else UNKNOWN)
        return results or (UNKNOWN,)

    def _method(self, func: ast.Attribute, node: ast.Call) -> Iterable[Any]:
        for value in self.of(func.value):
            if isinstance(value, PathText):
                yield from self._path_method(value, func.attr, node)
            elif isinstance(value, str):
                yield from self._text_method(value, func.attr, node)
            elif isinstance(value, DictItems) and func.attr == "get":
                yield from subscript(value, self.of(node.args[0]) if node.args else (UNKNOWN,))
                yield from (item for default in node.args[1:2] for item in self.of(default))
            elif isinstance(value, DictItems) and func.attr in ("items", "values", "keys"):
                keys, values = zip(*value.pairs, strict=True) if value.pairs else ((), ())
                yield {"items": value.pairs, "values": values, "keys": keys}[func.attr]
            elif isinstance(value, OpenedFile):
                yield OpenedFile()
            elif value is UNKNOWN:
                yield UNKNOWN

    def _path_method(self, path: PathText, method: str, node: ast.Call) -> Iterable[Any]:
        if method in ("joinpath", "with_name"):
            base = path.text if method == "joinpath" else posixpath.dirname(path.text)
            return self._combined(node.args, lambda *parts: PathText(posixpath.join(base, *parts)))
        if method in ("resolve", "absolute", "expanduser", "as_posix", "with_suffix"):
            return (path,)
        if method == "iterdir" and self._names.filters_by_suffix:
            return ((PathText(posixpath.join(path.text, "*")),),)
        if method in ("glob", "rglob"):
            # In `Path.glob`, unlike in a shell, `*` matches hidden files.
            hidden = ("*", "**", "**/*", ".*")
            return self._combined(
                node.args,
                lambda pattern: (UNKNOWN if pattern in hidden else PathText(posixpath.join(path.text, str(pattern))),),
            )
        return (OpenedFile(),) if method == "open" else (UNKNOWN,)

    def _text_method(self, text: str, method: str, node: ast.Call) -> Iterable[Any]:
        if method == "format" and not node.keywords:
            return self._combined(node.args, lambda *parts: _formatted(text, *parts))
        if method == "join" and len(node.args) == 1:
            lists = [[raw(e) for e in value] if isinstance(value, tuple) else [None] for value in self.of(node.args[0])]
            return [UNKNOWN if None in parts else text.join(map(str, parts)) for parts in lists]
        plain = {"strip": text.strip, "lower": text.lower, "upper": text.upper}
        return (plain[method](),) if method in plain and not node.args else (UNKNOWN,)

    def _from_library(self, name: str, node: ast.Call) -> Iterable[Any]:
        if name in self._fixed:
            return (self._fixed[name],)
        if name in ("__import__", "importlib.import_module") and len(node.args) == 1:
            return [UNKNOWN if text is None else Ref(text) for text in self.texts(node.args[0])]
        if name == "getattr" and len(node.args) > 1:
            return [
                UNKNOWN if attr is None else self._attribute(value, attr)
                for value, attr in product(self.of(node.args[0]), self.texts(node.args[1]))
            ]
        if name in _CALLS["database"] and self._in_memory(node):
            return (Ref(f"memory.{name.partition('.')[0]}"),)
        if name in _TEMPORARY_RESULTS and is_temporary(self.temporary_folder(name, node) or ""):
            return (_TEMPORARY_RESULTS[name],)
        if name in _CALLS["streams"]:
            return (OpenedFile(),)
        if name in ("os.path.join", "pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath"):
            kind: Callable[[str], Any] = str if name == "os.path.join" else PathText
            return self._combined(node.args, lambda *parts: kind(posixpath.join("" if parts else ".", *parts)))
        if name == "dict" and not node.args:
            return (DictItems(tuple(pair for item in node.keywords for pair in self._keyword_pairs(item))),)
        if name in _CALLS["same"] and node.args:
            return self.of(node.args[0])
        return self._iterated(name, node)

    def _iterated(self, name: str, node: ast.Call) -> Iterable[Any]:
        if name in ("os.listdir", "os.walk") and self._names.filters_by_suffix and len(node.args) == 1:
            whole = name == "os.walk"
            return self._combined(node.args, lambda top: ((top, UNKNOWN, ("*",)),) if whole else ("*",))
        if name in ("glob.glob", "glob.iglob") and len(node.args) == 1:
            return self._combined(node.args, lambda pattern: (pattern,))
        if name == "enumerate" and node.args:
            members = [item for value in self.of(node.args[0]) for item in elements(value)]
            return (tuple((UNKNOWN, item) for item in members),)
        if name == "zip":
            columns = [OneOf(tuple(e for v in self.of(item) for e in elements(v))) for item in node.args]
            return ((tuple(columns),),)
        if name == "range" and node.args:
            return self._combined(node.args, _range_values)
        return (Ref(f"{name}()"),)

    def _in_memory(self, node: ast.Call) -> bool:
        arguments = [*node.args, *(item.value for item in node.keywords if item.arg in ("database", "url"))][:1]
        texts = [text for item in arguments for text in self.texts(item)]
        return all(text in ("", ":memory:", "sqlite://", "sqlite:///:memory:") for text in texts)

    def _combined(self, nodes: Iterable[ast.expr], combine: Callable[..., Any]) -> Iterable[Any]:
        values = ([v if isinstance(v, int) else raw(v) for v in self.of(node)] for node in nodes)
        results = []
        for parts in islice(product(*values), MOST + 1):
            try:
                results.append(UNKNOWN if None in parts else combine(*parts))
            except TypeError:
                results.append(UNKNOWN)
        return results

    def _keyword_pairs(self, keyword: ast.keyword) -> Iterable[tuple[Any, Any]]:
        if keyword.arg is None:
            return self._pairs(None, keyword.value)
        return ((OneOf((keyword.arg,)), OneOf(self.of(keyword.value))),)

    def _pairs(self, key: ast.expr | None, value: ast.expr) -> Iterable[tuple[Any, Any]]:
        if key is not None:
            return ((OneOf(self.of(key)), OneOf(self.of(value))),)
        return (
            pair
            for item in self.of(value)
            for pair in (item.pairs if isinstance(item, DictItems) else ((UNKNOWN, UNKNOWN),))
        )


def _range_values(*ends: Any) -> Any:
    if ends[3:] or not all(isinstance(item, int) for item in ends) or 0 in ends[2:]:
        return UNKNOWN
    results = tuple(range(*ends)[: MOST + 1])
    return results if len(results) <= MOST else UNKNOWN


def _formatted(text: str, *parts: Any) -> Any:
    plain = text.count("{}") == len(parts) == text.count("{") == text.count("}")
    return text.format(*parts) if plain else UNKNOWN
