"""Predicts the effects of code from its text, before the code runs.

The prediction decides whether to ask the user before a run, and what approved code may do. It is no protection, because
a function with a harmless name may do anything. Unreadable code has the effect "unknown", which needs a question.
"""

from functools import lru_cache
from typing import Literal

from autogen_nb.core.analysis.cell_effects import read_cell
from autogen_nb.core.analysis.effect_collector import EffectCollector, one_line
from autogen_nb.core.analysis.shell_effects import read_shell
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.effects import Effect, Permissions
from autogen_nb.messages import CodeBlock

_DATABASES = (".db", ".db3", ".sqlite", ".sqlite3")


@lru_cache(maxsize=128)
def effects(block: CodeBlock, scope: PathScope | None = None) -> tuple[Effect, ...]:
    return _read(block, scope).effects


def permissions(block: CodeBlock, scope: PathScope | None = None) -> Permissions:
    """The effects that an approved block may have without another question."""
    collected = _read(block, scope)
    # SQLite opens databases for writing, even for queries, so an effect on a database permits writing it, too.
    opened = (
        Effect("write", effect.target, f"opens {effect.target}")
        for effect in collected.effects
        if effect.target.endswith(_DATABASES)
    )
    return Permissions(tuple(dict.fromkeys((*collected.effects, *collected.started, *opened))))


def effects_to_confirm(
    confirm: Literal["risky", "always"], block: CodeBlock, scope: PathScope | None = None
) -> tuple[Effect, ...] | None:
    """The effects to show in the question about a block; None if the block may run without a question."""
    predicted = effects(block, scope)
    if confirm == "risky" and all(effect.harmless for effect in predicted):
        return None
    return predicted


def reasons(predicted: tuple[Effect, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(effect.words for effect in predicted if not effect.harmless))


def _read(block: CodeBlock, scope: PathScope | None) -> EffectCollector:
    collected = EffectCollector(scope or PathScope())
    if block.language == "python":
        read_cell(block.code, collected)
    elif block.language in ("sh", "bash"):
        read_shell(block.code, collected)
    else:
        collected.add_unknown(f"is {one_line(block.language)} code, which the analysis cannot read")
    return collected
