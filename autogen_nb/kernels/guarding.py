"""The guard's other side: what a block may do goes along with its request, signed, and its questions come to a person.

The guard itself runs inside the agent's kernel (`guard`).
"""

import json
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

from autogen_nb.acts import KINDS, Act, ActJudged, ActKind, Leave
from autogen_nb.core.ground import Ground
from autogen_nb.kernels.guard_asking import FIELD, MARK, signed

Allow: TypeAlias = Callable[[Act, str], Awaitable[ActJudged]]
"""Asks a person: the act, and the line of the code that waits."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """What a block may do while it runs, and who is asked about the rest.

    Parameters
    ----------
    allow
        Who is asked; None denies.
    """

    leave: Leave
    ground: Ground
    allow: Allow | None = None

    async def judged(self, act: Act, line: str) -> ActJudged:
        """What is decided about an act; where nobody is there, it does not happen."""
        if self.allow is None:
            return ActJudged(allowed=False, reason="nobody can be asked")
        return await self.allow(act, line)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of the guard's."""

    number: str
    act: Act
    line: int


Terms: TypeAlias = Guarded | Literal["ours"] | None
"""What a request's code may do: what is let through, anything since it is our own, or anything."""


@dataclass(slots=True)
class Guarding:
    """Speaks with the guard of one kernel.

    Parameters
    ----------
    secret
        Known to the guard and to this process.
    """

    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    _number: int = 0

    def secretly(self) -> dict[str, Any]:
        """The fields of the request that puts the guard there."""
        return {FIELD: {"secret": self.secret.hex()}}

    def terms(self, terms: Terms) -> dict[str, Any]:
        """The fields of a request that say what its code may do."""
        self._number += 1
        told: dict[str, Any] = {"number": self._number, "leave": None if terms is None else "ours"}
        if isinstance(terms, Guarded):
            ground = terms.ground
            told["leave"] = [[act.kind, act.target] for act in terms.leave.acts]
            told["ground"] = [ground.folder, ground.own, ground.home]
        text = json.dumps(told)
        return {FIELD: {"text": text, "signature": signed(self.secret, text)}}

    def asked(self, prompt: str) -> Asked | None:
        """The question that a prompt on stdin is, if it is one of the guard's."""
        if not prompt.startswith(MARK):
            return None
        signature, _, text = prompt[len(MARK) :].partition(" ")
        if signature != signed(self.secret, text):
            return None
        found = json.loads(text)
        kind = found["kind"] if found["kind"] in KINDS else "unknown"
        act = Act(cast("ActKind", kind), found["target"], found["words"])
        return Asked(found["number"], act, int(found["line"]))

    def answer(self, asked: Asked, judged: ActJudged) -> str:
        """What is sent back for it."""
        text = json.dumps(
            {"number": asked.number, "allowed": judged.allowed, "reason": judged.reason, "stop": judged.stop}
        )
        return json.dumps({"text": text, "signature": signed(self.secret, text)})
