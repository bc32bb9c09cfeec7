"""Runs blocks of a stored chat again; calls of `input()` with the same prompts get the earlier answers."""

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import cast

from autogen_nb import run
from autogen_nb.agents.parts.agent_config import CodeConfig
from autogen_nb.agents.parts.code_execution import run_blocks
from autogen_nb.core.chats.chat_flow import Flow
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.core.ports import CodeQuestionAnswerer, Executor, Human
from autogen_nb.events import CodeAsked, CodeInputAsked, CodeInputGiven, CodeRan, EffectAsked, Question, Recorded
from autogen_nb.outputs import Failure


async def run_again(
    request: CodeAsked,
    inner: Sequence[Recorded],
    executor: Executor,
    human: Callable[[PathScope], Human],
    *,
    view: run.View,
    waits: run.Waits,
    output_dir: Path | None = None,
) -> CodeRan:
    """Runs blocks again with their earlier permissions; `inner` has the earlier questions and answers of the code.

    The human decides about effects without a permission; the view shows the questions.
    """
    config = CodeConfig(executor, output_dir=output_dir)
    answers = _EarlierAnswers(human(config.scope), inner)

    def world(question: Question) -> run.OnCaller | run.OnEngine:
        match question:
            case CodeAsked():
                return run.OnEngine(partial(run_blocks, config, question, cast("Human", answers)))
            case EffectAsked():
                return run.OnCaller(lambda: answers.allow(question))
            case CodeInputAsked():
                return run.OnCaller(lambda: answers.typed(question))
            case _:
                raise AssertionError("running code asks nothing else")

    async with aclosing(run.stream_events(_single_question(request), world, tick=view.tick, waits=waits)) as stream:
        async for event in stream:
            if isinstance(event, EffectAsked | CodeInputAsked):
                view.show(event)
            elif isinstance(event, CodeRan):
                return event
    raise AssertionError("the flow ends with the answer to its only question")


def error_of(ran: CodeRan) -> str:
    """The error of a block that failed; "" if all blocks succeeded."""
    failures = (f"{output.ename}: {output.evalue}" for output in ran.outputs if isinstance(output, Failure))
    return next(failures, ran.note or f"exit code {ran.exit_code}") if ran.exit_code else ""


def _single_question(request: CodeAsked) -> Flow:
    yield request


class _EarlierAnswers:
    def __init__(self, human: Human, inner: Sequence[Recorded]) -> None:
        self._human = cast("CodeQuestionAnswerer", human)
        self.allow = self._human.allow
        self._typed: deque[tuple[str, CodeInputGiven]] = deque()
        for question, answer in pairwise(inner):
            if isinstance(question, CodeInputAsked) and isinstance(answer, CodeInputGiven) and not question.password:
                self._typed.append((question.prompt, answer))

    def typed(self, question: CodeInputAsked) -> CodeInputGiven | Awaitable[CodeInputGiven]:
        if self._typed and not question.password and self._typed[0][0] == question.prompt:
            return self._typed.popleft()[1]
        return self._human.typed(question)
