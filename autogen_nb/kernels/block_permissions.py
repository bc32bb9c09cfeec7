"""What a block may do without a question, and who is asked about the rest."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.effects import Effect, EffectJudged, Permissions

Allow: TypeAlias = Callable[[Effect, str], Awaitable[EffectJudged]]
"""Asks a person about an effect; the second argument is the line of code with this effect, or ""."""


@dataclass(frozen=True, slots=True)
class Guarded:
    permissions: Permissions
    scope: PathScope
    allow: Allow | None = None


BlockPermissions: TypeAlias = Guarded | Literal["ours"] | None
"""The permissions of a request's code; "ours" marks code of this package, and None allows everything."""
