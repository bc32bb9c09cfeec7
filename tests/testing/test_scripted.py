import asyncio

import pytest

from autogen_nb.core.ports import RunEnded
from autogen_nb.events import ApprovalAsked, HumanInputAsked
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Output
from autogen_nb.testing import ScriptedExecutor, ScriptedHuman, ScriptedModel
from tests.models.asking import ask, error_of

BLOCK = CodeBlock("python", "1 + 1")


def test_script_that_ran_out_says_so() -> None:
    model = ScriptedModel(["x"], "tester")
    ask(model)

    assert "'tester'" in str(error_of(model))
    assert repr(model) == "<ScriptedModel 'tester', 2 of 1 replies requested>"


def test_person_without_a_script_says_what_was_asked() -> None:
    human = ScriptedHuman()

    with pytest.raises(AssertionError, match="what now"):
        human.input(HumanInputAsked("a", "b", "what now?"))
    with pytest.raises(AssertionError, match=r"1 \+ 1"):
        human.approve(ApprovalAsked("a", BLOCK))
    assert repr(human) == "<ScriptedHuman with 0 inputs and 0 approvals left>"


def run(executor: ScriptedExecutor, *codes: str) -> list[Output | RunEnded]:
    async def items() -> list[Output | RunEnded]:
        return [item async for item in executor.run([CodeBlock("python", code) for code in codes])]

    return asyncio.run(items())


def test_end_of_a_run_can_be_scripted() -> None:
    assert run(ScriptedExecutor({"a": RunEnded(124, 1, "restarted")}), "a", "b") == [RunEnded(124, 1, "restarted")]


def test_code_that_is_not_in_the_script_is_named() -> None:
    executor = ScriptedExecutor({})

    with pytest.raises(AssertionError, match="surprise"):
        run(executor, "surprise")
    assert repr(executor) == "<ScriptedExecutor, 1 blocks run>"
