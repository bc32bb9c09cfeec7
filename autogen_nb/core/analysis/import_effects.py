"""What imports do: libraries that are not known, and names by which no later block could be judged."""

import ast
from collections.abc import Iterable, Iterator

from autogen_nb.core.analysis import found_effects, library_effects
from autogen_nb.core.analysis.known_names import ALIASES
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.effects import Effect

_STARRED = frozenset({"math", "sympy", "pylab", "datetime", "typing", "collections", "itertools", "dataclasses"})
_SENSITIVE = frozenset(
    {"shutil", "tempfile", "glob", "pickle", "joblib", "sqlite3", "duckdb", "codecs", "zipfile", "tarfile"}
)


def imports(nodes: Iterable[ast.AST], scope: PathScope) -> Iterator[Effect]:
    """What imports do, as far as a later block could not be judged by the names that they bind."""
    for node in nodes:
        match node:
            case ast.Import(names=names):
                for each in names:
                    yield from imported(each.name, each.asname or each.name.partition(".")[0], each.asname)
            case ast.ImportFrom(names=names, level=level) if level:
                yield from found_effects.unknown(f"imports {names[0].name} from a folder")
            case ast.ImportFrom(module=module, names=names):
                for each in names:
                    yield from _from(module or "", each.name, each.asname or each.name, scope)
            case _:
                pass


def imported(name: str, bound: str, alias: str | None = None) -> Iterator[Effect]:
    """What the import of a module under a name does."""
    kind = library_effects.default(name)
    meant = name if alias else name.partition(".")[0]
    usual = ALIASES.get(bound) == meant
    if not kind:
        yield from found_effects.unknown(f"imports {name}, which is not known")
    elif kind != "compute" and not usual:
        yield from library_effects.effects(kind, name)
    elif bound and not usual and name in _SENSITIVE:
        yield from found_effects.unknown(f"imports {name} under another name")
    if kind == "compute" and (part := library_effects.hidden(name)):
        yield from library_effects.internal(part)


def _from(module: str, name: str, bound: str, scope: PathScope) -> Iterator[Effect]:
    full = f"{module}.{name}"
    if name == "*":
        if module not in _STARRED:
            yield from found_effects.unknown(f"imports {full}")
        return
    kind = library_effects.default(full)
    if full in library_effects.FILES:
        if (library_effects.FILES[full][0] in ("delete", "process") or bound != name) and ALIASES.get(bound) != full:
            yield from library_effects.handed_on(library_effects.FILES[full][0], scope, full)
    elif not kind:
        yield from found_effects.unknown(f"imports {full}, which is not known")
    elif kind in library_effects.KINDS:
        if ALIASES.get(bound) != full:
            yield from library_effects.effects(kind, full)
    elif part := library_effects.hidden(full):
        yield from library_effects.internal(part)
