"""Runs an agent's code, in a chat or for a call of `execute_code_blocks` or `run_code`."""

import asyncio
import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Any, cast

from autogen_nb.agents.parts.agent import Agent
from autogen_nb.agents.parts.agent_config import CodeConfig, stop_unreachable_kernels
from autogen_nb.agents.parts.output_collector import OutputCollector, OutputFolder
from autogen_nb.core.ports import AttendedExecutor, Executor, Human, RunEnded
from autogen_nb.core.text.outputs import text_of
from autogen_nb.effects import ENDED, Effect, EffectJudged
from autogen_nb.engine import engine
from autogen_nb.errors import ConfigError
from autogen_nb.events import CodeAsked, CodeInputAsked, CodeInputGiven, CodeRan, EffectAsked, OutputAdded, Recorded
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Output
from autogen_nb.run import Inquiry, InquiryAnswer, describer, without_password
from autogen_nb.trusted import known_secrets


async def run_blocks(
    config: CodeConfig, request: CodeAsked, human: Human, emit: Callable[[OutputAdded | Inquiry], None]
) -> CodeRan:
    """Runs the blocks, and emits their outputs and questions."""
    started = time.monotonic()
    cwd = getattr(config.executor, "cwd", None)
    describe = describer()
    inquirer = Questions(request.agent, emit)

    def show(output: Output) -> None:
        # The person answers questions in batches. An output ends a batch, so that later questions appear below it.
        inquirer.batch = None
        emit(OutputAdded(request.agent, output))

    # Pictures become files if only text can be shown.
    folder = OutputFolder(config.output_dir or (cwd if describe is None else None), cwd)
    secrets = {**known_secrets.secret_values(os.environ), **known_secrets.keys()}
    collector = OutputCollector(folder, show, secrets=secrets, describe=describe)
    if hasattr(config.executor, "attended"):
        executor = cast("AttendedExecutor", config.executor)
        # Only a `CodeQuestionAnswerer` answers the questions of running code.
        asks = inquirer if hasattr(human, "allow") else None
        ended = await executor.attended(
            request.blocks, collector.add, asks, request.permissions, config.scope, config.timeout
        )
    else:
        ended = await run_to_end(config.executor, request.blocks, collector.add)
    outputs, file = collector.end()
    seconds = time.monotonic() - started
    return CodeRan(ended.exit_code, outputs, ended.ran, ended.note, seconds, inquirer.close(), file, ended.changes)


async def run_to_end(executor: Executor, blocks: Sequence[CodeBlock], add: Callable[[Output], object]) -> RunEnded:
    async with aclosing(cast("Any", executor.run(blocks))) as items:
        async for item in items:
            if isinstance(item, RunEnded):
                return item
            add(item)
    raise ConfigError(f"run() of {executor!r} ended without a RunEnded, which it must yield as its last item")


class Questions:
    """Emits the questions of running code, and records them with their answers."""

    def __init__(self, agent: str, emit: Callable[[Inquiry], None], *, by_model: bool = False) -> None:
        self._agent = agent
        self._by_model = by_model
        self._emit = emit
        self._loop = asyncio.get_running_loop()
        self.batch: deque[Inquiry] | None = None
        self._unanswered: dict[asyncio.Future[InquiryAnswer], EffectAsked | CodeInputAsked] = {}
        self._log: list[Recorded] = []

    def close(self) -> tuple[Recorded, ...]:
        """Returns the questions and answers; a question that is still open counts as refused."""
        for answer in tuple(self._unanswered):
            self._record(answer)
        return tuple(self._log)

    async def allow(self, effect: Effect, line: str = "") -> EffectJudged:
        answer = await self._ask(EffectAsked(self._agent, effect, line, self._by_model))
        assert isinstance(answer, EffectJudged)
        return answer

    async def typed(self, prompt: str, password: bool) -> str | None:
        answer = await self._ask(CodeInputAsked(self._agent, prompt, password))
        assert isinstance(answer, CodeInputGiven)
        return answer.text

    async def _ask(self, question: EffectAsked | CodeInputAsked) -> InquiryAnswer:
        answer: asyncio.Future[InquiryAnswer] = self._loop.create_future()

        def settle(result: InquiryAnswer) -> None:
            # The code may already have ended, which cancels the answer.
            if not answer.done():
                answer.set_result(result)

        self.batch = batch = deque() if self.batch is None or isinstance(question, CodeInputAsked) else self.batch
        inquiry = Inquiry(
            question,
            lambda result: self._loop.call_soon_threadsafe(settle, result),
            answer.cancelled,
            lambda: [batch.popleft() for _ in range(len(batch))],
        )
        if isinstance(question, EffectAsked):
            batch.append(inquiry)
        self._unanswered[answer] = question
        self._emit(inquiry)
        try:
            return await answer
        finally:
            self._record(answer)

    def _record(self, answer: "asyncio.Future[InquiryAnswer]") -> None:
        question = self._unanswered.pop(answer, None)
        if question is None:
            return
        answer.cancel()
        undecided = ENDED if isinstance(question, EffectAsked) else CodeInputGiven(None)
        self._log += [question, without_password(question, undecided if answer.cancelled() else answer.result())]


Code = tuple[str, str]
"""A language and code, as AutoGen passes blocks to ``execute_code_blocks``."""


class CodeRunner(Agent):
    """Runs code through AutoGen 0.2's methods; `code` is None for an agent that runs no code."""

    code: CodeConfig | None

    def execute_code_blocks(self, code_blocks: Sequence[Code]) -> tuple[int, str]:
        """Exit code and output of the blocks, which run in order until one fails."""
        logs: list[str] = []
        for language, code in code_blocks:
            exit_code, log, _ = self.run_code(code, lang=language)
            logs.append(log)
            if exit_code != 0:
                return exit_code, "\n".join(logs)
        return 0, "\n".join(logs)

    def run_code(self, code: str, *, lang: str | None = None) -> tuple[int, str, str | None]:
        """Exit code, output, and container image of one block; the image is always None."""
        if self.code is None:
            raise ConfigError(f"{self.name} runs no code; give it a code_execution_config")
        stop_unreachable_kernels(self.code.executor)
        return engine.call(self._run(CodeBlock(lang or "python", code)))

    async def _run(self, block: CodeBlock) -> tuple[int, str, str | None]:
        assert self.code is not None
        outputs: list[Output] = []
        ended = await run_to_end(self.code.executor, (block,), outputs.append)
        return ended.exit_code, text_of(outputs) + (f"\n{ended.note}" if ended.note else ""), None
