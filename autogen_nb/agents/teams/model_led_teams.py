"""AgentChat's teams whose speakers a model chooses: `SelectorGroupChat`, and `MagenticOneGroupChat` with a ledger."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, assert_never, cast

from pydantic import BaseModel

from autogen_nb.agents.chats.participant import ask_for_words
from autogen_nb.agents.parts import prompts
from autogen_nb.agents.parts.agent import call_user_code
from autogen_nb.agents.parts.agent_config import read_client, read_count
from autogen_nb.agents.teams.team_chats import BaseGroupChat
from autogen_nb.agents.teams.team_messages import BaseChatMessage, BaseMessage
from autogen_nb.agents.teams.team_question_handler import OrderQuestion
from autogen_nb.agents.teams.termination_conditions import TerminationCondition
from autogen_nb.core.chats.chat_flow import Selection
from autogen_nb.core.chats.team_flow import OneByOne, Order
from autogen_nb.core.chats.team_orders import ByLedger, Stage
from autogen_nb.core.ports import ModelRequest
from autogen_nb.errors import CallbackError, ConfigError
from autogen_nb.events import Called, Returned, SpeakerAsked, SpeakerGiven, SummaryAsked, SummaryGiven
from autogen_nb.messages import wire
from autogen_nb.run import OnCaller, OnEngine
from autogen_nb.views.team_drawing import Drawing, Node, chosen_by, function_label


class SelectorGroupChat(BaseGroupChat):
    """A team in which a model, or a function, selects the next speaker.

    The other parameters are those of `BaseGroupChat`.

    Parameters
    ----------
    model_client
        The model that selects the speaker.
    selector_prompt
        The prompt for the model, with the fields ``{roles}``, ``{participants}`` and ``{history}``.
    allow_repeated_speaker
        Whether an agent may speak twice in a row.
    max_selector_attempts
        The maximum number of requests to the model; if no reply names exactly one agent, the next agent in order
        speaks.
    selector_func
        Takes the messages, and returns the name of the next speaker, or None to ask the model; it may be async.
    candidate_func
        Takes the messages, and returns the names from which the model selects; it may be async.
    """

    def __init__(
        self,
        participants: Sequence[Any],
        model_client: Any,
        *,
        selector_prompt: str = prompts.TEAM_SELECTOR,
        allow_repeated_speaker: bool = False,
        max_selector_attempts: int = 3,
        selector_func: Callable[..., Any] | None = None,
        candidate_func: Callable[..., Any] | None = None,
        termination_condition: TerminationCondition | None = None,
        max_turns: int | None = None,
        name: str = "team",
        description: str = "",
        custom_message_types: Sequence[type[BaseMessage]] | None = None,
    ) -> None:
        self._attempts = read_count("max_selector_attempts", max_selector_attempts)
        self._model = read_client(model_client)
        self._prompt, self._repeats = selector_prompt, allow_repeated_speaker
        self._function, self._candidates = selector_func, candidate_func
        super().__init__(
            participants,
            termination_condition=termination_condition,
            max_turns=max_turns,
            name=name,
            description=description,
            custom_message_types=custom_message_types,
        )
        if len(self._members) < 2:  # noqa: PLR2004 - one is no choice
            raise ConfigError("a SelectorGroupChat needs at least two participants to choose from")

    def _drawing(self) -> Drawing:
        chooser = "a model" if self._function is None else function_label(self._function)
        return chosen_by(Node(chooser, "chooser"), self._nodes())

    def _new_order(self) -> Order:
        names = tuple(self._members)
        follows = None if self._repeats else {name: frozenset(names) - {name} for name in names}
        method: Literal["function", "auto"] = "auto" if self._function is None else "function"
        narrowed = self._candidates is not None
        return OneByOne(Selection(self.name, names, method, follows, retries=self._attempts - 1, narrowed=narrowed))

    def _select(self, question: OrderQuestion) -> OnCaller | OnEngine:
        messages = tuple(self._transcript.messages)
        if isinstance(question, Called):
            candidates = cast("Callable[..., Any]", self._candidates)
            return OnCaller(lambda: call_user_code(lambda: candidates(messages), "candidate_func", self._read_names))
        assert isinstance(question, SpeakerAsked)
        if question.method == "function":
            function = cast("Callable[..., Any]", self._function)
            return OnCaller(lambda: call_user_code(lambda: function(messages), "selector_func", self._read_name))
        return OnEngine(lambda _: ask_for_words(self._model, self._request(question, messages), SpeakerGiven))

    def _read_name(self, result: Any) -> SpeakerGiven:
        if result is None:
            return SpeakerGiven(None, "auto")
        if result not in self._members:
            names = ", ".join(self._members)
            raise CallbackError(f"selector_func returned {result!r}; it must return one of {names}, or None")
        return SpeakerGiven(result)

    def _read_names(self, result: Any) -> Returned:
        names = list(result) if isinstance(result, list | tuple) else []
        if not names or not all(name in self._members for name in names):
            known = ", ".join(self._members)
            raise CallbackError(f"candidate_func returned {result!r}; it must return a list of some of {known}")
        return Returned(names=tuple(dict.fromkeys(names)))

    def _request(self, question: SpeakerAsked, messages: Sequence[BaseMessage]) -> ModelRequest:
        names = question.candidates
        history = "\n\n".join(f"{m.source}: {m.to_text()}" for m in messages if isinstance(m, BaseChatMessage))
        fields = {"roles": self._roles(), "participants": str(list(names)), "history": history}
        prompt = prompts.fill_template(self._prompt, **fields)
        family = str(getattr(self._model, "model_info", {}).get("family"))
        # Some models answer no request without a user message.
        role = "system" if family.startswith(("gpt", "o1", "o3", "o4")) else "user"
        templates = prompts.NAMED_SEVERAL, prompts.NAMED_NOBODY
        retries = prompts.retry_messages(question.tried, names, *templates, "user")
        return ModelRequest(({"role": role, "content": prompt}, *retries))


_FACTS = """\
Before the work on this request begins, collect what is known about it.

The request:

{task}

Write four lists, each under its own heading, and nothing else:

    1. FACTS GIVEN in the request, with names, dates and numbers
    2. FACTS TO LOOK UP, and where each is likely to be found
    3. FACTS TO DERIVE by reasoning or by computing
    4. GUESSES from memory, each marked as such"""
_PLAN = """\
These members are in the team:

{team}

With them and with the facts above, write a short plan for the request, as a list. Not every member needs a part."""
_NEW_FACTS = """\
The work on this request has stalled:

{task}

Bring the lists of facts up to date with what was learned. Move what is verified to the facts, and add or correct at \
least one guess, with the reason.

The lists so far:

{facts}"""
_NEW_PLAN = """\
Say in a few words why the last attempt failed. Then write a new plan, as a list, that avoids the mistakes of the last \
one. These members are in the team:

{team}"""
_WHOLE = """\
The team works on this request:

{task}

The members of the team:

{team}

What is known:

{facts}

The plan:

{plan}"""
_LEDGER = """\
The request is:

{task}

The members of the team:

{team}

Judge the conversation so far:

    - Is the request fulfilled completely?
    - Does the team repeat the same requests and answers?
    - Does the team get on?
    - Which of {names} speaks next?
    - What shall this member do? Address the member, and give all that it needs to know.

Answer with one JSON object of this form, and with nothing else:

    {{
        "is_request_satisfied": {{"reason": text, "answer": true or false}},
        "is_in_loop": {{"reason": text, "answer": true or false}},
        "is_progress_being_made": {{"reason": text, "answer": true or false}},
        "next_speaker": {{"reason": text, "answer": one of {names}}},
        "instruction_or_question": {{"reason": text, "answer": text}}
    }}"""
FINAL_ANSWER = """\
The work on this request has ended:

{task}

From the conversation above, write the final answer to the person who asked."""


ORCHESTRATOR = "MagenticOneOrchestrator"


class _Judged(BaseModel):
    reason: str
    answer: bool


class _Said(BaseModel):
    reason: str
    answer: str


class _Ledger(BaseModel):
    is_request_satisfied: _Judged
    is_in_loop: _Judged
    is_progress_being_made: _Judged
    next_speaker: _Said
    instruction_or_question: _Said


class MagenticOneGroupChat(BaseGroupChat):
    """A team whose orchestrator plans the work, tells a member what to do next, and plans again if the work stalls.

    The other parameters are those of `BaseGroupChat`.

    Parameters
    ----------
    model_client
        The orchestrator's model.
    max_turns
        The maximum number of rounds for a task; then the orchestrator answers with what it has. None for no limit.
    max_stalls
        The number of rounds without progress after which the orchestrator plans again.
    final_answer_prompt
        The prompt for the answer, with the field ``{task}``.
    """

    takes_teams = False
    _order: ByLedger

    def __init__(
        self,
        participants: Sequence[Any],
        model_client: Any,
        *,
        max_turns: int | None = 20,
        max_stalls: int = 3,
        final_answer_prompt: str = FINAL_ANSWER,
        **settings: Any,
    ) -> None:
        self._client = read_client(model_client)
        rounds = None if max_turns is None else read_count("max_turns", max_turns)
        self._limits = rounds, read_count("max_stalls", max_stalls)
        self._answer_prompt = final_answer_prompt
        super().__init__(participants, **settings)

    def _drawing(self) -> Drawing:
        return chosen_by(Node(ORCHESTRATOR, "chooser"), self._nodes())

    def _new_order(self) -> ByLedger:
        return ByLedger(ORCHESTRATOR, tuple(self._members), *self._limits, lambda: self._fill(_WHOLE))

    def _select(self, question: OrderQuestion) -> OnCaller | OnEngine:
        if isinstance(question, SpeakerAsked):
            model = self._client.model({"response_format": _Ledger}) if hasattr(self._client, "model") else self._client
            ledger = ModelRequest((*self._thread(), self._asks(_LEDGER)))
            return OnEngine(lambda _: ask_for_words(model, ledger, SpeakerGiven))
        assert isinstance(question, SummaryAsked)
        request = ModelRequest(tuple(self._messages_for(cast("Stage", question.recipient))))
        return OnEngine(lambda _: ask_for_words(self._client, request, SummaryGiven))

    def _messages_for(self, stage: Stage) -> list[Mapping[str, Any]]:
        facts = {"role": "assistant", "content": self._order.facts}
        match stage:
            case "facts":
                return [self._asks(_FACTS)]
            case "plan":
                return [self._asks(_FACTS), facts, self._asks(_PLAN)]
            case "new facts":
                return [*self._thread(), self._asks(_NEW_FACTS)]
            case "new plan":
                return [*self._thread(), self._asks(_NEW_FACTS), facts, self._asks(_NEW_PLAN)]
            case "answer":
                return [*self._thread(), self._asks(self._answer_prompt)]
            case _:
                assert_never(stage)

    def _thread(self) -> list[Mapping[str, Any]]:
        """The conversation since the last plan."""
        said = self._state.said
        begin = max(number for number, each in enumerate(said) if each.kind == "plan")
        own = [each.message.history_entry(each.sender, own=each.sender == ORCHESTRATOR) for each in said[begin:]]
        return list(wire(own))

    def _asks(self, template: str) -> dict[str, Any]:
        return {"role": "user", "content": self._fill(template), "name": ORCHESTRATOR}

    def _fill(self, template: str) -> str:
        order, names, team = self._order, ", ".join(self._members), self._roles()
        facts = order.known if template is _NEW_FACTS else order.facts
        return prompts.fill_template(template, task=order.task, team=team, facts=facts, plan=order.plan, names=names)
