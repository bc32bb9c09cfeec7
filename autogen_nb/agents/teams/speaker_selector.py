"""Selects the next speaker of a team, by the user's functions or by a model."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autogen_nb.agents.chats.model_questions import ask_for_words
from autogen_nb.agents.parts.agent import call_user_code
from autogen_nb.agents.parts.prompts import NAMED_NOBODY, NAMED_SEVERAL, fill_template, retry_messages
from autogen_nb.agents.teams.team_member import TeamMember
from autogen_nb.agents.teams.team_messages import BaseChatMessage, BaseMessage
from autogen_nb.core.ports import Model, ModelRequest
from autogen_nb.errors import CallbackError
from autogen_nb.events import Answer, Called, Returned, SpeakerAsked, SpeakerGiven
from autogen_nb.run import OnCaller, OnEngine

PROMPT = """\
Several agents work on a task together:
{roles}

You speak for none of them: you decide who of {participants} speaks next. This is what they have said:

{history}

Who of {participants} should speak next? Answer with that one name, and with nothing else."""


@dataclass(frozen=True, slots=True)
class SpeakerSelector:
    members: Mapping[str, TeamMember]
    model: Model
    prompt: str = PROMPT
    function: Callable[..., Any] | None = None
    candidates: Callable[..., Any] | None = None

    def answer(self, question: SpeakerAsked | Called, messages: Sequence[BaseMessage]) -> OnCaller | OnEngine:
        if isinstance(question, Called):
            return OnCaller(lambda: self._call(self.candidates, "candidate_func", messages, self._read_candidates))
        if question.method == "function":
            return OnCaller(lambda: self._call(self.function, "selector_func", messages, self._read_speaker))
        return OnEngine(lambda _: ask_for_words(self.model, self._request(question, messages), SpeakerGiven))

    def _read_speaker(self, result: Any) -> SpeakerGiven:
        if result is None:
            return SpeakerGiven(None, "auto")
        if result not in self.members:
            raise CallbackError(f"selector_func returned {result!r}; it must return one of {self._names()}, or None")
        return SpeakerGiven(result)

    def _read_candidates(self, result: Any) -> Returned:
        names = list(result) if isinstance(result, list | tuple) else []
        if not names or not all(name in self.members for name in names):
            raise CallbackError(f"candidate_func returned {result!r}; it must return a list of some of {self._names()}")
        return Returned(names=tuple(dict.fromkeys(names)))

    def _call(
        self,
        function: Callable[..., Any] | None,
        name: str,
        messages: Sequence[BaseMessage],
        read: Callable[[Any], Answer],
    ) -> Answer | Awaitable[Answer]:
        assert function is not None  # a team asks only for functions that it has
        return call_user_code(lambda: function(messages), name, read)

    def _names(self) -> str:
        return ", ".join(self.members)

    def _request(self, question: SpeakerAsked, messages: Sequence[BaseMessage]) -> ModelRequest:
        names = question.candidates
        roles = "\n".join(
            f"{name}: {' '.join(member.description.split())}".strip() for name, member in self.members.items()
        )
        history = "\n\n".join(f"{m.source}: {m.to_text()}" for m in messages if isinstance(m, BaseChatMessage))
        prompt = fill_template(self.prompt, roles=roles, participants=str(list(names)), history=history)
        conversation: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
        conversation += retry_messages(question.tried, names, NAMED_SEVERAL, NAMED_NOBODY, "user")
        return ModelRequest(tuple(conversation))
