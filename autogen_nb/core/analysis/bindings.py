"""Which expressions a name may stand for in a block: its imports, assignments, loops, parameters, all of them at once.

There is one scope: a name is taken for everything that any line of the block makes of it.
"""

import ast
from collections import defaultdict
from dataclasses import dataclass

_MUTATING = frozenset("append extend insert update setdefault add appendleft extendleft".split())
_STORING = frozenset({"append", "add"})


@dataclass(frozen=True, slots=True)
class BoundNames:
    """A name stands for an expression, or for a part of it: by an index, or None for each element."""

    expression: ast.expr
    part: tuple[int | None, ...] = ()


class Bindings:
    """What the names of a block stand for."""

    def __init__(self) -> None:
        self.imports: defaultdict[str, set[str]] = defaultdict(set)
        self.bound: defaultdict[str, list[BoundNames]] = defaultdict(list)
        self.parameters: defaultdict[str, list[tuple[str, int, ast.expr | None]]] = defaultdict(list)
        self.calls: defaultdict[str, list[ast.Call]] = defaultdict(list)
        self.stored: defaultdict[str, list[tuple[ast.expr | None, ast.expr]]] = defaultdict(list)
        self.functions: set[str] = set()
        self.classes: set[str] = set()
        self.methods: set[str] = set()
        self.opaque: set[str] = set()
        self.filtered = False

    def __contains__(self, name: str) -> bool:
        tables = (self.imports, self.bound, self.parameters, self.functions, self.classes, self.opaque, self.stored)
        return any(name in table for table in tables)


def bindings(tree: ast.AST) -> Bindings:
    """What the names of a block stand for."""
    found = Bindings()
    for node in ast.walk(tree):
        _bind(node, found)
    if "exec" in found.calls or "eval" in found.calls:
        # What they run can bind every name anew.
        found.opaque.update(found.bound)
    called = {id(call.func) for calls in found.calls.values() for call in calls}
    # Who else may call a function that is handed on?
    handed = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in called
    }
    found.opaque.update(
        name for name, uses in found.parameters.items() if any(function in handed for function, _, _ in uses)
    )
    return found


def _bind(node: ast.AST, found: Bindings) -> None:  # noqa: C901, PLR0912  # one row for each kind of binding
    match node:
        case ast.Import(names=names):
            for each in names:
                found.imports[each.asname or each.name.partition(".")[0]].add(
                    each.name if each.asname else each.name.partition(".")[0]
                )
        case ast.ImportFrom(module=module, names=names, level=0):
            for each in names:
                found.imports[each.asname or each.name].add(f"{module}.{each.name}")
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                _assign(target, BoundNames(value), found)
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
            _assign(target, BoundNames(value), found)
        case (
            ast.For(target=target, iter=iterated)
            | ast.AsyncFor(target=target, iter=iterated)
            | ast.comprehension(target=target, iter=iterated)
        ):
            _assign(target, BoundNames(iterated, (None,)), found)
        case ast.withitem(context_expr=context, optional_vars=ast.expr() as target):
            _assign(target, BoundNames(context), found)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            found.functions.add(name)
            _parameters(name, node, found)
        case ast.Lambda(args=args):
            found.opaque.update(each.arg for each in ast.walk(args) if isinstance(each, ast.arg))
        case ast.ClassDef(name=name, body=body):
            found.classes.add(name)
            found.methods.update(each.name for each in body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))
        case ast.Attribute(attr="endswith" | "suffix"):
            found.filtered = True
        case ast.Attribute(value=ast.Name(id=name), attr="name", ctx=ast.Store()):
            # By it, a file of another name can be meant.
            found.opaque.add(name)
        case ast.Call(func=ast.Name(id=name)):
            found.calls[name].append(node)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=[value]) if method in _STORING:
            found.stored[name].append((None, value))
        case ast.Call(func=ast.Attribute(value=changed, attr=method)) if method in _MUTATING:
            _forget(changed, found)
        case ast.AugAssign(target=ast.Subscript() as changed):
            _forget(changed, found)
        case (
            ast.AugAssign(target=ast.Name(id=name))
            | ast.ExceptHandler(name=str(name))
            | ast.MatchAs(name=str(name))
            | ast.MatchStar(name=str(name))
            | ast.MatchMapping(rest=str(name))
        ):
            found.opaque.add(name)
        case _:
            pass


def _assign(target: ast.expr, bound: BoundNames, found: Bindings) -> None:
    match target:
        case ast.Name(id=name):
            found.bound[name].append(bound)
        case ast.Subscript(value=ast.Name(id=name), slice=key) if not bound.part:
            found.stored[name].append((key, bound.expression))
        case ast.Subscript(value=changed):
            _forget(changed, found)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            for index, each in enumerate(elements):
                if isinstance(each, ast.Starred):
                    # After it, places are counted from the end.
                    found.opaque.update(node.id for node in ast.walk(target) if isinstance(node, ast.Name))
                else:
                    _assign(each, BoundNames(bound.expression, (*bound.part, index)), found)
        case _:
            pass


def _forget(changed: ast.expr, found: Bindings) -> None:
    while isinstance(changed, ast.Subscript):
        changed = changed.value
    if isinstance(changed, ast.Name):
        found.opaque.add(changed.id)


def _parameters(name: str, node: ast.FunctionDef | ast.AsyncFunctionDef, found: Bindings) -> None:
    arguments = node.args
    places = [*arguments.posonlyargs, *arguments.args]
    missing: list[ast.expr | None] = [None] * (len(places) - len(arguments.defaults))
    defaults = [*missing, *arguments.defaults, *arguments.kw_defaults]
    for index, (each, default) in enumerate(zip([*places, *arguments.kwonlyargs], defaults, strict=True)):
        found.parameters[each.arg].append((name, index if index < len(places) else -1, default))
    found.opaque.update(each.arg for each in (arguments.vararg, arguments.kwarg) if each is not None)
