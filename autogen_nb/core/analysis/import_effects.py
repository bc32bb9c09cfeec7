"""Predicts the effects of imports; misleading aliases count as unknown effects."""

import ast

from autogen_nb.core.analysis import library_effects
from autogen_nb.core.analysis.effect_collector import EffectCollector
from autogen_nb.core.analysis.known_names import ALIASES, word_lists

_IMPORTS = word_lists("imports")


def read_import(node: ast.AST, effects: EffectCollector) -> None:
    match node:
        case ast.Import(names=names):
            for imported in names:
                read_module(
                    imported.name, imported.asname or imported.name.partition(".")[0], effects, alias=imported.asname
                )
        case ast.ImportFrom(names=names, level=level) if level:
            effects.add_unknown(f"imports {names[0].name} from a folder")
        case ast.ImportFrom(module=str(module), names=names):
            for imported in names:
                _read_member(module, imported.name, imported.asname or imported.name, effects)


def read_module(name: str, bound: str, effects: EffectCollector, alias: str | None = None) -> None:
    kind = library_effects.default_kind(name)
    is_usual = ALIASES.get(bound) == (name if alias else name.partition(".")[0])
    if kind is None:
        effects.add_unknown(f"imports {name}, which is not known")
    elif kind != "compute" and not is_usual:
        effects.add(library_effects.usage_effect(kind, name))
    elif bound and not is_usual and name in _IMPORTS["sensitive"]:
        effects.add_unknown(f"imports {name} under another name")
    if kind == "compute" and (part := library_effects.hidden_part(name)):
        library_effects.add_internals(part, effects)


def _read_member(module: str, name: str, bound: str, effects: EffectCollector) -> None:
    full = f"{module}.{name}"
    kind = library_effects.default_kind(full)
    is_usual = ALIASES.get(bound) == full
    if name == "*":
        if module not in _IMPORTS["starred"]:
            effects.add_unknown(f"imports {full}")
    elif full in library_effects.FILES:
        use, _ = library_effects.FILES[full][0]
        if (use in ("delete", "process") or bound != name) and not is_usual:
            library_effects.add_reference(use, full, effects)
    elif kind is None:
        effects.add_unknown(f"imports {full}, which is not known")
    elif kind != "compute":
        if not is_usual:
            effects.add(library_effects.usage_effect(kind, full))
    elif part := library_effects.hidden_part(full):
        library_effects.add_internals(part, effects)
