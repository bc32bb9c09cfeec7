"""What imports do: libraries that are not known, and names by which no later block could be judged."""

import ast

from autogen_nb.core.analysis import library_effects
from autogen_nb.core.analysis.found_effects import FoundEffects
from autogen_nb.core.analysis.known_names import ALIASES, word_lists

_IMPORTS = word_lists("imports")


def read_import(node: ast.AST, found: FoundEffects) -> None:
    """Finds what an import does, as far as a later block could not be judged by the names that it binds."""
    match node:
        case ast.Import(names=names):
            for each in names:
                read_module(each.name, each.asname or each.name.partition(".")[0], found, alias=each.asname)
        case ast.ImportFrom(names=names, level=level) if level:
            found.add_unknown(f"imports {names[0].name} from a folder")
        case ast.ImportFrom(module=str(module), names=names):
            for each in names:
                _read_member(module, each.name, each.asname or each.name, found)


def read_module(name: str, bound: str, found: FoundEffects, alias: str | None = None) -> None:
    """Finds what the import of a module under a name does."""
    kind = library_effects.default(name)
    usual = ALIASES.get(bound) == (name if alias else name.partition(".")[0])
    if kind is None:
        found.add_unknown(f"imports {name}, which is not known")
    elif kind != "compute" and not usual:
        found.add(library_effects.used(kind, name))
    elif bound and not usual and name in _IMPORTS["sensitive"]:
        found.add_unknown(f"imports {name} under another name")
    if kind == "compute" and (part := library_effects.hidden(name)):
        library_effects.reach_inside(part, found)


def _read_member(module: str, name: str, bound: str, found: FoundEffects) -> None:
    full = f"{module}.{name}"
    kind = library_effects.default(full)
    usual = ALIASES.get(bound) == full
    if name == "*":
        if module not in _IMPORTS["starred"]:
            found.add_unknown(f"imports {full}")
    elif full in library_effects.FILES:
        use, _ = library_effects.FILES[full][0]
        if (use in ("delete", "process") or bound != name) and not usual:
            library_effects.hand_on(use, full, found)
    elif kind is None:
        found.add_unknown(f"imports {full}, which is not known")
    elif kind != "compute":
        if not usual:
            found.add(library_effects.used(kind, full))
    elif part := library_effects.hidden(full):
        library_effects.reach_inside(part, found)
