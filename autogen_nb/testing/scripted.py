"""Scripted doubles for a model, a person and an executor."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from autogen_nb.core.ports import Model, ModelRequest, Part, RunEnded
from autogen_nb.effects import EffectJudged
from autogen_nb.events import (
    ApprovalAsked,
    ApprovalGiven,
    CodeInputAsked,
    CodeInputGiven,
    Decision,
    EffectAsked,
    HumanInputAsked,
    HumanInputGiven,
)
from autogen_nb.messages import CodeBlock, Completion, Message, Usage
from autogen_nb.models.client_types import CreateResult, call_on_the_wire
from autogen_nb.models.model_clients import ChatCompletionClient
from autogen_nb.models.wrappers.wrapper import pieces_of_reply
from autogen_nb.outputs import Cleared, Display, Failure, Output, Result, Stream

ScriptedReply: TypeAlias = str | Message | Mapping[str, Any] | Completion | BaseException
"""A reply: a text, a message or its fields, a whole completion, or an exception to raise."""


_Question: TypeAlias = HumanInputAsked | ApprovalAsked | EffectAsked | CodeInputAsked
_Answer = TypeVar("_Answer")


class ScriptedModel:
    """A model that streams scripted replies, in order.

    Attributes
    ----------
    requests : list of ModelRequest
        All requests.
    """

    def __init__(self, replies: Sequence[ScriptedReply], name: str = "scripted") -> None:
        self.requests: list[ModelRequest] = []
        self._replies = list(replies)
        self.name = name

    def __repr__(self) -> str:
        return f"<ScriptedModel {self.name!r}, {len(self.requests)} of {len(self._replies)} replies requested>"

    async def reply(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        """Streams the next reply, or raises AssertionError. The usage counts words, except in a `Completion`."""
        number = len(self.requests)
        self.requests.append(request)
        if number >= len(self._replies):
            raise AssertionError(f"{self!r}: the script ran out")
        scripted = self._replies[number]
        if isinstance(scripted, BaseException):
            raise scripted
        completion = scripted if isinstance(scripted, Completion) else self._completion(scripted, request)
        for piece in pieces_of_reply(completion):
            yield piece
            await asyncio.sleep(0)
        yield completion

    def _completion(self, reply: str | Message | Mapping[str, Any], request: ModelRequest) -> Completion:
        message = Message.of(reply)
        prompt_words = sum(len(str(sent.get("content") or "").split()) for sent in request.messages)
        finish = "tool_calls" if message.tool_calls else "function_call" if message.function_call else "stop"
        return Completion(message, self.name, Usage(prompt_words, len(message.text.split())), finish)


class ScriptedHuman:
    """A person with scripted answers, in a list for each kind of question.

    A question raises AssertionError if the list for its kind is empty.

    Parameters
    ----------
    inputs
        The answers to requests for input.
    approvals
        The decisions on blocks of code: "run", "skip", "stop", or an `ApprovalGiven`.
    effects
        The decisions on effects of running code: True to allow, False to deny, or an `EffectJudged`.
    typing
        The texts for code that calls `input()`; None is the end of the input.

    Attributes
    ----------
    asked : list of HumanInputAsked, ApprovalAsked, EffectAsked or CodeInputAsked
        All questions, in order.
    """

    def __init__(
        self,
        inputs: Sequence[str] = (),
        approvals: Sequence[ApprovalGiven | Decision] = (),
        *,
        effects: Sequence[EffectJudged | bool] = (),
        typing: Sequence[str | None] = (),
    ) -> None:
        self.asked: list[_Question] = []
        self._inputs = list(inputs)
        self._approvals = list(approvals)
        self._effects = list(effects)
        self._typing = list(typing)

    def __repr__(self) -> str:
        return f"<ScriptedHuman with {len(self._inputs)} inputs and {len(self._approvals)} approvals left>"

    def input(self, question: HumanInputAsked) -> HumanInputGiven:
        return HumanInputGiven(self._next(self._inputs, question), by="scripted")

    def approve(self, question: ApprovalAsked) -> ApprovalGiven:
        decision = self._next(self._approvals, question)
        return decision if isinstance(decision, ApprovalGiven) else ApprovalGiven(decision, by="scripted")

    def allow(self, question: EffectAsked) -> EffectJudged:
        judged = self._next(self._effects, question)
        return judged if isinstance(judged, EffectJudged) else EffectJudged(judged, by="scripted")

    def typed(self, question: CodeInputAsked) -> CodeInputGiven:
        return CodeInputGiven(self._next(self._typing, question), by="scripted")

    def _next(self, answers: list[_Answer], question: _Question) -> _Answer:
        self.asked.append(question)
        if not answers:
            raise AssertionError(f"{self!r}: the script has no answer to {question!r}")
        return answers.pop(0)


Ran: TypeAlias = str | Output | Sequence[Output | RunEnded] | RunEnded
"""The result of a block: text on stdout, or outputs; a `RunEnded` sets the exit code and the note."""


class ScriptedExecutor:
    """An executor with scripted outputs.

    Parameters
    ----------
    outputs
        A mapping from the code of each block to its result, or a function of the block that returns its result. A
        `Failure` among the outputs ends the run with exit code 1.

    Attributes
    ----------
    blocks : list of CodeBlock
        All blocks.
    stopped : int
        The number of calls of `stop`.
    """

    def __init__(self, outputs: Mapping[str, Ran] | Callable[[CodeBlock], Ran]) -> None:
        self.blocks: list[CodeBlock] = []
        self.stopped = 0
        self._outputs = outputs

    def __repr__(self) -> str:
        return f"<ScriptedExecutor, {len(self.blocks)} blocks run>"

    async def run(self, blocks: Sequence[CodeBlock]) -> AsyncGenerator[Output | RunEnded, None]:
        """Yields the scripted outputs, then a `RunEnded`; raises AssertionError for code without a result."""
        ended = RunEnded(0, 0)
        for number, block in enumerate(blocks, 1):
            self.blocks.append(block)
            ended = RunEnded(0, number)
            for item in self._items(block):
                if isinstance(item, RunEnded):
                    ended = RunEnded(item.exit_code, number, item.note)
                    continue
                ended = RunEnded(1, number) if isinstance(item, Failure) else ended
                yield item
                await asyncio.sleep(0)
            if ended.exit_code:
                break
        yield ended

    async def stop(self) -> None:
        self.stopped += 1

    def _items(self, block: CodeBlock) -> Sequence[Output | RunEnded]:
        if not callable(self._outputs) and block.code not in self._outputs:
            raise AssertionError(f"{self!r}: the script has no output for {block.code!r}")
        ran = self._outputs(block) if callable(self._outputs) else self._outputs[block.code]
        if isinstance(ran, str):
            return [Stream("stdout", ran)] if ran else []
        return [ran] if isinstance(ran, Stream | Display | Result | Failure | Cleared | RunEnded) else ran


class ReplayChatCompletionClient(ChatCompletionClient):
    """A client with scripted replies.

    Parameters
    ----------
    chat_completions
        The replies: each a `CreateResult`, or a reply for `ScriptedModel`.

    Attributes
    ----------
    scripted : ScriptedModel
        The model behind the client, with its requests.
    """

    def __init__(
        self, chat_completions: Sequence[ScriptedReply | CreateResult], model_info: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(model_info)
        self._replies = [_scripted(reply) for reply in chat_completions]
        self.scripted = ScriptedModel(self._replies, "replay")

    def model(self, extra: Mapping[str, Any]) -> Model:
        del extra
        return self.scripted

    def reset(self) -> None:
        """Restarts with the first reply."""
        self.scripted = ScriptedModel(self._replies, "replay")


def _scripted(reply: ScriptedReply | CreateResult) -> ScriptedReply:
    if not isinstance(reply, CreateResult):
        return reply
    usage = Usage(reply.usage.prompt_tokens, reply.usage.completion_tokens)
    if isinstance(reply.content, str):
        message = Message(reply.content)
    else:
        message = Message(reply.thought, tool_calls=[call_on_the_wire(call) for call in reply.content])
    return Completion(message, "replay", usage, reply.finish_reason, cached=reply.cached)
