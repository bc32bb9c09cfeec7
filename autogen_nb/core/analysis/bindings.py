"""Collects the expressions that each name in a block may refer to: imports, assignments, loops, parameters.

The whole block is one scope: a name may refer to any expression that a line binds to the name.
"""

import ast
from collections import defaultdict
from dataclasses import dataclass

_MUTATING = frozenset("append extend insert update setdefault add appendleft extendleft".split())
_STORING = frozenset({"append", "add"})


@dataclass(frozen=True, slots=True)
class BoundExpression:
    """An expression, or its element at the indexes `part`, where None means any index."""

    expression: ast.expr
    part: tuple[int | None, ...] = ()


class Bindings:
    def __init__(self) -> None:
        self.imports: defaultdict[str, set[str]] = defaultdict(set)
        self.bound: defaultdict[str, list[BoundExpression]] = defaultdict(list)
        self.parameters: defaultdict[str, list[tuple[str, int, ast.expr | None]]] = defaultdict(list)
        self.calls: defaultdict[str, list[ast.Call]] = defaultdict(list)
        self.stored: defaultdict[str, list[tuple[ast.expr | None, ast.expr]]] = defaultdict(list)
        self.functions: set[str] = set()
        self.classes: set[str] = set()
        self.methods: set[str] = set()
        self.opaque: set[str] = set()
        self.filters_by_suffix = False

    def __contains__(self, name: str) -> bool:
        tables = (self.imports, self.bound, self.parameters, self.functions, self.classes, self.opaque, self.stored)
        return any(name in table for table in tables)


def collect_bindings(tree: ast.AST) -> Bindings:
    bindings = Bindings()
    for node in ast.walk(tree):
        _bind(node, bindings)
    if "exec" in bindings.calls or "eval" in bindings.calls:
        # Code that `exec` or `eval` runs can rebind every name.
        bindings.opaque.update(bindings.bound)
    called = {id(call.func) for calls in bindings.calls.values() for call in calls}
    # If the block passes a function on, other code may call it with unknown arguments.
    passed_on = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in called
    }
    bindings.opaque.update(
        name for name, uses in bindings.parameters.items() if any(function in passed_on for function, _, _ in uses)
    )
    return bindings


def _bind(node: ast.AST, bindings: Bindings) -> None:  # noqa: C901, PLR0912  # one case for each kind of binding
    match node:
        case ast.Import(names=names):
            for each in names:
                bindings.imports[each.asname or each.name.partition(".")[0]].add(
                    each.name if each.asname else each.name.partition(".")[0]
                )
        case ast.ImportFrom(module=module, names=names, level=0):
            for each in names:
                bindings.imports[each.asname or each.name].add(f"{module}.{each.name}")
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                _assign(target, BoundExpression(value), bindings)
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
            _assign(target, BoundExpression(value), bindings)
        case (
            ast.For(target=target, iter=iterated)
            | ast.AsyncFor(target=target, iter=iterated)
            | ast.comprehension(target=target, iter=iterated)
        ):
            _assign(target, BoundExpression(iterated, (None,)), bindings)
        case ast.withitem(context_expr=context, optional_vars=ast.expr() as target):
            _assign(target, BoundExpression(context), bindings)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            bindings.functions.add(name)
            _parameters(name, node, bindings)
        case ast.Lambda(args=args):
            bindings.opaque.update(each.arg for each in ast.walk(args) if isinstance(each, ast.arg))
        case ast.ClassDef(name=name, body=body):
            bindings.classes.add(name)
            bindings.methods.update(
                each.name for each in body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
            )
        case ast.Attribute(attr="endswith" | "suffix"):
            bindings.filters_by_suffix = True
        case ast.Attribute(value=ast.Name(id=name), attr="name", ctx=ast.Store()):
            # After this assignment, the object may refer to another file.
            bindings.opaque.add(name)
        case ast.Call(func=ast.Name(id=name)):
            bindings.calls[name].append(node)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=[value]) if method in _STORING:
            bindings.stored[name].append((None, value))
        case ast.Call(func=ast.Attribute(value=changed, attr=method)) if method in _MUTATING:
            _forget(changed, bindings)
        case ast.AugAssign(target=ast.Subscript() as changed):
            _forget(changed, bindings)
        case (
            ast.AugAssign(target=ast.Name(id=name))
            | ast.ExceptHandler(name=str(name))
            | ast.MatchAs(name=str(name))
            | ast.MatchStar(name=str(name))
            | ast.MatchMapping(rest=str(name))
        ):
            bindings.opaque.add(name)
        case _:
            pass


def _assign(target: ast.expr, bound: BoundExpression, bindings: Bindings) -> None:
    match target:
        case ast.Name(id=name):
            bindings.bound[name].append(bound)
        case ast.Subscript(value=ast.Name(id=name), slice=key) if not bound.part:
            bindings.stored[name].append((key, bound.expression))
        case ast.Subscript(value=changed):
            _forget(changed, bindings)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            for index, each in enumerate(elements):
                if isinstance(each, ast.Starred):
                    # The positions after a starred target are unknown.
                    bindings.opaque.update(node.id for node in ast.walk(target) if isinstance(node, ast.Name))
                else:
                    _assign(each, BoundExpression(bound.expression, (*bound.part, index)), bindings)
        case _:
            pass


def _forget(changed: ast.expr, bindings: Bindings) -> None:
    while isinstance(changed, ast.Subscript):
        changed = changed.value
    if isinstance(changed, ast.Name):
        bindings.opaque.add(changed.id)


def _parameters(name: str, node: ast.FunctionDef | ast.AsyncFunctionDef, bindings: Bindings) -> None:
    arguments = node.args
    places = [*arguments.posonlyargs, *arguments.args]
    missing: list[ast.expr | None] = [None] * (len(places) - len(arguments.defaults))
    defaults = [*missing, *arguments.defaults, *arguments.kw_defaults]
    for index, (each, default) in enumerate(zip([*places, *arguments.kwonlyargs], defaults, strict=True)):
        bindings.parameters[each.arg].append((name, index if index < len(places) else -1, default))
    bindings.opaque.update(each.arg for each in (arguments.vararg, arguments.kwarg) if each is not None)
