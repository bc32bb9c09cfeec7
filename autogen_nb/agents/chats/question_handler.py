"""Who answers a chat's questions: the agents' models and executors, their own methods, a person."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, NoReturn, assert_never, cast

from autogen_nb.agents.chats import person_tool, speaker_questions
from autogen_nb.agents.chats.participant import Participant
from autogen_nb.agents.chats.user_overrides import UserOverrides
from autogen_nb.agents.parts import code_execution, tool_use
from autogen_nb.agents.parts.prompts import REFLECT
from autogen_nb.core.chats.message_roles import wire
from autogen_nb.core.people import Human
from autogen_nb.core.ports import Completion, Model, ModelRequest
from autogen_nb.errors import CallbackError, ConfigError
from autogen_nb.events import (
    Answer,
    ApprovalAsked,
    CandidatesAsked,
    CodeAsked,
    CodeInputAsked,
    CodeRan,
    EffectAsked,
    EndingAsked,
    FunctionsAsked,
    FunctionsReturned,
    HumanInputAsked,
    HumanInputGiven,
    MessagesAsked,
    ModelAsked,
    ModelDelta,
    ModelReplied,
    OpeningAsked,
    OpeningGiven,
    Question,
    ReasoningDelta,
    ReceiveAsked,
    ReplyAsked,
    ReplyFunctionAsked,
    SendAsked,
    SpeakerAsked,
    SummaryAsked,
    SummaryGiven,
    TerminationAsked,
    TerminationJudged,
    Transient,
)
from autogen_nb.messages import Message, Reasoning
from autogen_nb.outputs import Stream
from autogen_nb.run import OnCaller, OnEngine, Waits


def _not_asked() -> NoReturn:
    raise AssertionError("only the flow of a chat between two agents asks this")


class QuestionHandler:
    """Answers the questions of a flow by the agents of a chat, and the person beside them.

    Parameters
    ----------
    agents
        Every agent that the flow may name.
    human
        Who is asked where no agent has a method of its own for it.
    opening, summary
        What answers the two questions that belong to the chat and not to an agent.
    offsets
        How many messages more or fewer an agent remembers than the flow counts; agents may have forgotten some.
    waits
        "sync" where the caller waits, "async" where it awaits: which of an agent's twin methods is meant.
    silent
        Whether the chat is not shown; the agents' own methods are told.
    through
        What is put around a model before it is asked, such as a cache.
    """

    def __init__(
        self,
        agents: Mapping[str, Participant],
        human: Human,
        *,
        waits: Waits,
        opening: Callable[[], Message | Awaitable[Message]] = _not_asked,
        summary: Callable[[], OnCaller | OnEngine] = _not_asked,
        offsets: Mapping[str, int] | None = None,
        silent: bool = False,
        through: Callable[[Model], Model] = lambda model: model,
    ) -> None:
        self._agents = agents
        self._human = human
        self._through = through
        self._opening = opening
        self._summary = summary
        self._awaits = waits == "async"
        self._offsets: Mapping[str, int] = {} if offsets is None else offsets
        self._own = UserOverrides(agents, human, waits, silent=silent, offsets=self._offsets)

    def __call__(self, question: Question) -> OnCaller | OnEngine:  # noqa: C901  # one row for each question
        """Who answers the question."""
        match question:
            case ModelAsked():
                return self._model(question)
            case CodeAsked():
                return self._code(question)
            case HumanInputAsked() | ApprovalAsked():
                return OnCaller(lambda: self._person(question))
            case EffectAsked() | CodeInputAsked():
                return OnCaller(lambda: code_execution.answer_code_question(self._human, question))
            case FunctionsAsked():
                return OnCaller(lambda: self._functions(question))
            case TerminationAsked():
                return OnCaller(lambda: self._terminated(question))
            case ReplyFunctionAsked() | ReplyAsked() | SendAsked() | ReceiveAsked() | MessagesAsked():
                return OnCaller(lambda: self._own(question))
            case SpeakerAsked():
                return speaker_questions.answer_speaker_question(
                    self._agents, question, awaits=self._awaits, through=self._through
                )
            case OpeningAsked() | SummaryAsked():
                return OnCaller(self._opened) if isinstance(question, OpeningAsked) else self._summary()
            case CandidatesAsked() | EndingAsked():
                raise AssertionError("only the flow of a team asks this")
            case _:
                assert_never(question)

    def _model(self, asked: ModelAsked) -> OnEngine:
        agent, peer = self._agents[asked.agent], self._agents[asked.peer]
        if agent.model is None:
            raise ConfigError(f"{agent.name} has no model; give it an llm_config")
        known = agent.reply_messages(peer, asked.count + self._offsets.get(agent.name, 0))
        model, request = self._through(agent.model), model_request(agent, known)
        return OnEngine(lambda: ask_model(model, request, agent.name))

    def _code(self, asked: CodeAsked) -> OnCaller | OnEngine:
        agent = self._agents[asked.agent]
        config = agent.code
        assert config is not None
        if agent.overrides("execute_code_blocks") or agent.overrides("run_code"):
            return OnCaller(lambda: _own_run(agent, asked))
        return OnEngine(lambda: code_execution.run_blocks(config, asked, self._human))

    def _person(self, asked: HumanInputAsked | ApprovalAsked) -> Answer | Awaitable[Answer]:
        return self._words(asked) if isinstance(asked, HumanInputAsked) else self._human.approve(asked)

    def _words(self, asked: HumanInputAsked) -> HumanInputGiven | Awaitable[HumanInputGiven]:
        agent = self._agents[asked.agent]
        if self._awaits and agent.overrides("a_get_human_input"):
            return _words_awaited(agent, asked.prompt)
        if agent.overrides("get_human_input"):
            return _words(agent, agent.get_human_input(asked.prompt))
        return (
            person_tool.answer_or_nobody(lambda: self._human.input(asked))
            if asked.by_tool
            else self._human.input(asked)
        )

    def _functions(self, asked: FunctionsAsked) -> Answer | Awaitable[Answer]:
        agent = self._agents[asked.agent]
        if agent.overrides("execute_function"):
            calls = ({"name": call.name, "arguments": call.arguments} for call in asked.calls)
            return FunctionsReturned(tuple(str(agent.execute_function(call)[1]["content"]) for call in calls))
        results = [tool_use.call_function(agent.function_map, call.name, call.arguments)[1] for call in asked.calls]
        if any(isinstance(result, Awaitable) for result in results):
            return _finished(results)
        return FunctionsReturned(tuple(map(tool_use.result_text, results)))

    def _terminated(self, asked: TerminationAsked) -> TerminationJudged:
        agent, peer = self._agents[asked.agent], self._agents[asked.peer]
        message = agent.reply_messages(peer, asked.count + self._offsets.get(agent.name, 0))[-1]
        try:
            return TerminationJudged(bool(cast("Any", agent.is_termination_msg)(message)))
        except Exception as error:
            raise CallbackError(
                f"is_termination_msg of {agent.name} raised {type(error).__name__} on the message "
                f"{message.get('content')!r}: {error}"
            ) from error

    def _opened(self) -> Answer | Awaitable[Answer]:
        message = self._opening()
        return _opened(message) if isinstance(message, Awaitable) else OpeningGiven(message)


def model_request(agent: Participant, messages: Sequence[Mapping[str, Any]], *, calls: bool = True) -> ModelRequest:
    """What the agent's model is asked: its system message, then the conversation; `calls` says whether it may call."""
    system = [{"role": "system", "content": agent.system_message}] if agent.system_message else []
    tools, functions = (agent.tools.definitions, agent.tools.functions) if calls else ((), ())
    return ModelRequest((*system, *wire(messages)), tools, functions)


def ask_for_summary(
    model: Model, agent: Participant, messages: list[dict[str, Any]], args: Mapping[str, Any]
) -> OnEngine:
    """The summary that a model makes of a conversation."""
    role = args.get("summary_role", "system")
    instruction = {"role": role, "content": args.get("summary_prompt", REFLECT)}
    request = ModelRequest((*wire(messages), instruction))

    async def stream() -> AsyncIterator[Transient | Answer]:
        async for item in ask_model(model, request, agent.name):
            if isinstance(item, ModelReplied):
                yield SummaryGiven(
                    item.message.text,
                    cost=item.cost,
                    usage=item.usage,
                    model=item.model,
                    cached=item.cached,
                    host=item.host,
                )

    return OnEngine(stream)


async def ask_model(
    model: Model, request: ModelRequest, agent: str
) -> AsyncIterator[ModelDelta | ReasoningDelta | ModelReplied]:
    """What a model replies, piece by piece and then as a whole."""
    begun = time.monotonic()
    async with aclosing(cast("Any", model.reply(request))) as parts:
        async for part in parts:
            if isinstance(part, Completion):
                seconds = time.monotonic() - begun
                yield ModelReplied(
                    part.message,
                    part.model,
                    usage=part.usage,
                    finish_reason=part.finish_reason,
                    cost=part.cost,
                    seconds=seconds,
                    cached=part.cached,
                    note=part.note,
                    host=part.host,
                    reasoning=part.reasoning,
                )
            elif isinstance(part, Reasoning):
                yield ReasoningDelta(agent, part.text)
            else:
                yield ModelDelta(agent, part)


def _own_run(agent: Participant, asked: CodeAsked) -> CodeRan:
    begun = time.monotonic()
    exit_code, log = agent.execute_code_blocks([(block.language, block.code) for block in asked.blocks])[:2]
    outputs = (Stream("stdout", str(log)),) if log else ()
    return CodeRan(int(exit_code), outputs, len(asked.blocks), seconds=time.monotonic() - begun)


async def _words_awaited(agent: Participant, prompt: str) -> HumanInputGiven:
    return _words(agent, await agent.a_get_human_input(prompt))


def _words(agent: Participant, text: str | None) -> HumanInputGiven:
    """What an overridden method said; None is taken for saying nothing, as AutoGen 0.2 takes it."""
    return HumanInputGiven("" if text is None else str(text), by=agent.name)


async def _finished(results: list[Any]) -> FunctionsReturned:
    """The results, once all that are awaited at the same time have come."""

    async def text(result: Any) -> str:
        return tool_use.result_text(
            (await tool_use.await_function(result))[1] if isinstance(result, Awaitable) else result
        )

    return FunctionsReturned(tuple(await asyncio.gather(*map(text, results))))


async def _opened(message: Awaitable[Message]) -> OpeningGiven:
    return OpeningGiven(await message)
