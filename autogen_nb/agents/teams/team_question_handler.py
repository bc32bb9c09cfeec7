"""Answers the questions of a team's run: asks its members, the user's functions or a person."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias, cast

from autogen_nb import run
from autogen_nb.agents.chats.participant import Participant, ask_model, model_request
from autogen_nb.agents.chats.question_handler import QuestionHandler
from autogen_nb.agents.parts.agent import call_user_code
from autogen_nb.agents.teams.model_contexts import UnboundedChatCompletionContext, remember
from autogen_nb.agents.teams.run_follower import RunFollower
from autogen_nb.agents.teams.termination_conditions import RunConditions
from autogen_nb.agents.teams.workbenches import offer_tools
from autogen_nb.core.chats.team_flow import Think
from autogen_nb.core.ports import Human, Model
from autogen_nb.engine import engine
from autogen_nb.events import (
    Answer,
    ApprovalAsked,
    Called,
    FunctionsAsked,
    HumanInputAsked,
    HumanInputGiven,
    ModelAsked,
    Question,
    SpeakerAsked,
    SummaryAsked,
)
from autogen_nb.run import OnCaller, OnEngine

OrderQuestion: TypeAlias = SpeakerAsked | SummaryAsked | Called
"""A question of the team's order, which the team answers."""


class TeamQuestionHandler(QuestionHandler):
    def __init__(
        self,
        follower: RunFollower,
        human: Human,
        conditions: RunConditions | None,
        select: Callable[[OrderQuestion], OnCaller | OnEngine],
        *,
        waits: run.Waits,
    ) -> None:
        self._members, self._transcript = follower.members, follower.transcript
        agents = {name: each for name, each in self._members.items() if isinstance(each, Participant)}
        super().__init__(agents, human, waits=waits)
        self._follower, self._select = follower, select
        self.early = EarlyReplies()
        self._calls |= {"generate_reply": self._answer, "memory": self._remember}
        if conditions is not None:
            judge = conditions.judge
            self._calls["termination condition"] = lambda question: judge(question, tuple(follower.unchecked))

    def __call__(self, question: Question) -> OnCaller | OnEngine:
        match question:
            case SpeakerAsked() | SummaryAsked() | Called(function="candidate_func" | "edge condition"):
                return self._select(question)
            case HumanInputAsked(agent=agent) if (ask := getattr(self._members[agent], "input_func", None)) is not None:
                return OnCaller(lambda: _call_input_func(ask, question))
            case ApprovalAsked(agent=agent) if (judge := getattr(self._members[agent], "judge", None)) is not None:
                context = [{"source": each.source, "content": each.to_text()} for each in self._transcript.messages]
                return OnCaller(lambda: cast("Callable[..., Answer]", judge)(question, context))
            case _:
                return super().__call__(question)

    def _model(self, question: ModelAsked) -> OnCaller | OnEngine:
        if (early := self.early.take(question.agent)) is not None:
            return early
        responder = self._request(question)
        if not (isinstance(responder, OnEngine) and self._asks_model_first(question.agent)):
            return responder
        questions = [replace(question, agent=name) for name in self._follower.round if name != question.agent]
        others = {each.agent: self._request(each) for each in questions if self._asks_model_first(each.agent)}
        works = {name: other.work for name, other in others.items() if isinstance(other, OnEngine)}
        return self.early.alongside(responder.work, works) if works else responder

    def _asks_model_first(self, name: str) -> bool:
        step = self._members[name].respond()
        return isinstance(step, Think) and not step.remembers

    def _request(self, question: ModelAsked) -> OnCaller | OnEngine:
        agent, member = self._agents[question.agent], self._members[question.agent]
        context = None if type(member.model_context) is UnboundedChatCompletionContext else member.model_context
        if context is None and not member.workbenches:
            return super()._model(question)

        async def prepare() -> OnEngine:
            await offer_tools(agent, member.workbenches)
            messages = self._messages_for(question)
            if context is not None:
                messages = await context.view(messages[len(member.context) :])
            request = model_request(agent, messages, calls=question.calls == "some")
            return OnEngine(partial(ask_model, cast("Model", agent.model), request, agent.name))

        what = f"the model_context or the workbench of {agent.name}"
        return OnCaller(lambda: call_user_code(prepare, what, lambda request: request))

    def _functions(self, question: FunctionsAsked) -> Any:
        functions, workbenches = super()._functions, self._members[question.agent].workbenches
        if not workbenches:
            return functions(question)

        async def call() -> Any:
            # A resumed run has not listed the tools yet.
            await offer_tools(self._agents[question.agent], workbenches)
            answer = functions(question)
            return await answer if isinstance(answer, Awaitable) else answer

        return call_user_code(call, f"the workbench of {question.agent}", lambda answer: answer)

    def _remember(self, question: Called) -> Answer | Awaitable[Answer]:
        member = self._members[question.agent]
        assert member.model_context is not None
        work = partial(remember, member.name, member.memory, member.model_context)
        return call_user_code(work, f"the memory of {member.name}", lambda returned: returned)

    def _answer(self, question: Called) -> Answer | Awaitable[Answer]:
        return self._members[question.agent].answer(list(self._transcript.unread[question.agent]))

    def _messages_for(self, question: ModelAsked | Called) -> list[Mapping[str, Any]]:
        return self._follower.model_context(question.agent)


def _call_input_func(function: Callable[..., Any], question: HumanInputAsked) -> Answer | Awaitable[Answer]:
    takes_token, agent = len(inspect.signature(function).parameters) > 1, question.agent
    work = partial(function, question.prompt, *[None] * takes_token)
    return call_user_code(work, f"input_func of {agent}", lambda text: HumanInputGiven(str(text), by=agent))


Work: TypeAlias = Callable[[Callable[[Any], None]], Awaitable[Answer]]


class EarlyReplies:
    """Asks the models of a round at the same time: its speakers do not hear each other, so their requests are known."""

    def __init__(self) -> None:
        self._begun: dict[str, tuple[asyncio.Task[Answer], list[Any]]] = {}

    def alongside(self, work: Work, others: Mapping[str, Work]) -> OnEngine:
        """The work of the first speaker; the work of the others, by their names, begins with it."""

        async def begin(emit: Callable[[Any], None]) -> Answer:
            for name, other in others.items():
                pieces: list[Any] = []
                task = asyncio.ensure_future(other(pieces.append))
                # The run may end before this speaker's turn.
                task.add_done_callback(lambda done: done.cancelled() or done.exception())
                self._begun[name] = task, pieces
            return await work(emit)

        return OnEngine(begin)

    def take(self, name: str) -> OnEngine | None:
        """The rest of the speaker's work, if it has begun."""
        if name not in self._begun:
            return None
        task, pieces = self._begun.pop(name)

        async def end(emit: Callable[[Any], None]) -> Answer:
            answer = await task
            for piece in pieces:
                emit(piece)
            return answer

        return OnEngine(end)

    def drop(self) -> None:
        """Ends what has begun, and is not needed any more."""
        for task, _ in self._begun.values():
            engine.call_soon(task.cancel)
        self._begun.clear()
