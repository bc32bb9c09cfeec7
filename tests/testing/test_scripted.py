import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from autogen_nb.core.people import Human
from autogen_nb.core.ports import Completion, Executor, Model, ModelRequest, RunEnded
from autogen_nb.events import ApprovalAsked, ApprovalGiven, HumanInputAsked, HumanInputGiven
from autogen_nb.messages import CodeBlock, Message, Usage
from autogen_nb.outputs import Failure, Output, Result, Stream
from autogen_nb.testing import ScriptedExecutor, ScriptedHuman, ScriptedModel
from tests.models.asking import HELLO, ask, error_of

CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
BLOCK = CodeBlock("python", "1 + 1")


def test_doubles_fit_the_ports() -> None:
    model: Model = ScriptedModel([])
    human: Human = ScriptedHuman()
    executor: Executor = ScriptedExecutor({})

    assert [type(double).__name__[:8] for double in (model, human, executor)] == ["Scripted"] * 3


# The model


def test_scripted_text_is_streamed_in_pieces() -> None:
    answered = ask(ScriptedModel(["one two three"], "tester"))

    assert answered.pieces == ("one ", "two ", "three")
    assert answered.completion == Completion(Message(content="one two three"), "tester", Usage(1, 3), "stop")


@pytest.mark.parametrize(
    ("reply", "finish"),
    [
        (Message(tool_calls=[CALL]), "tool_calls"),
        ({"content": None, "tool_calls": [CALL]}, "tool_calls"),
        ({"function_call": CALL["function"]}, "function_call"),
        (Completion(Message(content="x"), "m", None, "length"), "length"),
    ],
    ids=["message", "mapping", "function", "completion"],
)
def test_scripted_reply_may_be_more_than_text(reply: Any, finish: str) -> None:
    assert ask(ScriptedModel([reply])).completion.finish_reason == finish


def test_scripted_exception_is_raised() -> None:
    error = TimeoutError("slow")

    assert error_of(ScriptedModel([error])) is error


def test_requests_are_kept() -> None:
    model = ScriptedModel(["x"])
    ask(model, HELLO)

    assert model.requests == [ModelRequest((HELLO,))]


def test_script_that_ran_out_says_so() -> None:
    model = ScriptedModel(["x"], "tester")
    ask(model)

    assert "'tester'" in str(error_of(model))
    assert repr(model) == "<ScriptedModel 'tester', 2 of 1 replies asked for>"


# The person


def test_scripted_person_answers_in_order() -> None:
    human = ScriptedHuman(inputs=["yes"], approvals=["run", ApprovalGiven("skip", reason="why")])
    questions: Sequence[Any] = [ApprovalAsked("a", BLOCK), HumanInputAsked("a", "b", ">"), ApprovalAsked("a", BLOCK)]

    answers = [human.approve(questions[0]), human.input(questions[1]), human.approve(questions[2])]

    assert answers == [
        ApprovalGiven("run", by="scripted"),
        HumanInputGiven("yes", by="scripted"),
        ApprovalGiven("skip", reason="why"),
    ]
    assert human.asked == questions


def test_person_without_a_script_says_what_was_asked() -> None:
    human = ScriptedHuman()

    with pytest.raises(AssertionError, match="what now"):
        human.input(HumanInputAsked("a", "b", "what now?"))
    with pytest.raises(AssertionError, match=r"1 \+ 1"):
        human.approve(ApprovalAsked("a", BLOCK))
    assert repr(human) == "<ScriptedHuman with 0 inputs and 0 approvals left>"


# The executor


def run(executor: ScriptedExecutor, *codes: str) -> list[Output | RunEnded]:
    """Everything that comes of running these blocks."""

    async def items() -> list[Output | RunEnded]:
        return [item async for item in executor.run([CodeBlock("python", code) for code in codes])]

    return asyncio.run(items())


def test_scripted_outputs_come_block_by_block() -> None:
    executor = ScriptedExecutor({"a": "text", "b": Result({"text/plain": "2"}), "c": ""})

    assert run(executor, "a", "b", "c") == [Stream("stdout", "text"), Result({"text/plain": "2"}), RunEnded(0, 3)]
    assert [block.code for block in executor.blocks] == ["a", "b", "c"]


def test_failure_ends_the_run() -> None:
    failure = Failure("ValueError", "no")
    executor = ScriptedExecutor({"a": [Stream("stdout", "x"), failure], "b": "never"})

    assert run(executor, "a", "b") == [Stream("stdout", "x"), failure, RunEnded(1, 1)]


def test_end_of_a_run_can_be_scripted() -> None:
    assert run(ScriptedExecutor({"a": RunEnded(124, 1, "restarted")}), "a", "b") == [RunEnded(124, 1, "restarted")]


def test_function_can_decide_what_a_block_puts_out() -> None:
    assert run(ScriptedExecutor(lambda block: block.code.upper()), "a")[0] == Stream("stdout", "A")


def test_code_that_is_not_in_the_script_is_named() -> None:
    executor = ScriptedExecutor({})

    with pytest.raises(AssertionError, match="surprise"):
        run(executor, "surprise")
    assert repr(executor) == "<ScriptedExecutor, 1 blocks run>"


def test_stops_are_counted() -> None:
    executor = ScriptedExecutor({})
    asyncio.run(executor.stop())

    assert executor.stopped == 1
