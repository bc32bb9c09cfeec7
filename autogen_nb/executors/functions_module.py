"""Makes the person's functions importable by code, as a module in the working directory.

The module contains the functions' source and the imports that `with_requirements` declares; closures are refused.
"""

import ast
import builtins
import inspect
import keyword
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autogen_nb.errors import ConfigError, ExecutionError
from autogen_nb.trusted.held_folder import HeldFolder

PROMPT = """You have access to the following user defined functions. They can be imported from the module \
`$module_name` by their names, for example `from $module_name import $example`.

$functions"""
"""The prompt about the functions, with the placeholders ``$module_name``, ``$functions`` and ``$example``."""


@dataclass(frozen=True, slots=True)
class Alias:
    """An import under another name: ``import name as alias``."""

    name: str
    alias: str


@dataclass(frozen=True, slots=True)
class ImportFromModule:
    """An import of names from a module: ``from module import ...``."""

    module: str
    imports: Sequence[str | Alias]


Import = str | ImportFromModule | Alias
"""A module's name, a module under another name, or names from a module."""


@dataclass
class FunctionWithRequirements:
    """A function with its requirements, callable like the function."""

    func: Callable[..., Any]
    python_packages: Sequence[str] = ()
    global_imports: Sequence[Import] = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.func(*args, **kwargs)


def with_requirements(
    python_packages: Sequence[str] = (), global_imports: Sequence[Import] = ()
) -> Callable[[Callable[..., Any]], FunctionWithRequirements]:
    """A decorator that declares a function's requirements.

    Parameters
    ----------
    python_packages
        Packages that pip installs before the first block runs.
    global_imports
        Imports for the module: names of modules, `Alias`, `ImportFromModule`.
    """
    return lambda function: FunctionWithRequirements(function, python_packages, global_imports)


class FunctionsModule:
    def __init__(self, functions: Sequence[Any] = (), module: str = "functions") -> None:
        if not module.isidentifier() or keyword.iskeyword(module):
            raise ConfigError(f"functions_module is {module!r}; it must be a valid name of a module")
        requirements = [
            each if isinstance(each, FunctionWithRequirements) else FunctionWithRequirements(each) for each in functions
        ]
        self._names = [getattr(required.func, "__name__", "") for required in requirements]
        imports = dict.fromkeys(_import(item)[0] for required in requirements for item in required.global_imports)
        self.module = module
        self.packages = tuple(dict.fromkeys(name for required in requirements for name in required.python_packages))
        self._texts = [_module_source(required, set(self._names)) for required in requirements]
        head = "\n".join(["from __future__ import annotations", "", *imports])
        self.source = "\n\n\n".join([head, *self._texts]) + "\n"

    def write(self, folder: Path) -> None:
        """Writes the module to the folder, if there are functions."""
        if not self._texts:
            return
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with HeldFolder(folder) as held:
                held.save(f"{self.module}.py", self.source.encode())
        except OSError as error:
            raise ExecutionError(f"the functions cannot be written to {str(folder)!r}: {error}") from error

    def prompt(self, template: str = PROMPT) -> str:
        """Describes the functions for a model; "" without functions."""
        if not self._texts:
            return ""
        example, functions = self._names[0], "\n\n".join(map(_stub, self._texts))
        prompt = template.replace("$module_name", self.module).replace("$example", example)
        return prompt.replace("$functions", functions)


def _module_source(requirements: FunctionWithRequirements, known: set[str]) -> str:
    function, name = requirements.func, getattr(requirements.func, "__name__", "")
    if not inspect.isfunction(function):
        raise ConfigError(f"functions contains {function!r}; each must be a Python function")
    try:
        source = textwrap.dedent(inspect.getsource(function))
        node = ast.parse(source).body[0]
    except (OSError, TypeError, SyntaxError, IndexError) as error:
        raise ConfigError(
            f"the source of the function {name!r} is not available ({error}); define it by `def` in a file or a cell"
        ) from error
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        raise ConfigError(f"{name!r} is not defined by `def`, so code cannot import it")
    if outer := function.__code__.co_freevars:
        raise ConfigError(f"the function {name!r} takes {', '.join(outer)} from an outer function; define them inside")
    decorators = [each for each in node.decorator_list if not _declares_requirements(each)]
    outside = [*decorators, *node.args.defaults, *filter(None, node.args.kw_defaults)]
    used = {each.id for part in outside for each in ast.walk(part) if isinstance(each, ast.Name)}
    available = known.union(dir(builtins), *(_import(each)[1] for each in requirements.global_imports))
    if missing := sorted((used | _globals(function.__code__)) - available):
        raise ConfigError(
            f"the function {name!r} uses {', '.join(missing)} of its module, which the code cannot access: "
            "import it within the function, or name it by with_requirements(global_imports=[...])"
        )
    lines = source.splitlines()
    return "\n".join(line for each in [*decorators, node] for line in lines[each.lineno - 1 : each.end_lineno])


def _declares_requirements(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return getattr(called, "attr", getattr(called, "id", "")) == with_requirements.__name__


def _globals(code: Any) -> set[str]:
    import dis

    names = {str(step.argval) for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return names.union(*(_globals(each) for each in code.co_consts if inspect.iscode(each)))


def _import(requirements: Import) -> tuple[str, list[str]]:
    match requirements:
        case Alias(name=name, alias=alias):
            return f"import {name} as {alias}", [alias]
        case ImportFromModule(module=module, imports=names):
            listed = [f"{one.name} as {one.alias}" if isinstance(one, Alias) else one for one in names]
            return f"from {module} import {', '.join(listed)}", [one.split()[-1] for one in listed]
        case _:
            return f"import {requirements}", [requirements.partition(".")[0]]


def _stub(text: str) -> str:
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    doc = ast.get_docstring(node, clean=True)
    node.decorator_list = []
    node.body = [*([ast.Expr(ast.Constant(doc))] if doc else []), ast.Expr(ast.Constant(...))]
    return ast.unparse(node)
