import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from autogen_nb.agents.teams.team_messages import CodeExecutionEvent, CodeGenerationEvent
from autogen_nb.agents.user_proxy import ApprovalRequest, ApprovalResponse, CodeExecutorAgent, UserProxyAgent
from autogen_nb.core.chats.team_flow import NO_CODE
from autogen_nb.core.ports import RunEnded
from autogen_nb.errors import CallbackError, ConfigError
from autogen_nb.messages import CodeBlock
from autogen_nb.testing import ScriptedExecutor, ScriptedModel
from tests.agents.teams import by_turns, done, finished, kinds, says, spoken

CODE = "```python\nprint(1)\n```"
RAN = "exitcode: 0 (execution succeeded)\nCode output: 1"


def prints() -> ScriptedExecutor:
    return ScriptedExecutor(lambda block: "1\n" if block.code == "print(1)" else RunEnded(1, 1))


def test_user_proxy_runs_the_code_of_the_last_message() -> None:
    executor = prints()
    proxy = UserProxyAgent("executor", code_execution_config={"code_executor": executor})
    result = done(by_turns(says("coder", CODE, "no code"), proxy, max_turns=4))

    assert [text for _, text in spoken(result)][1:] == [CODE, RAN, "no code", NO_CODE]
    assert executor.blocks == [CodeBlock("python", "print(1)")]


def test_approval_func() -> None:
    asked: list[ApprovalRequest] = []

    async def approve(request: ApprovalRequest) -> ApprovalResponse:
        asked.append(request)
        return ApprovalResponse(approved=request.code == "print(1)", reason="too risky")

    runner = CodeExecutorAgent("runner", prints(), approval_func=approve)
    result = done(by_turns(says("coder", CODE, "```python\nos.remove('x')\n```"), runner, max_turns=4))

    assert [request.code for request in asked] == ["print(1)", "os.remove('x')"]
    assert asked[0].context == [{"source": "user", "content": "start"}, {"source": "coder", "content": CODE}]
    assert spoken(result)[2] == ("runner", RAN)
    assert "too risky" in spoken(result)[4][1]


def test_invalid_approval_and_number_of_retries_are_refused() -> None:
    executor = prints()
    runner = CodeExecutorAgent("runner", executor, approval_func=lambda _: "yes")

    with pytest.raises(CallbackError, match="approval_func of runner returned 'yes'"):
        done(by_turns(says("coder", CODE), runner, max_turns=2))
    assert executor.blocks == []
    with pytest.raises(ConfigError, match="max_retries_on_error is -1"):
        CodeExecutorAgent("runner", executor, max_retries_on_error=-1)


def test_written_and_run() -> None:
    model = ScriptedModel(["```python\n1/0\n```", CODE, "It is 1."])
    runner = CodeExecutorAgent("runner", prints(), model_client=model, max_retries_on_error=1)
    result = done(runner)
    generated = [each for each in result.messages if isinstance(each, CodeGenerationEvent)]
    ran = [each for each in result.messages if isinstance(each, CodeExecutionEvent)]

    assert kinds(result.messages)[1:] == ["CodeGenerationEvent", "CodeExecutionEvent"] * 2 + ["TextMessage"]
    assert [(each.retry_attempt, each.code_blocks[0].code) for each in generated] == [(0, "1/0"), (1, "print(1)")]
    assert [(each.retry_attempt, each.result.exit_code) for each in ran] == [(0, 1), (1, 0)]
    assert ran[1].to_text() == RAN
    assert [each["role"] for each in model.requests[2].messages] == ["system", "user", *["assistant", "user"] * 2]
    assert spoken(result)[-1] == ("runner", "It is 1.")


class Owned(ScriptedExecutor):
    held = False


@pytest.mark.parametrize(("held", "stopped"), [(False, 1), (True, 0)])
def test_what_nobody_started_is_stopped(held: bool, stopped: int) -> None:
    executor = Owned({"print(1)": "1"})
    executor.held = held
    done(by_turns(says("coder", CODE), CodeExecutorAgent("runner", executor), max_turns=2))

    assert executor.stopped == stopped

    with pytest.raises(AssertionError, match="no output for"):
        done(by_turns(says("coder", CODE.replace("1", "2")), CodeExecutorAgent("runner", executor), max_turns=2))
    assert executor.stopped == 2 * stopped


@pytest.mark.slow
def test_jupyter_executor_in_a_team(tmp_path: Path) -> None:
    from autogen_nb.executors.jupyter_code_executor import JupyterCodeExecutor

    blocks = ["```python\nx = 1\n```", "```python\nprint(x)\n```"]

    def team(executor: Any, texts: Sequence[str]) -> Any:
        return by_turns(says("coder", *texts), CodeExecutorAgent("runner", executor), max_turns=2)

    async def held() -> str:
        async with JupyterCodeExecutor(work_dir=tmp_path) as executor:
            await team(executor, blocks[:1]).run(task="set")
            assert executor.pid is not None
            return str((await team(executor, blocks[1:]).run(task="print")).messages[-1].to_text())

    loose = JupyterCodeExecutor(work_dir=tmp_path)
    done(team(loose, blocks[:1]))
    finished(loose.stop())

    assert loose.pid is None
    assert asyncio.run(held()) == RAN
