"""The guard's other side: what a block may do goes along with its request, signed, and its questions come to a person.

The guard itself runs inside the agent's kernel (`guard`).
"""

import json
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.core.text.visible_text import visible
from autogen_nb.effects import KINDS, Effect, EffectJudged, EffectKind, Permissions
from autogen_nb.kernels.inside.guard_questions import FIELD, MARK, signed

Allow: TypeAlias = Callable[[Effect, str], Awaitable[EffectJudged]]
"""Asks a person: the effect, and the line of the code that waits."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """What a block may do while it runs, and who is asked about the rest."""

    permissions: Permissions
    scope: PathScope
    allow: Allow | None = None


@dataclass(frozen=True, slots=True)
class GuardQuestion:
    """A question of the guard's."""

    number: str
    effect: Effect
    line: int


BlockPermissions: TypeAlias = Guarded | Literal["ours"] | None
"""What a request's code may do: what is let through, anything since it is our own, or anything."""


_EVERYTHING = Permissions(tuple(Effect(kind) for kind in KINDS))


@dataclass(slots=True)
class GuardClient:
    """Speaks with the guard of one kernel."""

    is_remote: bool = False
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    _number: int = 0
    _scope: PathScope | None = None

    def secretly(self) -> dict[str, Any]:
        """The fields of the request that puts the guard there."""
        return {FIELD: {"secret": self.secret.hex()}}

    def permissions(self, permissions: BlockPermissions) -> dict[str, Any]:
        """The fields of a request that say what its code may do."""
        self._number += 1
        told: dict[str, Any] = {"number": self._number, "permissions": None if permissions is None else "ours"}
        if permissions is None and self._scope is not None:
            # A guard that watches goes on, so that nothing which runs after the block has this leave.
            permissions = Guarded(_EVERYTHING, self._scope)
        if isinstance(permissions, Guarded):
            self._scope = scope = permissions.scope
            told["permissions"] = [[effect.kind, effect.target] for effect in permissions.permissions.effects]
            told["scope"] = _remote_scope(scope) if self.is_remote else [scope.folder, scope.own, scope.home]
        text = json.dumps(told)
        return {FIELD: {"text": text, "signature": signed(self.secret, text)}}

    def asked(self, prompt: str) -> GuardQuestion | None:
        """The question that a prompt on stdin is, if it is one of the guard's."""
        if not prompt.startswith(MARK):
            return None
        signature, _, text = prompt[len(MARK) :].partition(" ")
        if signature != signed(self.secret, text):
            return None
        found = json.loads(text)
        kind = found["kind"] if found["kind"] in KINDS else "unknown"
        # A name of a file may disguise what it is.
        words = visible(found["words"]).replace("\n", "[U+000A]")
        effect = Effect(cast("EffectKind", kind), found["target"], words)
        return GuardQuestion(found["number"], effect, int(found["line"]))

    def answer(self, asked: GuardQuestion, judged: EffectJudged) -> str:
        """What is sent back for it."""
        text = json.dumps(
            {"number": asked.number, "allowed": judged.allowed, "reason": judged.reason, "stop": judged.stop}
        )
        return json.dumps({"text": text, "signature": signed(self.secret, text)})


def _remote_scope(scope: PathScope) -> list[str]:
    """The scope for a kernel with a disk of its own: the chat's folder lies below the kernel's working directory."""
    folder = f"{scope.folder}/"
    return ["", scope.own.removeprefix(folder) if scope.own.startswith(folder) else "", ""]
