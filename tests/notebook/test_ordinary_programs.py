"""Ordinary programs in a guarded kernel: nobody is asked about anything while they run.

They lie in a file as plain text, each below a line ``=== name | kinds``: what `--confirm risky` asks about before they
run. What code may do then is what was read in it, whether a person was asked about all of it, about some or not at all.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from autogen_nb.agents.parts.agent_config import CodeConfig
from autogen_nb.core.analysis import effects_to_confirm, permissions
from autogen_nb.core.ports import RunEnded
from autogen_nb.effects import Effect, EffectJudged, Permissions
from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Failure, Stream
from tests.corpus import sections
from tests.executors.wheels import wheel
from tests.kernels.looping import Loop, emitted

pytestmark = pytest.mark.slow

PROGRAMS = dict(sections(Path(__file__).with_name("ordinary_programs.txt")))

PACKAGE = """
import ctypes, os, pathlib
ctypes.CDLL(None)
os.environ["ORDINARY_PACKAGE"] = "1"
folder = pathlib.Path(__file__).parent
names = sorted(os.listdir(folder))
def read():
    os.environ["ORDINARY_PACKAGE"] = "2"
    return folder.joinpath("data.txt").read_text(), [path.name for path in folder.glob("*.txt")]
"""
"""What many packages do; the one that does it is installed by the chat."""


class Chat:
    """A kernel in which blocks run once a person has let them; what is asked while they run is allowed, and noted."""

    def __init__(self, folder: Path) -> None:
        own = folder / "autogen_files" / "main"
        own.mkdir(parents=True)
        self.asked: list[Effect] = []
        self._loop = Loop()
        self._executor = BlockExecutor(cwd=folder)
        self.scope = CodeConfig(self._executor, output_dir=own).scope

    def run(self, block: CodeBlock, let: Permissions) -> RunEnded:
        self.asked = []
        work = emitted(lambda emit: self._executor.attended([block], emit, self, let, self.scope))
        *outputs, end = self._loop.run(work, 120)
        assert isinstance(end, RunEnded)
        assert end.exit_code == 0, [item for item in outputs if isinstance(item, Failure | Stream)]
        return end

    def close(self) -> None:
        self._loop.run(self._executor.stop())
        self._loop.close()

    async def allow(self, effect: Effect, line: str = "") -> EffectJudged:
        self.asked.append(effect)
        return EffectJudged(allowed=True, by="you")

    async def typed(self, prompt: str, password: bool) -> str | None:
        """Nothing is typed."""


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chat]:
    folder = tmp_path_factory.mktemp("ordinary")
    (folder / "wheels").mkdir()
    (folder / "data.csv").write_text("a,b\n1,2\n3,4\n")
    (folder / "beside.py").write_text("value = 1\n")
    wheel(folder / "wheels", "ordinary_one")
    files = {"ordinary_package/__init__.py": PACKAGE, "ordinary_package/data.txt": "data"}
    wheel(folder / "wheels", "ordinary_of_many", files)
    made = Chat(folder)
    install = "%pip install --no-index --find-links wheels ordinary_one ordinary_of_many"
    made.run(CodeBlock("python", install), Permissions())
    assert [effect.kind for effect in made.asked] == ["install"]
    yield made
    made.close()


@pytest.mark.parametrize("head", PROGRAMS)
def test_nobody_is_asked_while_it_runs(chat: Chat, head: str) -> None:
    block = CodeBlock("python", PROGRAMS[head])
    before = effects_to_confirm("risky", block, chat.scope) or ()
    assert effects_to_confirm("always", block, chat.scope) is not None

    chat.run(block, permissions(block, chat.scope))

    assert chat.asked == []
    assert {effect.kind for effect in before if not effect.harmless} == set(head.partition("|")[2].split()), before
    assert not Path(chat.scope.folder, "__pycache__").exists()


def test_own_program_starts_by_its_interpreter(chat: Chat) -> None:
    script = Path(chat.scope.folder, "greet.sh")
    script.write_text("#!/bin/sh\necho hello\n")
    script.chmod(0o700)

    assert "run './greet.sh' by its interpreter" in chat.run(CodeBlock("python", "!./greet.sh"), Permissions()).note
    assert chat.run(CodeBlock("python", "!sh ./greet.sh"), Permissions()).note == ""
