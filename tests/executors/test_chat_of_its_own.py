import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from autogen_nb.core.ports import RunEnded
from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Stream
from tests.executors.wheels import wheel
from tests.kernels.looping import Loop, all_of

pytestmark = pytest.mark.kernel


class Chat:
    def __init__(self, executor: BlockExecutor) -> None:
        self.loop = Loop()
        self.executor = executor

    def run(self, code: str, language: str = "python") -> tuple[str, RunEnded]:
        *outputs, end = self.loop.run(all_of(self.executor.run([CodeBlock(language, code)])), 120)
        assert isinstance(end, RunEnded)
        return "".join(item.text for item in outputs if isinstance(item, Stream)), end


@pytest.fixture
def chat(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Chat]:
    made = Chat(BlockExecutor(cwd=tmp_path / "work", restore="replay", **getattr(request, "param", {})))
    yield made
    made.loop.run(made.executor.stop())
    made.loop.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "language"),
    [("%pip install --no-index {}", "python"), ("!python -m pip install --no-index {}", "python"),
     ("python -m pip install --no-index {}", "sh")],
    ids=["magic", "command", "shell block"],
)  # fmt: skip
def test_packages_are_installed_for_this_chat_only(chat: Chat, tmp_path: Path, code: str, language: str) -> None:
    chat.run("x = 1")
    said, _ = chat.run(code.format(wheel(tmp_path, "autogen_nb_sample")), language)
    assert "Successfully installed autogen_nb_sample-1.0" in said.replace("autogen-nb-sample", "autogen_nb_sample")

    look = "import autogen_nb_sample; print(autogen_nb_sample.value, autogen_nb_sample.__file__)"
    text, _ = chat.run(look)
    assert text.startswith("from the wheel")
    assert not text.split()[-1].startswith(os.path.realpath(os.__file__).rpartition("lib")[0])
    chat.loop.run(chat.executor.restart())
    assert chat.run(look)[0] == text
    assert chat.run(f'python -c "{look}"', "sh")[0] == text
    chat.loop.run(chat.executor.stop())
    assert not Path(text.split()[-1]).exists()
    assert chat.run(look)[1].exit_code == 1


@pytest.mark.slow
def test_blocks_that_succeeded_run_again_after_a_crash(chat: Chat) -> None:
    chat.run("a = [1]; print('first')")
    chat.run("1 / 0")
    chat.run("a.append(2)")
    chat.loop.run(chat.executor.put({"b": 5}))
    text, end = chat.run("import os\nos._exit(3)")

    assert "[1 of 2] a = [1]; print('first')\nfirst\n[2 of 2] a.append(2)\n" in text
    assert end.exit_code == 3
    assert end.note.endswith("its variables are lost. The successful code was run again: 2 blocks.")
    assert chat.run("print(a, b)")[0] == "[1, 2] 5\n"


@pytest.mark.slow
def test_a_variable_that_was_kept_from_the_code_is_named(
    chat: Chat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", "planted")
    lacking = Chat(BlockExecutor(cwd=tmp_path))
    having = Chat(BlockExecutor(cwd=tmp_path, passed=["MY_API_KEY"]))
    _, end = lacking.run("import os\nos.environ['MY_API_KEY']")
    _, other = lacking.run("{}['MY_API_KEY']")
    said, _ = having.run("import os\nprint(os.environ['MY_API_KEY'])")
    for each in (lacking, having):
        each.loop.run(each.executor.stop())
        each.loop.close()

    assert "MY_API_KEY is set in the notebook but withheld from the agent's code" in end.note
    assert "planted" not in end.note
    assert other.note == ""
    assert said == "planted\n"
