"""One executor for all of the torture suite, that must go on after each case."""

from collections.abc import Iterator

import pytest

from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.outputs import Stream
from tests.contract.ways import Agent, Way, plain, running


@pytest.fixture(scope="module")
def executor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    way = Way("torture", plain(lambda folder: BlockExecutor(cwd=folder, grace=3)))
    with running(way, tmp_path_factory.mktemp("base") / "work") as agent:
        yield agent


@pytest.fixture
def chat(executor: Agent) -> Iterator[Agent]:
    yield executor
    ran = executor.python("print(1)", timeout=60)
    assert (ran.text, {type(item) for item in ran.outputs}, ran.exit_code) == ("1\n", {Stream}, 0)
