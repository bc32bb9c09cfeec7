"""The order of a Magentic-One team: an orchestrator plans, and keeps a ledger of the progress before each round.

1. For a task, the orchestrator gathers facts and makes a plan. The message with both begins the conversation anew.
2. Before each round, the ledger says whether the task is done, whether there is progress, who speaks, and what this
   member shall do. A round without progress counts as a stall, a round with progress takes one back.
3. After `max_stalls` stalls, the orchestrator updates facts and plan.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Literal, TypeAlias

from autogen_nb.core.chats.reply_steps import Asking, Stop, ask
from autogen_nb.core.chats.team_flow import Order
from autogen_nb.core.chats.team_replies import TeamState
from autogen_nb.errors import ModelError
from autogen_nb.events import Kind, Said, SpeakerAsked, SpeakerGiven, SummaryAsked, SummaryGiven
from autogen_nb.messages import Message

Stage: TypeAlias = Literal["facts", "plan", "new facts", "new plan", "answer"]
_ANSWERS = {
    "is_request_satisfied": bool,
    "is_in_loop": bool,
    "is_progress_being_made": bool,
    "next_speaker": str,
    "instruction_or_question": str,
}
_SAVED = {"task", "facts", "plan", "rounds", "stalls"}
_ATTEMPTS = 10
_NO_LEDGER = (
    f"the orchestrator's model gave no valid ledger in {_ATTEMPTS} attempts; give a model that answers in JSON, and "
    "descriptions that say what each member does"
)


@dataclass(slots=True)
class ByLedger(Order):
    orchestrator: str
    members: Sequence[str]
    max_turns: int | None
    max_stalls: int
    describe: Callable[[], str]
    """Makes the message with the task, the facts and the plan."""
    task: str = ""
    known: str = ""
    """The facts before their last update."""
    facts: str = ""
    plan: str = ""
    rounds: int = 0
    stalls: int = 0

    def next(self, state: TeamState, *, first: bool, task: bool) -> Asking[Sequence[str] | Stop]:
        if first and task:
            tasks = takewhile(lambda said: said.kind == "task", reversed(state.said))
            self.task = " ".join(reversed([said.message.text for said in tasks]))
            self.rounds = self.stalls = 0
            yield from self._plan(state, "facts", "plan")
        while self.max_turns is None or self.rounds <= self.max_turns:
            self.rounds += 1
            ledger = yield from self._ledger(state)
            if ledger["is_request_satisfied"]["answer"]:
                return (yield from self._end(state, str(ledger["is_request_satisfied"].get("reason", ""))))
            has_progress = ledger["is_progress_being_made"]["answer"] and not ledger["is_in_loop"]["answer"]
            self.stalls = max(0, self.stalls - 1) if has_progress else self.stalls + 1
            if self.stalls >= self.max_stalls:
                yield from self._plan(state, "new facts", "new plan")
                continue
            yield from self._say(state, ledger["instruction_or_question"]["answer"])
            return (ledger["next_speaker"]["answer"],)
        return (yield from self._end(state, f"The limit of rounds was reached: {self.max_turns}."))

    def save(self) -> Mapping[str, Any]:
        return {name: getattr(self, name) for name in _SAVED}

    def load(self, saved: Mapping[str, Any]) -> None:
        for name in _SAVED & saved.keys():
            setattr(self, name, saved[name])

    def _plan(self, state: TeamState, facts: Stage, plan: Stage) -> Asking[None]:
        self.known = self.facts
        self.facts = yield from _words(state, facts)
        self.plan = yield from _words(state, plan)
        yield from self._say(state, self.describe(), "plan")

    def _end(self, state: TeamState, reason: str) -> Asking[Stop]:
        yield from self._say(state, (yield from _words(state, "answer")))
        return Stop("terminated", reason)

    def _say(self, state: TeamState, text: str, kind: Kind = "text") -> Asking[None]:
        said = Said(self.orchestrator, state.team, Message(text), kind=kind)
        state.add(said)
        yield said

    def _ledger(self, state: TeamState) -> Asking[dict[str, Any]]:
        tried: tuple[str, ...] = ()
        while len(tried) < _ATTEMPTS:
            question = SpeakerAsked(state.team, state.last_speaker, tuple(self.members), "auto", tried)
            text = (yield from ask(question, SpeakerGiven)).said or ""
            ledger = read_ledger(text, self.members)
            if ledger is not None:
                return ledger
            tried += (text,)
        raise ModelError(_NO_LEDGER)


def read_ledger(text: str, members: Sequence[str]) -> dict[str, Any] | None:
    """The ledger in a model's reply; None if it is not valid JSON, incomplete, or names no member."""
    try:
        ledger: Any = json.loads(text[text.find("{") : text.rfind("}") + 1])
    except (ValueError, RecursionError):
        return None
    if len(members) == 1:
        ledger["next_speaker"] = {"answer": members[0]}
    answers = {name: ledger.get(name, {}) for name in _ANSWERS}
    if not all(
        isinstance(entry, dict) and isinstance(entry.get("answer"), _ANSWERS[name]) for name, entry in answers.items()
    ):
        return None
    is_done = answers["is_request_satisfied"]["answer"]
    return answers if is_done or answers["next_speaker"]["answer"] in members else None


def _words(state: TeamState, stage: Stage) -> Asking[str]:
    return (yield from ask(SummaryAsked(state.team, stage), SummaryGiven)).text
