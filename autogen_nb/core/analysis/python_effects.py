"""What Python code does, read from its syntax tree.

Libraries are known by name: those that compute, and what in them reads, writes or does more. A library that is not
known, a name that is made up when the code runs, and whatever leads into Python's own works is unknown.
"""

import ast
import re
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from autogen_nb.core.analysis import found_effects, library_effects, method_effects, sql_effects
from autogen_nb.core.analysis.abstract_values import UNKNOWN, LocalName, OpenedFile, Ref
from autogen_nb.core.analysis.bindings import bindings
from autogen_nb.core.analysis.call_effects import Calls
from autogen_nb.core.analysis.evaluator import Evaluator
from autogen_nb.core.analysis.import_effects import imported, imports
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.core.text.code_blocks import parse_python
from autogen_nb.effects import Effect

_DUNDER = re.compile(
    r"__(?!main__|name__|version__|index_level|file__)[a-z]\w*__|\.(f_globals|f_builtins|f_back|gi_frame|tb_frame)\b"
)
_NAMING = frozenset({"apply", "agg", "aggregate", "transform", "pipe", "map"})
"""Methods that call the method that a text names."""

_GENERIC = frozenset("common compat core lib testing inspect pickle exec requests tempfile codecs socket".split())
_SETTINGS = re.compile(r"\.(options|rcParams|defaults|default|templates|ast_node_interactivity|display)\b")
_MAGICS = frozenset({"run_line_magic", "system", "getoutput", "run_cell_magic", "run_cell", "magic"})
_LOOKED_AT = frozenset({"getattr", "hasattr", "dir", "type", "callable", "isinstance", "setattr"})
_DUNDERS = frozenset({"__name__", "__file__", "__doc__"})
_NESTED = 4


def read(code: str, scope: PathScope, nested: int = 0) -> tuple[Effect, ...] | None:
    """What Python code does; None for what is not Python."""
    tree = parse_python(code)
    if tree is None or nested > _NESTED:
        return None
    return tuple(dict.fromkeys(_PythonReader(tree, scope, nested).effects()))


class _PythonReader:
    def __init__(self, tree: ast.AST, scope: PathScope, nested: int) -> None:
        self._tree = tree
        self._ground = scope
        self._nested = nested
        self._names = bindings(tree)
        self._values = Evaluator(self._names)
        self._nodes = list(ast.walk(tree))
        # What is known of a node is kept by its identity, which must not pass to another one.
        self._made: list[ast.AST] = []
        self._inner = {id(node.value) for node in self._nodes if isinstance(node, ast.Attribute)}
        self._inner |= {
            id(node.args[0])
            for node in self._nodes
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in _LOOKED_AT
            and node.args
        }
        self._called = {id(node.func) for node in self._nodes if isinstance(node, ast.Call)}
        self._tested = {
            id(each.func)
            for node in self._nodes
            if isinstance(node, ast.Compare) and all(isinstance(op, ast.In | ast.NotIn) for op in node.ops)
            for each in node.comparators
            if isinstance(each, ast.Call)
        }
        self._calls = Calls(self._values, scope, frozenset(self._names.own), changing=self._changes())

    def effects(self) -> Iterator[Effect]:
        """What the code does, the plainest first."""
        read = [effect for node in self._nodes for effect in self._node(node)]
        yield from read
        kinds = {effect.kind for effect in read}
        for effect in (*self._calls.vague, *imports(self._nodes, self._ground)):
            # What is made of an import or of a session says more than that it is made.
            if effect.kind not in kinds:
                yield effect

    def _changes(self) -> bool:
        """Whether some statement of SQL, or a table that is put there, changes a database."""
        for node in self._nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr in ("to_sql", "executescript", "register", "create_function", "commit", "backup"):
                    return True
                if method_effects.effect(node.func.attr) == "sql" and node.args:
                    texts = self._values.texts(node.args[0])
                    if any(sql_effects.changes(text) and not (text or "").isidentifier() for text in texts):
                        return True
        return False

    def _node(self, node: ast.AST) -> Iterator[Effect]:
        match node:
            case ast.Call():
                yield from self._call(node)
            case ast.Attribute(ctx=ast.Load()):
                yield from self._attribute(node)
            case ast.Attribute():
                yield from self._assigned(node)
            case ast.Name(id=name, ctx=ast.Load()):
                yield from self._name(name, node)
            case ast.MatchClass(kwd_attrs=names):
                yield from (
                    effect
                    for name in names
                    if method_effects.internal(name)
                    for effect in library_effects.internal(name)
                )
            case ast.Constant(value=str(text)) if hidden := _DUNDER.search(text):
                yield from found_effects.unknown(f"names {hidden[0]} in a text")
            case _:
                return

    def _call(self, call: ast.Call) -> Iterator[Effect]:
        for name in self._values.refs(call.func):
            own = self._OWN.get(name)
            if own is not None:
                yield from own(self, call)
                return
        if isinstance(call.func, ast.Attribute):
            if call.func.attr in _MAGICS and any(map(_is_shell, self._values.refs(call.func))):
                yield from self._magic(call.func.attr, call)
                return
            yield from self._expressive(call.func.attr, call)
        if id(call.func) not in self._tested:
            yield from self._calls.effects(call)

    def _run_text(self, call: ast.Call) -> Iterator[Effect]:
        """A text that is run as Python."""
        for text in self._values.texts(call.args[0]) if call.args else (None,):
            effects = None if text is None else read(text, self._ground, self._nested + 1)
            yield from (
                found_effects.unknown("runs code that is not known before it runs") if effects is None else effects
            )

    def _got_attribute(self, call: ast.Call) -> Iterator[Effect]:
        for text in self._values.texts(call.args[1]) if len(call.args) > 1 else (None,):
            if text is None:
                yield from found_effects.unknown("uses an attribute whose name is not known before it runs")
            else:
                attribute = ast.Attribute(value=call.args[0], attr=text, ctx=ast.Load())
                self._made.append(attribute)
                yield from self._attribute(attribute)

    def _set_attribute(self, call: ast.Call) -> Iterator[Effect]:
        target = call.args[0] if call.args else None
        if target is None or any(not isinstance(each, LocalName) for each in self._values.of(target)):
            refs = () if target is None else self._values.refs(target)
            words = f"changes {refs[0]}" if refs else "sets an attribute by its name"
            yield from found_effects.environment("", words) if refs else found_effects.unknown(words)

    def _imported(self, call: ast.Call) -> Iterator[Effect]:
        for text in self._values.texts(call.args[0]) if call.args else (None,):
            if text is None:
                yield from found_effects.unknown("imports what is not known before it runs")
            else:
                yield from imported(text, "")

    def _in_notebook(self, call: ast.Call) -> Iterator[Effect]:
        # What is called on it is read there, and it can do all.
        if id(call) not in self._inner:
            yield from found_effects.unknown("uses get_ipython")

    def _timed(self, call: ast.Call) -> Iterator[Effect]:
        for node in call.args[:2]:
            for value in self._values.of(node):
                if isinstance(value, str):
                    effects = read(value, self._ground, self._nested + 1)
                    yield from found_effects.unknown("runs code that cannot be read") if effects is None else effects

    def _yaml(self, call: ast.Call) -> Iterator[Effect]:
        given = [*call.args[1:2], *(each.value for each in call.keywords if each.arg == "Loader")]
        if not any("Safe" in name for node in given for name in self._values.refs(node)):
            yield from found_effects.unknown("reads YAML, which can run code")

    _OWN: ClassVar[dict[str, Callable[[Any, ast.Call], Iterator[Effect]]]] = {
        "eval": _run_text,
        "exec": _run_text,
        "compile": _run_text,
        "getattr": _got_attribute,
        "setattr": _set_attribute,
        "delattr": _set_attribute,
        "__import__": _imported,
        "importlib.import_module": _imported,
        "get_ipython": _in_notebook,
        "IPython.get_ipython": _in_notebook,
        "timeit.timeit": _timed,
        "timeit.repeat": _timed,
        "yaml.load": _yaml,
    }
    """What runs, or names, what a text holds."""

    def _expressive(self, name: str, call: ast.Call) -> Iterator[Effect]:
        """Methods that evaluate a text, or that take a style or a method by its name."""
        if name in ("query", "eval"):
            yield from self._expression(name, call)
        elif name in _NAMING:
            for argument in [*call.args, *(each.value for each in call.keywords)]:
                yield from (
                    effect
                    for node in ast.walk(argument)
                    if isinstance(node, ast.Constant) and isinstance(node.value, str)
                    for effect in self._method_named(node.value)
                )
        elif name in ("use", "context") and not self._names_a_style(call):
            yield from found_effects.unknown(f"takes a style or a backend from elsewhere: .{name}")

    def _magic(self, name: str, call: ast.Call) -> Iterator[Effect]:
        from autogen_nb.core.analysis.cell_effects import cell

        texts = [text for node in call.args for text in self._values.texts(node)[:1]]
        known = [text for text in texts if text is not None]
        if not known or len(known) != len(texts):
            yield from found_effects.unknown("runs a magic that is not known before it runs")
            return
        code = {
            "run_line_magic": "%" + " ".join(known),
            "magic": "%" + known[0].lstrip("%"),
            "run_cell_magic": "%%" + " ".join(known[:2]) + "\n" + "\n".join(known[2:]),
            "run_cell": known[0],
        }.get(name, "!" + known[0])
        yield from cell(code, self._ground, self._nested + 1)

    def _expression(self, name: str, call: ast.Call) -> Iterator[Effect]:
        """An expression that pandas evaluates: it can call methods too. Of databases, it is a statement."""
        if any(ref.startswith(("duckdb", "memory")) for ref in self._values.refs(call.func)):
            for text in self._values.texts(call.args[0]) if call.args else ():
                yield from sql_effects.statement(text, self._ground)
            return
        values = self._values.of(call.args[0]) if call.args else ()
        if isinstance(call.func, ast.Attribute) and not values and not call.keywords:
            # `model.eval()` evaluates no text.
            return
        for value in values or (None,):
            tree = None
            if isinstance(value, str):
                tree = parse_python(re.sub(r"`[^`]*`", "column", value).replace("@", "").strip())
            if tree is None:
                yield from found_effects.unknown(f"evaluates a text: .{name}")
            else:
                yield from _PythonReader(tree, self._ground, self._nested).effects()

    def _method_named(self, text: str) -> Iterator[Effect]:
        kind = method_effects.effect(text)
        if kind in ("read", "write", "delete", "network", "process"):
            yield Effect({"read": "read_private"}.get(kind, kind), "", f"calls .{text}")  # type: ignore[arg-type]  # a kind, by the line above
        elif method_effects.internal(text) and text.isidentifier():
            yield from library_effects.internal(text)

    def _names_a_style(self, call: ast.Call) -> bool:
        if not call.args or call.keywords[1:]:
            return False
        texts = [
            each
            for value in self._values.of(call.args[0])
            for each in (value if isinstance(value, tuple) else (value,))
        ]
        return all(isinstance(text, str) and re.fullmatch(r"[\w-]+", text) for text in texts)

    def _name(self, name: str, node: ast.Name) -> Iterator[Effect]:
        if re.fullmatch(r"__\w+__", name) and name not in _DUNDERS and id(node) not in self._called:
            yield from found_effects.unknown(f"uses {name}")
        elif id(node) not in self._inner and id(node) not in self._called:
            for ref in self._values.refs(node):
                yield from self._mentioned(ref)

    def _attribute(self, node: ast.Attribute) -> Iterator[Effect]:
        values = self._values.of(node.value)
        refs = [f"{value.name}.{node.attr}" for value in values if isinstance(value, Ref)]
        hidden = method_effects.internal(node.attr) and not all(_exempt(value, node.attr) for value in values)
        if hidden or (node.attr == "__class__" and id(node) not in self._inner):
            yield from library_effects.internal(node.attr)
        if id(node) in self._inner or id(node) in self._called:
            return
        for ref in refs:
            yield from self._mentioned(ref)
        if UNKNOWN in values and method_effects.effect(node.attr) in ("write", "delete", "network", "process"):
            yield from self._method_named(node.attr)

    def _mentioned(self, ref: str) -> Iterator[Effect]:
        """What a library gives is handed on, or called by another name."""
        name = library_effects.plain(ref)
        if ref.endswith(("()", "[]")):
            # What made it has been judged.
            return
        if "()" in ref and not _is_shell(ref):
            effect = method_effects.effect(name.rpartition(".")[2])
            if effect in ("write", "delete") and library_effects.default(name) == "compute":
                yield from library_effects.handed_on(effect, self._ground, name)
            return
        if name in library_effects.FILES:
            kind = library_effects.FILES[name][0]
            yield from library_effects.handed_on(kind, self._ground, name)
        elif name == "open":
            yield from found_effects.unknown("hands open on")
        elif (kind := library_effects.default(name)) in library_effects.KINDS:
            for variable in self._variables(name):
                yield from library_effects.effects(kind, name, variable)
        elif "." in name and kind:
            effect = method_effects.effect(name.rpartition(".")[2])
            if effect in ("read", "write", "delete", "network", "process", "unknown"):
                yield from library_effects.handed_on(effect, self._ground, name)

    def _variables(self, name: str) -> list[str]:
        """The names of the variables that the block takes from the environment; "" for what cannot be told."""
        if not name.startswith("os.environ"):
            return [""]
        taken = [
            text or ""
            for node in self._nodes
            if isinstance(node, ast.Subscript) and "os.environ" in self._values.refs(node.value)
            for text in self._values.texts(node.slice)
        ]
        return taken or [""]

    def _assigned(self, node: ast.Attribute) -> Iterator[Effect]:
        """A module, or what it holds, is changed."""
        for ref in self._values.refs(node.value):
            name = f"{ref}.{node.attr}"
            if not ("()" in name or "[]" in name or _SETTINGS.search(name)):
                yield from found_effects.environment("", f"changes {name}")


def _is_shell(ref: str) -> bool:
    return ref.startswith(("get_ipython().", "IPython.get_ipython()."))


def _exempt(value: object, attr: str) -> bool:
    """Whether the attribute is the value's own affair, or nothing of a library."""
    if isinstance(value, LocalName | OpenedFile):
        return not (attr.startswith("__") and attr.endswith("__"))
    if isinstance(value, Ref):
        name = f"{value.name}.{attr}"
        return library_effects.known(name) or library_effects.default(name) in library_effects.KINDS
    return attr in _GENERIC
