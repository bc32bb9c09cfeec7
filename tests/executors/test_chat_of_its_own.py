import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from autogen_nb.executors.block_executor import BlockExecutor
from tests.contract.ways import Agent, kernel, ran
from tests.executors.wheels import wheel

pytestmark = pytest.mark.slow


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Agent]:
    with kernel(tmp_path / "work") as agent:
        yield agent


@pytest.mark.parametrize(
    ("code", "language"),
    [("%pip install --no-index {}", "python"), ("!python -m pip install --no-index {}", "python"),
     ("python -m pip install --no-index {}", "sh")],
    ids=["magic", "command", "shell block"],
)  # fmt: skip
def test_packages_are_installed_for_this_chat_only(chat: Agent, tmp_path: Path, code: str, language: str) -> None:
    chat.python("x = 1")
    said = chat.run((language, code.format(wheel(tmp_path, "autogen_nb_sample")))).text
    assert "Successfully installed autogen_nb_sample-1.0" in said.replace("autogen-nb-sample", "autogen_nb_sample")

    look = "import autogen_nb_sample; print(autogen_nb_sample.value, autogen_nb_sample.__file__)"
    text = chat.python(look).text
    assert text.startswith("from the wheel")
    assert not text.split()[-1].startswith(os.path.realpath(os.__file__).rpartition("lib")[0])
    chat.loop.run(chat.executor.restart())  # type: ignore[attr-defined]  # of a kernel's executor
    assert chat.python(look).text == text
    assert chat.run(("sh", f'python -c "{look}"')).text == text
    chat.loop.run(chat.executor.stop())
    assert not Path(text.split()[-1]).exists()
    assert chat.python(look).exit_code == 1


def test_a_variable_that_was_kept_from_the_code_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "planted")
    read = ("python", "import os\nprint(os.environ['MY_API_KEY'])")

    lacking = ran(BlockExecutor(cwd=tmp_path), read)
    other = ran(BlockExecutor(cwd=tmp_path), ("python", "{}['MY_API_KEY']"))
    having = ran(BlockExecutor(cwd=tmp_path, passed=["MY_API_KEY"]), read)

    assert "MY_API_KEY is set in the notebook but withheld from the agent's code" in lacking.note
    assert "planted" not in lacking.note
    assert other.note == ""
    assert having.text == "planted\n"
