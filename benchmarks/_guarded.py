"""The corpus run for real in a kernel whose guard asks, where every question is answered with Deny."""

import asyncio
import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.core.policy.permissions import BlockPermissions, Guarded
from autogen_nb.effects import Effect, EffectJudged, Permissions
from autogen_nb.kernels.kernel import Kernel
from autogen_nb.kernels.places.environment import scrub_environment
from autogen_nb.outputs import Failure, Output
from tests.corpus import FILES, OWN, PRELUDE, Snippet

SECONDS = 20.0
MORE = {
    "../other.csv": "x\n1\n",
    "../values.txt": "1.0\n2.0\n",
    "../data.csv": "x\n1\n",
    "../.ssh/id_rsa": "none\n",
    "data/x.tmp": "x\n",
    "autogen_files/other/old.csv": "x\n",
}
"""What lies around beside what the corpus itself names: what is not there cannot be read or deleted."""
CLEAN = """
import logging, os
logging.root.handlers[:] = []
os.chdir({folder!r})
import requests
session = requests.Session()
plt.close("all")
del logging, os
"""


@dataclass(frozen=True)
class Came:
    """What came of a snippet: what was asked about, and how it ended."""

    asked: tuple[Effect, ...]
    failed: str


class Corpus:
    """A throwaway folder with the files that the snippets read, and a kernel in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "home" / "work"
        self.folder.mkdir(parents=True)
        self.home = folder / "home"
        environ = scrub_environment(os.environ) | {"HOME": str(self.home)}
        self._kernel = Kernel(cwd=self.folder, environ=environ, grace=3.0, guard=True)
        self._asked: list[Effect] = []

    async def run(self, snippet: Snippet) -> Came:
        """What comes of a snippet after the prelude, among fresh files."""
        for name, text in {**FILES, **MORE}.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        await self._execute(f"import os; os.chdir({str(self.folder)!r})\n{PRELUDE}", None)
        await self._execute(CLEAN.format(folder=str(self.folder)), None)
        self._asked = []
        scope = PathScope(str(self.folder), str(self.folder / OWN), str(self.home))
        failed = await self._execute(snippet.code, Guarded(Permissions(), scope, self._deny))
        if snippet.risky and not self._asked:
            # It ran, whatever it did to Python itself.
            await self._kernel.restart()
        return Came(tuple(self._asked), failed)

    async def close(self) -> None:
        await self._kernel.shutdown()

    async def _deny(self, effect: Effect) -> EffectJudged:
        self._asked.append(effect)
        return EffectJudged(allowed=False, reason="the benchmark denies it")

    async def _execute(self, code: str, permissions: BlockPermissions) -> str:
        outputs: list[Output] = []
        outcome = await self._kernel.execute(code, outputs.append, timeout=SECONDS, permissions=permissions)
        failures = (f"{output.ename}: {output.evalue}" for output in outputs if isinstance(output, Failure))
        return next(failures, outcome.note)


def guarded(snippets: Iterable[Snippet]) -> dict[str, Came]:
    """What came of each snippet, by its name; they must be Python, other languages have no guard."""

    async def main(folder: str) -> dict[str, Came]:
        corpus = Corpus(Path(folder))
        try:
            return {each.name: await corpus.run(each) for each in snippets}
        finally:
            await corpus.close()

    with tempfile.TemporaryDirectory(prefix="agn-corpus-", dir=Path.cwd()) as folder:
        return asyncio.run(main(folder))
