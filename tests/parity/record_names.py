"""Records the public names of AutoGen 0.2 from its installed sources.

Run by a Python with ``autogen-agentchat==0.2.40``: ``python tests/parity/record_names.py > tests/parity/names.json``.
The sources are parsed and not imported, since many modules need packages of their own.
"""

import ast
import importlib.util
import json
import sys
from pathlib import Path


def names_of(module: ast.Module, *, reexports: bool) -> list[str]:
    """The public names that a module defines or, as a package's ``__init__``, re-exports; with members of classes."""
    names = []
    for node in module.body:
        match node:
            case ast.ClassDef(name=name, body=body) if not name.startswith("_"):
                names += [name, *(f"{name}.{member}" for member in _defined(body))]
            case ast.ImportFrom(names=imported) if reexports and _is_own(node):
                names += [alias.asname or alias.name for alias in imported]
            case _:
                names += _defined([node])
    return sorted({name for name in names if not name.startswith("_") and "._" not in name and name != "*"})


def _is_own(node: ast.ImportFrom) -> bool:
    return bool(node.level) or (node.module or "").startswith("autogen.")


def _defined(body: list[ast.stmt]) -> list[str]:
    names = []
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.append(name)
            case ast.AnnAssign(target=ast.Name(id=name)):
                names.append(name)
            case ast.Assign(targets=targets):
                names += [target.id for target in targets if isinstance(target, ast.Name)]
    return [name for name in names if not name.startswith("_")]


def table_of(root: Path) -> dict[str, list[str]]:
    trees = {}
    for path in sorted(root.rglob("*.py")):
        *parts, last = path.relative_to(root.parent).with_suffix("").parts
        trees[".".join([*parts, last] if last != "__init__" else parts)] = ast.parse(path.read_text("utf-8"))
    packages = {name for name in trees if any(other.startswith(f"{name}.") for other in trees)}
    table = {name: names_of(tree, reexports=name in packages) for name, tree in trees.items()}
    for name in sorted(packages, key=len, reverse=True):
        for node in trees[name].body:
            if isinstance(node, ast.ImportFrom) and _is_own(node) and node.names[0].name == "*":
                source = f"{name}.{node.module}" if node.level else str(node.module)
                table[name] += [each for each in table[source] if "." not in each]
    return {name: sorted(set(names)) for name, names in table.items() if names}


if __name__ == "__main__":
    spec = importlib.util.find_spec("autogen")
    assert spec is not None
    assert spec.origin is not None
    table = table_of(Path(spec.origin).parent)
    sys.stdout.write(json.dumps({name: " ".join(names) for name, names in table.items()}) + "\n")
