"""Blocks in a guarded kernel, and somebody who answers what they ask."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autogen_nb.acts import Act, ActJudged, Leave
from autogen_nb.core.ground import Ground
from autogen_nb.kernels.guarding import Guarded
from autogen_nb.outputs import Failure
from tests.kernels.looping import Ran, SharedKernel, shared_kernel

DENIED = ActJudged(allowed=False, reason="not today", by="you")
ALLOWED = ActJudged(allowed=True, by="you")


class GuardedKernel:
    """A kernel in a folder of its own, whose questions get one answer.

    Attributes
    ----------
    asked : list of (Act, str)
        The questions of the last block, each with its line.
    """

    def __init__(self, shared: SharedKernel, folder: Path) -> None:
        self.shared = shared
        self.folder = folder
        self.own = folder / "autogen_files" / "chat"
        self.own.mkdir(parents=True)
        self.answer = DENIED
        self.asked: list[tuple[Act, str]] = []

    def run(self, code: str, *let: Act, answer: ActJudged = DENIED, nobody: bool = False) -> Ran:
        """What comes of a block that these acts were let through in."""
        self.answer, self.asked = answer, []
        return self.shared.execute(code, terms=self.terms(*let, nobody=nobody))

    def terms(self, *let: Act, nobody: bool = False) -> Guarded:
        """What a block may do."""
        ground = Ground(str(self.folder), str(self.own), str(self.folder.parent / "home"))
        return Guarded(Leave(let), ground, None if nobody else self._allow)

    def kinds(self, code: str, *let: Act, answer: ActJudged = DENIED) -> list[str]:
        """The kinds of what the block asked about, in order."""
        self.run(code, *let, answer=answer)
        return [act.kind for act, _ in self.asked]

    async def _allow(self, act: Act, line: str) -> ActJudged:
        self.asked.append((act, line))
        return self.answer


def errors(ran: Ran) -> list[str]:
    """The exceptions that a block raised, in words."""
    return [f"{each.ename}: {each.evalue}" for each in ran.outputs if isinstance(each, Failure)]


@contextmanager
def guarded_kernel(folder: Path) -> Iterator[GuardedKernel]:
    """A running kernel, ended afterwards."""
    work = folder / "work"
    work.mkdir()
    with shared_kernel(work, grace=3.0) as shared:
        yield GuardedKernel(shared, work)
