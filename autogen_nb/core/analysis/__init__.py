"""Reads in the text of a block what the block will do, to tell it in words before the block runs.

The reading names the paths, hosts, programs and packages that the text spells. What the text does not spell has an
effect without a target, because the block may do more. The reading is no protection: a guard while the code runs is.
"""

from functools import lru_cache
from typing import Literal

from autogen_nb.core.analysis.cell_effects import read_cell
from autogen_nb.core.analysis.effect_collector import EffectCollector, one_line
from autogen_nb.core.analysis.shell_effects import read_shell
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.effects import Effect, Permissions
from autogen_nb.messages import CodeBlock


@lru_cache(maxsize=128)
def effects(block: CodeBlock, scope: PathScope | None = None) -> tuple[Effect, ...]:
    return _read(block, scope).effects


def permissions(block: CodeBlock, scope: PathScope | None = None, *, guarded: bool = False) -> Permissions:
    """The effects that an approved block may have without another question.

    Behind the guard (`guarded`), they are the effects whose target the text spells.
    """
    collected = _read(block, scope)
    # SQLite opens databases for writing, even for queries, so an effect on a database permits writing it, too.
    opened = (
        Effect("write", effect.target, f"opens {effect.target}")
        for effect in collected.effects
        if effect.target.endswith((".db", ".db3", ".sqlite", ".sqlite3"))
    )
    permitted = dict.fromkeys((*collected.effects, *collected.started, *opened))
    has_guard = guarded and block.language == "python"
    return Permissions(tuple(effect for effect in permitted if effect.target or not has_guard))


def effects_to_confirm(
    confirm: Literal["risky", "always"], block: CodeBlock, scope: PathScope | None = None, *, guarded: bool = False
) -> tuple[Effect, ...] | None:
    """The effects to show in the question about a block; None if the block may run without a question.

    The guard (`guarded`) of Python code asks about effects without a target when they happen.
    """
    predicted = effects(block, scope)
    if confirm == "always":
        return predicted
    if guarded and block.language == "python":
        predicted = tuple(effect for effect in predicted if effect.target)
    return None if all(effect.harmless for effect in predicted) else predicted


def reasons(predicted: tuple[Effect, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(effect.words for effect in predicted if not effect.harmless))


def _read(block: CodeBlock, scope: PathScope | None) -> EffectCollector:
    collected = EffectCollector(scope or PathScope())
    if block.language == "python":
        read_cell(block.code, collected)
    elif block.language in ("sh", "bash"):
        read_shell(block.code, collected)
    else:
        collected.add("unknown", words=f"is {one_line(block.language)} code, which the analysis cannot read")
    return collected
