"""The names and texts that the expressions of a block spell.

1. An import gives a name its full name; other names that the block does not bind have their usual meaning.
2. An assignment of a spelled value gives its value to the name, wherever it stands; a loop over a list gives the
   elements of the list.
3. In a text, `UNSPELLED` stands for a part that is not spelled.
"""

import ast
import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import islice, product
from typing import TypeAlias

from autogen_nb.core.analysis.effect_collector import ALIASES, BUILTINS, TEMPORARY, UNSPELLED, word_lists

Text: TypeAlias = str | None  # None for a text that is not spelled

_CALLS = word_lists("calls")
_FIXED = {"pathlib.Path.home()": "~", "pathlib.Path.cwd()": ".", "os.getcwd()": ".", "sys.executable": "python"}
_SAME_PATH = frozenset("resolve absolute expanduser as_posix with_suffix".split())
_FIELD = re.compile(r"\{[^{}]*\}|%[-+ #0-9.]*[a-zA-Z]")
_MOST = 16
_LONGEST = 20_000
_LONGEST_NAME = 200
_DEEPEST = 30


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
