"""`MagenticOneGroupChat`: AgentChat's team with an orchestrator that plans and keeps a ledger."""

from collections.abc import Mapping, Sequence
from typing import Any, assert_never, cast

from pydantic import BaseModel

from autogen_nb.agents.chats.model_questions import ask_for_words
from autogen_nb.agents.parts.agent_config import read_client, read_count
from autogen_nb.agents.parts.prompts import fill_template
from autogen_nb.agents.teams.team_chats import BaseGroupChat
from autogen_nb.agents.teams.team_question_handler import OrderQuestion
from autogen_nb.core.chats.ledger_order import ByLedger, Stage
from autogen_nb.core.ports import ModelRequest
from autogen_nb.events import SpeakerAsked, SpeakerGiven, SummaryAsked, SummaryGiven
from autogen_nb.messages import wire
from autogen_nb.run import OnCaller, OnEngine
from autogen_nb.views.team_drawing import Drawing, Node, chosen_by

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
        order, names = self._order, ", ".join(self._members)
        known = order.known if template is _NEW_FACTS else order.facts
        return fill_template(template, task=order.task, team=self._roles(), facts=known, plan=order.plan, names=names)
