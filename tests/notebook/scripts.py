"""What the scripted model says in the tests of the magics, and notebooks that such a test has for itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autogen_nb.testing import FakeOpenAI
from tests.notebook.conftest import environment
from tests.notebook.front_end import FrontEnd


def python(*blocks: str, words: str = "Let me see.") -> str:
    return "\n\n".join((words, *(f"```python\n{block}\n```" for block in blocks)))


@contextmanager
def opened(folder: Path, server: FakeOpenAI, home: Path | None = None, **environ: str) -> Iterator[FrontEnd]:
    more = {"OPENAI_BASE_URL": server.base_url, "AUTOGEN_NB_MODEL": "scripted", **environ}
    with FrontEnd(folder, environment(home or folder, **more)) as front:
        front.run("%load_ext autogen_nb", "load")
        yield front
