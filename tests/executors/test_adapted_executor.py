import asyncio
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from autogen_nb.agents.user_proxy import UserProxyAgent
from autogen_nb.errors import CallbackError, ConfigError
from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.executors.code_executor import CodeExecutor, CodeResult
from autogen_nb.executors.command_line_code_executor import LocalCommandLineCodeExecutor
from autogen_nb.executors.jupyter_code_executor import JupyterCodeExecutor
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Stream
from tests.agents.teams import assistant, by_turns, done, spoken
from tests.contract.ways import ran
from tests.kernels.looping import all_of
from tests.processes import gone

BLOCK = "```python\nprint(1)\n```"
RAN = "exitcode: 0 (execution succeeded)\nCode output: python: print(1)"


class Waiting:
    def execute_code_blocks(self, code_blocks: list[Any]) -> CodeResult:
        return CodeResult(0, "\n".join(f"{block.language}: {block.code}" for block in code_blocks))


class Awaiting(CodeExecutor):
    def __init__(self) -> None:
        self.stopped = 0

    async def execute_code_blocks(self, code_blocks: Any, cancellation_token: Any) -> CodeResult:
        assert not cancellation_token.is_cancelled()
        return Waiting().execute_code_blocks(code_blocks)

    async def stop(self) -> None:
        self.stopped += 1


@dataclass
class Returning:
    effect: Callable[[], Any]

    def execute_code_blocks(self, code_blocks: list[Any]) -> Any:
        return self.effect()


@pytest.mark.parametrize("own", [Waiting, Awaiting])
def test_in_chats_of_both_kinds(own: Callable[[], Any]) -> None:
    settings: Any = {"code_execution_config": {"executor": own()}, "human_input_mode": "NEVER"}
    coder = assistant("coder", BLOCK)
    chat = UserProxyAgent("user", **settings).initiate_chat(
        assistant("coder", BLOCK, "done"), message="go", max_turns=2, silent=True
    )
    team = done(by_turns(coder, UserProxyAgent("user", **settings), max_turns=2))

    assert [message["content"] for message in chat.chat_history] == ["go", BLOCK, RAN, "done"]
    assert spoken(team)[-1] == ("user", RAN)


def test_executors_are_instances_of_the_protocol(tmp_path: Path) -> None:
    executors = [Waiting(), LocalCommandLineCodeExecutor(work_dir=tmp_path), JupyterCodeExecutor(work_dir=tmp_path)]

    assert all(isinstance(executor, CodeExecutor) for executor in executors)
    assert not isinstance(object(), CodeExecutor)
    assert [
        UserProxyAgent("u", code_execution_config={"executor": each}).code_executor for each in executors
    ] == executors


@pytest.mark.parametrize(
    ("effect", "error", "told"),
    [
        (lambda: 1 / 0, CallbackError, "execute_code_blocks of Returning.* raised ZeroDivisionError"),
        (lambda: "hm", ConfigError, "returned 'hm'; it must return a CodeResult"),
    ],
    ids=["raises", "no result"],
)
def test_problem_is_reported(effect: Callable[[], Any], error: type[Exception], told: str) -> None:
    user = UserProxyAgent("user", code_execution_config={"executor": Returning(effect)}, human_input_mode="NEVER")

    with pytest.raises(error, match=told):
        user.initiate_chat(assistant("coder", BLOCK), message="go", silent=True)


def test_a_process_in_the_background_ends_with_the_executor(tmp_path: Path) -> None:
    async def run() -> tuple[int, str]:
        executor = BlockExecutor(cwd=tmp_path)

        async def put_out(code: str) -> str:
            items = await all_of(executor.run([CodeBlock("bash", code)]))
            return "".join(item.text for item in items if isinstance(item, Stream)).replace("noise", "").strip()

        pid = int(await put_out("(while echo noise; do sleep 0.01; done) & echo $!"))
        told = await put_out(f"kill -0 {pid} && echo lives")
        await executor.stop()
        return pid, told

    pid, told = asyncio.run(run())

    assert told == "lives"
    assert gone([pid])


def test_a_link_out_of_the_directory_is_refused(tmp_path: Path) -> None:
    work, outside = tmp_path / "work", tmp_path / "outside"
    work.mkdir()
    outside.mkdir()
    (work / "way").symlink_to(outside)

    end = ran(BlockExecutor(cwd=work), ("python", "# filename: way/out.py\n1"))

    assert (end.exit_code, end.ran) == (1, 1)
    assert list(outside.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="a script of the shell stands in for another Python")
def test_another_python_on_path_is_not_taken(tmp_path: Path) -> None:
    other = tmp_path / "bin"
    other.mkdir()
    for name in ("python", "python3"):
        (other / name).write_text("#!/bin/sh\necho another\n")
        (other / name).chmod(0o755)
    own = Path(sys.executable).parent
    executor = BlockExecutor(in_kernel=False, cwd=tmp_path, environ={"PATH": f"{other}:{own}:/usr/bin:/bin"})
    code = "import sys; print(sys.prefix)"

    assert ran(executor, ("python", code), ("sh", f"python -c '{code}'")).text == f"{sys.prefix}\n{sys.prefix}\n"
