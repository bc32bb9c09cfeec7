"""Fixtures of the torture suite: one executor for all, that must go on after each case."""

from collections.abc import Iterator

import pytest

from autogen_nb.core.ports import RunEnded
from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Output, Stream
from tests.kernels.looping import Loop, all_of


class Chat:
    def __init__(self, executor: BlockExecutor) -> None:
        self.loop = Loop()
        self.executor = executor

    def run(self, code: str, language: str = "python") -> tuple[list[Output], RunEnded]:
        *outputs, end = self.loop.run(all_of(self.executor.run([CodeBlock(language, code)])), 120)
        assert isinstance(end, RunEnded)
        return [item for item in outputs if not isinstance(item, RunEnded)], end

    def text(self, code: str, language: str = "python") -> str:
        return "".join(item.text for item in self.run(code, language)[0] if isinstance(item, Stream))

    def close(self) -> None:
        self.loop.run(self.executor.stop())
        self.loop.close()


@pytest.fixture(scope="module")
def executor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chat]:
    chat = Chat(BlockExecutor(cwd=tmp_path_factory.mktemp("base") / "work", timeout=60, grace=3))
    yield chat
    chat.close()


@pytest.fixture
def chat(executor: Chat) -> Iterator[Chat]:
    executor.executor.timeout = 60
    yield executor
    executor.executor.timeout = 60
    outputs, end = executor.run("print(1)")
    assert "".join(item.text for item in outputs if isinstance(item, Stream)) == "1\n"
    assert len([item for item in outputs if not isinstance(item, Stream)]) == 0
    assert end.exit_code == 0
