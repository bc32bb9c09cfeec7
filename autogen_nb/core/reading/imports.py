"""What imports do: libraries that are not known, and names by which no later block could be judged."""

import ast
from collections.abc import Iterable, Iterator

from autogen_nb.acts import Act
from autogen_nb.core.ground import Ground
from autogen_nb.core.reading import found, modules
from autogen_nb.core.reading.aliases import ALIASES

_STARRED = frozenset({"math", "sympy", "pylab", "datetime", "typing", "collections", "itertools", "dataclasses"})
_SENSITIVE = frozenset(
    {"shutil", "tempfile", "glob", "pickle", "joblib", "sqlite3", "duckdb", "codecs", "zipfile", "tarfile"}
)


def imports(nodes: Iterable[ast.AST], ground: Ground) -> Iterator[Act]:
    """What imports do, as far as a later block could not be judged by the names that they bind."""
    for node in nodes:
        match node:
            case ast.Import(names=names):
                for each in names:
                    yield from imported(each.name, each.asname or each.name.partition(".")[0], each.asname)
            case ast.ImportFrom(names=names, level=level) if level:
                yield from found.unknown(f"imports {names[0].name} from a folder")
            case ast.ImportFrom(module=module, names=names):
                for each in names:
                    yield from _from(module or "", each.name, each.asname or each.name, ground)
            case _:
                pass


def imported(name: str, bound: str, alias: str | None = None) -> Iterator[Act]:
    """What the import of a module under a name does."""
    kind = modules.default(name)
    meant = name if alias else name.partition(".")[0]
    usual = ALIASES.get(bound) == meant
    if not kind:
        yield from found.unknown(f"imports {name}, which is not known")
    elif kind != "compute" and not usual:
        yield from modules.acts(kind, name)
    elif bound and not usual and name in _SENSITIVE:
        yield from found.unknown(f"imports {name} under another name")
    if kind == "compute" and (part := modules.hidden(name)):
        yield from modules.internal(part)


def _from(module: str, name: str, bound: str, ground: Ground) -> Iterator[Act]:
    full = f"{module}.{name}"
    if name == "*":
        if module not in _STARRED:
            yield from found.unknown(f"imports {full}")
        return
    kind = modules.default(full)
    if full in modules.files():
        if (modules.files()[full][0] in ("delete", "process") or bound != name) and ALIASES.get(bound) != full:
            yield from modules.handed_on(modules.files()[full][0], ground, full)
    elif not kind:
        yield from found.unknown(f"imports {full}, which is not known")
    elif kind in modules.KINDS:
        if ALIASES.get(bound) != full:
            yield from modules.acts(kind, full)
    elif part := modules.hidden(full):
        yield from modules.internal(part)
