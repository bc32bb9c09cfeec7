"""Answers the questions of a team's run: asks its members, the user's functions or a person."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from autogen_nb import run
from autogen_nb.agents.chats.model_questions import ask_model, model_request
from autogen_nb.agents.chats.participant import Participant
from autogen_nb.agents.chats.question_handler import QuestionHandler
from autogen_nb.agents.parts.agent import call_user_code
from autogen_nb.agents.teams.run_follower import RunFollower
from autogen_nb.agents.teams.speaker_selector import SpeakerSelector
from autogen_nb.agents.teams.termination_conditions import JudgedConditions
from autogen_nb.core.people import Human
from autogen_nb.events import (
    Answer,
    ApprovalAsked,
    Called,
    HumanInputAsked,
    HumanInputGiven,
    ModelAsked,
    Question,
    SpeakerAsked,
)
from autogen_nb.run import OnCaller, OnEngine


@dataclass(frozen=True, slots=True)
class TeamQuestionHandler:
    follower: RunFollower
    human: Human
    conditions: JudgedConditions
    speaker_selector: SpeakerSelector | None
    waits: run.Waits

    def __call__(self, question: Question) -> OnCaller | OnEngine:
        members, transcript = self.follower.members, self.follower.transcript
        match question:
            case ModelAsked():
                return self._model(question)
            case Called(function="generate_reply", agent=agent):
                return OnCaller(lambda: members[agent].answer(transcript.unread_messages(agent)))
            case Called(function="termination condition"):
                return OnCaller(lambda: self.conditions.judge(question, tuple(self.follower.turn)))
            case SpeakerAsked() | Called(function="candidate_func"):
                assert self.speaker_selector is not None
                return self.speaker_selector.answer(question, tuple(transcript.messages))
            case HumanInputAsked(agent=agent) if (ask := getattr(members[agent], "input_func", None)) is not None:
                return OnCaller(lambda: _call_input_func(ask, question))
            case ApprovalAsked(agent=agent) if (judge := getattr(members[agent], "judge", None)) is not None:
                return OnCaller(lambda: cast("Callable[..., Answer]", judge)(question, self._context()))
            case _:
                return self._chat_handler()(question)

    def _model(self, question: ModelAsked) -> OnEngine:
        agent = cast("Participant", self.follower.members[question.agent])
        model = agent.model
        assert model is not None
        request = model_request(agent, self.follower.model_context(agent.name), calls=question.calls == "some")
        return OnEngine(partial(ask_model, model, request, agent.name))

    def _context(self) -> list[Mapping[str, Any]]:
        return [{"source": each.source, "content": each.to_text()} for each in self.follower.transcript.messages]

    def _chat_handler(self) -> QuestionHandler:
        agents = {name: each for name, each in self.follower.members.items() if isinstance(each, Participant)}
        return QuestionHandler(agents, self.human, waits=self.waits)


def _call_input_func(function: Callable[..., Any], question: HumanInputAsked) -> Answer | Awaitable[Answer]:
    takes_token = len(inspect.signature(function).parameters) > 1
    arguments = (question.prompt, None) if takes_token else (question.prompt,)
    label = f"input_func of {question.agent}"
    return call_user_code(
        lambda: function(*arguments), label, lambda text: HumanInputGiven(str(text), by=question.agent)
    )
