"""Predicts the effects of Python code from its syntax tree.

`library_effects` and `method_effects` list what only computes, and what has effects. Unlisted libraries, names that are
computed at run time, and access to Python's internals count as unknown.
"""

import ast
import re
from collections.abc import Callable
from itertools import islice, product
from typing import Any, ClassVar

from autogen_nb.core.analysis import library_effects, method_effects, sql_effects
from autogen_nb.core.analysis.abstract_values import MOST, UNKNOWN, LocalName, OpenedFile, Ref
from autogen_nb.core.analysis.bindings import collect_bindings
from autogen_nb.core.analysis.call_effects import CallReader, statements
from autogen_nb.core.analysis.effect_collector import EffectCollector
from autogen_nb.core.analysis.evaluator import Evaluator
from autogen_nb.core.analysis.import_effects import read_import, read_module
from autogen_nb.effects import Effect

_DUNDER = re.compile(
    r"__(?!main__|name__|version__|index_level|file__)[a-z]\w*__|\.(f_globals|f_builtins|f_back|gi_frame|tb_frame)\b|module://"
)
_METHOD_NAME_ARGUMENTS = frozenset({"apply", "agg", "aggregate", "transform", "pipe", "map"})
"""Methods that take the name of another method and call it."""

_DATABASE_CHANGES = frozenset({"to_sql", "executescript", "register", "create_function", "commit", "backup"})

_GENERIC = frozenset("common compat core lib testing inspect pickle exec requests tempfile codecs socket".split())
_SETTINGS = re.compile(r"\.(options|rcParams|defaults|default|templates|ast_node_interactivity|display)\b")
_MAGICS = frozenset({"run_line_magic", "system", "getoutput", "run_cell_magic", "run_cell", "magic"})
_HARMLESS_KEYWORDS = frozenset({"store_history", "silent", "shell_futures", "cell_id", "split"})
"""Keyword arguments of the methods in `_MAGICS` that do not change which code runs."""
_INSPECTING = frozenset({"getattr", "hasattr", "dir", "type", "callable", "isinstance", "setattr", "help"})
_NAMESPACES = frozenset({"dir", "globals", "locals", "vars"})
_MEMORY = frozenset({"__array_interface__", "__array_struct__", "__cuda_array_interface__"})
_DUNDERS = frozenset({"__name__", "__file__", "__doc__"})


def read_python(tree: ast.AST, effects: EffectCollector) -> None:
    _PythonReader(tree, effects).read()


class _PythonReader:
    def __init__(self, tree: ast.AST, effects: EffectCollector) -> None:
        self._effects = effects
        names = collect_bindings(tree)
        self._values = Evaluator(names, private_temporary=effects.scope.private_temporary)
        self._nodes = list(ast.walk(tree))
        # The evaluator caches values by `id(node)`, so the nodes that this class creates must stay alive.
        self._synthetic_nodes: list[ast.AST] = []
        calls = [node for node in self._nodes if isinstance(node, ast.Call)]
        self._called = {id(call.func) for call in calls}
        # Objects whose attributes the code reads or changes, and arguments of functions such as `getattr` and `type`.
        self._owners = {id(node.value) for node in self._nodes if isinstance(node, ast.Attribute)}
        self._owners |= {
            id(call.args[0])
            for call in calls
            if isinstance(call.func, ast.Name)
            and call.func.id in _INSPECTING
            and call.func.id not in names
            and call.args
        }
        # A test such as `"pandas" in sys.modules` changes nothing.
        self._tested = {
            id(item)
            for node in self._nodes
            if isinstance(node, ast.Compare) and all(isinstance(op, ast.In | ast.NotIn) for op in node.ops)
            for item in node.comparators
            if (isinstance(item, ast.Call) and isinstance(item.func, ast.Name) and item.func.id in _NAMESPACES)
            or (isinstance(item, ast.Attribute) and set(self._values.refs(item)) == {"sys.modules"})
        }
        self._calls = CallReader(self._values, effects, names.methods, changing=any(map(self._changes, calls)))

    def read(self) -> None:
        imports = EffectCollector(self._effects.scope)
        for node in self._nodes:
            match node:
                case ast.Call():
                    self._read_call(node)
                case ast.Attribute(ctx=ast.Load()):
                    self._read_attribute(node)
                case ast.Attribute():
                    self._read_change(node)
                case ast.Name(id=name, ctx=ast.Load()):
                    self._read_name(name, node)
                case ast.MatchClass(kwd_attrs=names):
                    for name in filter(method_effects.is_internal, names):
                        library_effects.add_internals(name, self._effects)
                case ast.FunctionDef(name=name) | ast.Name(id=name, ctx=ast.Store()) if name in _MEMORY:
                    self._effects.add_unknown(f"reveals an address in memory: {name}")
                case ast.Constant(value=str(text)) if hidden := _DUNDER.search(text):
                    self._effects.add_unknown(f"contains {hidden[0]} in a string")
                case _:
                    read_import(node, imports)
        # If the code uses an imported module, the effects of the use replace the effect of the import.
        self._effects.add_vague(imports.effects)

    def _changes(self, call: ast.Call) -> bool:
        if not isinstance(call.func, ast.Attribute):
            return False
        is_statement = method_effects.kind(call.func.attr) == "sql"
        texts = statements(self._values, call) if is_statement else ()
        return call.func.attr in _DATABASE_CHANGES or any(
            sql_effects.changes(text) and not (text or "").isidentifier() for text in texts
        )

    def _read_call(self, call: ast.Call) -> None:
        refs = self._values.refs(call.func)
        special = next((self._SPECIAL[name] for name in refs if name in self._SPECIAL), None)
        if special is not None:
            special(self, call)
            return
        if isinstance(call.func, ast.Attribute):
            if call.func.attr in _MAGICS and any(map(_is_shell, refs)):
                self._read_magic(call.func.attr, call)
                return
            self._read_text_method(call.func.attr, call)
        if id(call) not in self._tested:
            self._calls.read(call)

    def _first_texts(self, call: ast.Call) -> tuple[str | None, ...]:
        return self._values.texts(call.args[0]) if call.args else (None,)

    def _read_text(self, call: ast.Call) -> None:
        for text in self._first_texts(call):
            self._effects.add_text(text, "runs code that is not known before it runs")

    def _read_timed(self, call: ast.Call) -> None:
        for value in (value for node in call.args[:2] for value in self._values.of(node)):
            if isinstance(value, str):
                self._effects.add_text(value, "runs code that cannot be read")

    def _read_getattr(self, call: ast.Call) -> None:
        for text in self._values.texts(call.args[1]) if len(call.args) > 1 else (None,):
            if text is None:
                self._effects.add_unknown("uses an attribute whose name is not known before the code runs")
            else:
                attribute = ast.Attribute(value=call.args[0], attr=text, ctx=ast.Load())
                self._synthetic_nodes.append(attribute)
                self._read_attribute(attribute)

    def _read_setattr(self, call: ast.Call) -> None:
        values = self._values.of(call.args[0]) if call.args else (UNKNOWN,)
        refs = [value.name for value in values if isinstance(value, Ref)]
        if refs:
            self._effects.add_change(f"changes {refs[0]}")
        elif not all(isinstance(value, LocalName) for value in values):
            self._effects.add_unknown("changes an attribute of an unknown object")

    def _read_import(self, call: ast.Call) -> None:
        for text in self._first_texts(call):
            if text is None:
                self._effects.add_unknown("imports a module that is not known before the code runs")
            else:
                read_module(text, "", self._effects)

    def _read_notebook(self, call: ast.Call) -> None:
        # For a call such as `get_ipython().system()`, `_read_call` adds the effects.
        if id(call) not in self._owners:
            self._effects.add_unknown("uses get_ipython")

    def _read_help(self, call: ast.Call) -> None:
        for value in (value for node in call.args for value in self._values.of(node)):
            if isinstance(value, str) and library_effects.default_kind(value) != "compute":
                read_module(value.partition(".")[0], "", self._effects)
        if not call.args or any(isinstance(item, ast.Starred) or self._is_unknown(item) for item in call.args):
            self._effects.add_unknown("uses help")

    def _is_unknown(self, node: ast.expr) -> bool:
        return not isinstance(node, ast.Attribute) and UNKNOWN in self._values.of(node)

    def _read_yaml(self, call: ast.Call) -> None:
        loaders = [*call.args[1:2], *(item.value for item in call.keywords if item.arg == "Loader")]
        if not any("Safe" in name for node in loaders for name in self._values.refs(node)):
            self._effects.add_unknown("reads YAML, which can run code")

    _SPECIAL: ClassVar[dict[str, Callable[[Any, ast.Call], None]]] = {
        "eval": _read_text,
        "exec": _read_text,
        "compile": _read_text,
        "getattr": _read_getattr,
        "setattr": _read_setattr,
        "delattr": _read_setattr,
        "__import__": _read_import,
        "importlib.import_module": _read_import,
        "get_ipython": _read_notebook,
        "IPython.get_ipython": _read_notebook,
        "timeit.timeit": _read_timed,
        "timeit.repeat": _read_timed,
        "yaml.load": _read_yaml,
        "help": _read_help,
    }

    def _read_text_method(self, name: str, call: ast.Call) -> None:
        if name in ("query", "eval"):
            self._read_expression(name, call)
        elif name in _METHOD_NAME_ARGUMENTS:
            for argument in [*call.args, *(item.value for item in call.keywords)]:
                for node in ast.walk(argument):
                    if isinstance(node, ast.Constant) and isinstance(node.value, str):
                        self._read_method_name(node.value)
        elif name in ("use", "context") and not self._names_a_style(call):
            self._effects.add_unknown(f"loads a style or a backend: .{name}")

    def _read_magic(self, name: str, call: ast.Call) -> None:
        cases = list(islice(product(*map(self._values.texts, call.args)), MOST + 1))
        if not call.args or len(cases) > MOST or any(item.arg not in _HARMLESS_KEYWORDS for item in call.keywords):
            cases = [(None,)]
        for texts in cases:
            known_texts = [text for text in texts if text is not None]
            if len(known_texts) < len(texts):
                self._effects.add_unknown("runs a magic that is not known before it runs")
                continue
            code = {
                "run_line_magic": "%" + " ".join(known_texts),
                "magic": "%" + known_texts[0].lstrip("%"),
                "run_cell_magic": "%%" + " ".join(known_texts[:2]) + "\n" + "\n".join(known_texts[2:]),
                "run_cell": known_texts[0],
            }.get(name, "!" + known_texts[0])
            self._effects.texts.append(code)

    def _read_expression(self, name: str, call: ast.Call) -> None:
        """Adds the effects of a duckdb statement, or of a pandas expression, which can call methods."""
        if any(ref.startswith(("duckdb", "memory")) for ref in self._values.refs(call.func)):
            for text in self._values.texts(call.args[0]) if call.args else ():
                sql_effects.read_statement(text, self._effects)
            return
        values = self._values.of(call.args[0]) if call.args else ()
        # `model.eval()` has no argument and evaluates nothing.
        for value in values or ((UNKNOWN,) if call.keywords else ()):
            text = re.sub(r"`[^`]*`", "column", value).replace("@", "").strip() if isinstance(value, str) else None
            self._effects.add_text(text, f"evaluates a text: .{name}")

    def _read_method_name(self, text: str) -> None:
        kind = method_effects.kind(text)
        if kind == "read":
            self._effects.add(Effect("read_private", "", f"calls .{text}"))
        elif kind in ("write", "delete", "network", "process"):
            self._effects.add(Effect(kind, "", f"calls .{text}"))
        elif method_effects.is_internal(text) and text.isidentifier():
            library_effects.add_internals(text, self._effects)

    def _names_a_style(self, call: ast.Call) -> bool:
        if not call.args or call.keywords[1:]:
            return False
        values = self._values.of(call.args[0])
        texts = [item for value in values for item in (value if isinstance(value, tuple) else (value,))]
        return all(isinstance(text, str) and re.fullmatch(r"[\w-]+", text) for text in texts)

    def _read_name(self, name: str, node: ast.Name) -> None:
        if id(node) in self._called:
            return
        if re.fullmatch(r"__\w+__", name) and name not in _DUNDERS:
            self._effects.add_unknown(f"uses {name}")
        elif id(node) not in self._owners:
            for ref in self._values.refs(node):
                self._read_mention(ref)

    def _read_attribute(self, node: ast.Attribute) -> None:
        values = self._values.of(node.value)
        hidden = method_effects.is_internal(node.attr) and not all(_is_exempt(value, node.attr) for value in values)
        if hidden or (node.attr == "__class__" and id(node) not in self._owners):
            library_effects.add_internals(node.attr, self._effects)
        if id(node) not in self._owners:
            # In libraries that only compute, a private part counts as internal, unless the whole name is listed.
            whole = [
                f"{value.name}.{node.attr}" for value in values if isinstance(value, Ref) and "()" not in value.name
            ]
            for part in filter(
                None, (library_effects.hidden_part(n) for n in whole if library_effects.default_kind(n) == "compute")
            ):
                library_effects.add_internals(part, self._effects)
        if {id(node)} & (self._owners | self._called | self._tested):
            return
        for value in values:
            if isinstance(value, Ref):
                self._read_mention(f"{value.name}.{node.attr}")
        if UNKNOWN in values and method_effects.kind(node.attr) in ("write", "delete", "network", "process"):
            self._read_method_name(node.attr)

    def _read_mention(self, ref: str) -> None:
        name = library_effects.without_calls(ref)
        kind = library_effects.default_kind(name)
        method = method_effects.kind(name.rpartition(".")[2])
        if ref.endswith(("()", "[]")):
            return
        if "()" in ref and not _is_shell(ref):
            if method in ("write", "delete") and kind == "compute":
                library_effects.add_reference(method, name, self._effects)
        elif name in library_effects.FILES:
            library_effects.add_reference(library_effects.FILES[name][0][0], name, self._effects)
        elif name == "open":
            self._effects.add_unknown("passes the function `open` to other code")
        elif kind not in (None, "compute"):
            for variable in self._variables(name):
                self._effects.add(library_effects.usage_effect(kind, name, variable))
        elif "." in name and kind and method not in ("", "sql"):
            library_effects.add_reference(method, name, self._effects)

    def _variables(self, name: str) -> list[str]:
        """The variables that the block reads, if `name` is `os.environ`; "" otherwise, and for an unknown variable."""
        variables = [
            text or ""
            for node in (self._nodes if name.startswith("os.environ") else ())
            if isinstance(node, ast.Subscript) and "os.environ" in self._values.refs(node.value)
            for text in self._values.texts(node.slice)
        ]
        return variables or [""]

    def _read_change(self, node: ast.Attribute) -> None:
        for ref in self._values.refs(node.value):
            name = f"{ref}.{node.attr}"
            if not ("()" in name or "[]" in name or _SETTINGS.search(name)):
                self._effects.add_change(f"changes {name}")


def _is_shell(ref: str) -> bool:
    return ref.startswith(("get_ipython().", "IPython.get_ipython()."))


def _is_exempt(value: object, attr: str) -> bool:
    if isinstance(value, LocalName | OpenedFile):
        return not (attr.startswith("__") and attr.endswith("__"))
    if isinstance(value, Ref):
        name = f"{value.name}.{attr}"
        return library_effects.is_known(name) or library_effects.default_kind(name) not in (None, "compute")
    return attr in _GENERIC
