"""Blocks in a guarded kernel, and somebody who answers what they ask."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.core.policy.permissions import Guarded
from autogen_nb.effects import Effect, EffectJudged, Permissions
from autogen_nb.outputs import Failure
from tests.kernels.looping import Ran, SharedKernel, shared_kernel

DENIED = EffectJudged(allowed=False, reason="not today", by="you")
ALLOWED = EffectJudged(allowed=True, by="you")


class GuardedKernel:
    """A kernel in a folder of its own, whose questions get one answer."""

    def __init__(self, shared: SharedKernel, folder: Path) -> None:
        self.shared = shared
        self.folder = folder
        self.own = folder / "autogen_files" / "chat"
        self.own.mkdir(parents=True)
        self.answer = DENIED
        self.asked: list[Effect] = []

    def run(self, code: str, *let: Effect, answer: EffectJudged = DENIED, nobody: bool = False) -> Ran:
        self.answer, self.asked = answer, []
        return self.shared.execute(code, permissions=self.permissions(*let, nobody=nobody))

    def permissions(self, *let: Effect, nobody: bool = False) -> Guarded:
        scope = PathScope(str(self.folder), str(self.own), str(self.folder.parent / "home"))
        return Guarded(Permissions(let), scope, None if nobody else self._allow)

    def kinds(self, code: str, *let: Effect, answer: EffectJudged = DENIED) -> list[str]:
        self.run(code, *let, answer=answer)
        return [effect.kind for effect in self.asked]

    def targets(self, code: str, *let: Effect, answer: EffectJudged = DENIED) -> list[str]:
        self.run(code, *let, answer=answer)
        return [effect.target for effect in self.asked]

    async def _allow(self, effect: Effect) -> EffectJudged:
        self.asked.append(effect)
        return self.answer


def errors(ran: Ran) -> list[str]:
    return [f"{each.ename}: {each.evalue}" for each in ran.outputs if isinstance(each, Failure)]


@contextmanager
def guarded_kernel(folder: Path, **options: Any) -> Iterator[GuardedKernel]:
    work = folder / "work"
    work.mkdir()
    with shared_kernel(work, grace=3.0, guard=True, **options) as shared:
        yield GuardedKernel(shared, work)
