"""Signs permissions for the guard in the agent's kernel (`inside/guard.py`), and parses the guard's questions."""

import json
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.core.text.visible_text import visible
from autogen_nb.effects import KINDS, Effect, EffectJudged, EffectKind, Permissions
from autogen_nb.kernels.inside.guard_questions import FIELD, MARK, sign

Allow: TypeAlias = Callable[[Effect, str], Awaitable[EffectJudged]]
"""Asks a person about an effect; the second argument is the line of code with this effect."""


@dataclass(frozen=True, slots=True)
class Guarded:
    permissions: Permissions
    scope: PathScope
    allow: Allow | None = None


@dataclass(frozen=True, slots=True)
class GuardQuestion:
    number: str
    effect: Effect
    line: int


BlockPermissions: TypeAlias = Guarded | Literal["ours"] | None
"""The permissions of a request's code; "ours" marks code of this package, and None allows everything."""


_EVERYTHING = Permissions(tuple(Effect(kind) for kind in KINDS))


@dataclass(slots=True)
class GuardClient:
    is_remote: bool = False
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    scheduler: tuple[str, int] | None = None
    """The host and port of the Dask scheduler to which the kernel may connect without a question."""

    _number: int = 0
    _scope: PathScope | None = None

    def permission_fields(self, permissions: BlockPermissions) -> dict[str, Any]:
        self._number += 1
        content: dict[str, Any] = {"number": self._number, "permissions": None if permissions is None else "ours"}
        content["scheduler"] = self.scheduler
        if permissions is None and self._scope is not None:
            # An earlier block has activated the guard, so an unrestricted block needs all permissions.
            permissions = Guarded(_EVERYTHING, self._scope)
        if isinstance(permissions, Guarded):
            self._scope = scope = permissions.scope
            content["permissions"] = [[effect.kind, effect.target] for effect in permissions.permissions.effects]
            content["scope"] = _remote_scope(scope) if self.is_remote else [scope.folder, scope.own, scope.home]
        text = json.dumps(content)
        return {FIELD: {"text": text, "signature": sign(self.secret, text)}}

    def parse_question(self, prompt: str) -> GuardQuestion | None:
        if not prompt.startswith(MARK):
            return None
        signature, _, text = prompt[len(MARK) :].partition(" ")
        if signature != sign(self.secret, text):
            return None
        fields = json.loads(text)
        kind = fields["kind"] if fields["kind"] in KINDS else "unknown"
        # The words may contain a file name with deceptive characters.
        words = visible(fields["words"]).replace("\n", "[U+000A]")
        effect = Effect(cast("EffectKind", kind), fields["target"], words)
        return GuardQuestion(fields["number"], effect, int(fields["line"]))

    def answer(self, question: GuardQuestion, judgement: EffectJudged) -> str:
        text = json.dumps(
            {
                "number": question.number,
                "allowed": judgement.allowed,
                "reason": judgement.reason,
                "stop": judgement.stop,
            }
        )
        return json.dumps({"text": text, "signature": sign(self.secret, text)})


def _remote_scope(scope: PathScope) -> list[str]:
    """The scope for a kernel with files of its own: only the chat's own folder, relative to the working directory."""
    folder = f"{scope.folder}/"
    return ["", scope.own.removeprefix(folder) if scope.own.startswith(folder) else "", ""]
