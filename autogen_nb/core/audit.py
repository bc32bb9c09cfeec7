"""What a log tells of who decided what: every question to a person, all code as it ran, all that went to models."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from autogen_nb.effects import EffectJudged
from autogen_nb.events import (
    ApprovalAsked,
    ApprovalGiven,
    CodeAsked,
    CodeInputAsked,
    CodeInputGiven,
    CodeRan,
    EffectAsked,
    HumanInputAsked,
    HumanInputGiven,
    ModelAsked,
    ModelReplied,
    Recorded,
    Relayed,
    Said,
    SpeakerAsked,
    SpeakerGiven,
    SummaryAsked,
    SummaryGiven,
)
from autogen_nb.messages import CodeBlock, Message

_Question: TypeAlias = ApprovalAsked | EffectAsked | CodeInputAsked | HumanInputAsked

OPEN = "open"
"""What stands in the place of an answer that has not been given."""
UNASKED = "nobody was asked"
POLICY = "the policy"


@dataclass(frozen=True, slots=True)
class PersonAsked:
    """One thing that was asked, or that ran unasked.

    Parameters
    ----------
    what
        What it was about, such as ``python code`` or ``connects to api.example.org``.
    answer
        What was decided or typed; `OPEN` where that is still to come.
    by
        Who decided.
    code
        The code as it ran, or would have; "" where it was not about a block.
    came_to
        How the code ended; "" where it did not run.
    """

    agent: str
    what: str
    reasons: tuple[str, ...] = ()
    answer: str = OPEN
    by: str = ""
    code: str = ""
    came_to: str = ""


@dataclass(frozen=True, slots=True)
class Sent:
    """One request to a model.

    Parameters
    ----------
    why
        What the model was asked for.
    host
        The server; "" where none was asked, None where no reply came that tells.
    new
        Who said what of the messages that no earlier request of the agent's had held; what its own model replied is
        sent back, and is not repeated.
    """

    agent: str
    why: str
    host: str | None = None
    model: str = ""
    cached: bool = False
    new: tuple[tuple[str, Message], ...] = ()


def decisions(log: Iterable[Recorded]) -> list[PersonAsked]:
    """All that a person was asked, and all code that ran, in order; what happened in chats within is included."""
    found = _Decisions()
    for event in _flat(log):
        found.add(event)
    return found.rows


def requests(log: Iterable[Recorded]) -> list[Sent]:
    """All that models were asked, in order; what happened in chats within is included."""
    found = _Requests()
    for event in _flat(log):
        found.add(event)
    return found.rows


def _flat(log: Iterable[Recorded]) -> Iterator[Recorded]:
    """The events with those within them before the answer that holds them."""
    for event in log:
        yield from _flat(getattr(event, "inner", ()))
        yield event


@dataclass(slots=True)
class _Decisions:
    rows: list[PersonAsked] = field(default_factory=list)
    _asked: _Question | None = None
    _cleared: list[int] = field(default_factory=list)
    _running: list[list[int]] = field(default_factory=list)

    def add(self, event: Recorded) -> None:
        match event:
            case ApprovalAsked() | EffectAsked() | CodeInputAsked() | HumanInputAsked():
                self._asked = event
                self.rows.append(_opened(event))
            case ApprovalGiven():
                self._approved(event)
            case EffectJudged():
                answer = "allowed" if event.allowed else "denied, and the chat stopped" if event.stop else "denied"
                self._answer(_with(answer, event.reason), event.by)
            case CodeInputGiven():
                self._answer(self._typed(event), event.by)
            case HumanInputGiven(text=text):
                self._answer(f"said: {text}" if text else "said nothing", event.by)
            case CodeAsked():
                self._runs(event)
            case CodeRan():
                self._ran(event)
            case _:
                pass

    def _approved(self, given: ApprovalGiven) -> None:
        asked, row = self._asked, self.rows[-1]
        before = asked.block.code if isinstance(asked, ApprovalAsked) else ""
        code = before if given.code is None else given.code
        if given.decision == "run":
            self._cleared.append(len(self.rows) - 1)
        words = {"run": "run" if code == before else "edited and run", "skip": "skipped", "stop": "stopped"}
        answer = _with(words[given.decision], given.reason)
        self.rows[-1] = replace(row, code=code)
        self._answer(f"{answer}, and all that follows" if given.onwards else answer, given.by, given.rules)

    def _typed(self, given: CodeInputGiven) -> str:
        if given.text is None:
            return "no input"
        password = isinstance(self._asked, CodeInputAsked) and self._asked.password
        return "a password" if password else f"typed: {given.text}"

    def _answer(self, answer: str, by: str, rules: Sequence[str] = ()) -> None:
        kept = f"; from now on: {'; '.join(rules)}" if rules else ""
        self.rows[-1] = replace(self.rows[-1], answer=answer + kept, by=by)

    def _runs(self, asked: CodeAsked) -> None:
        """Each block that was let through has its row; the others ran unasked."""
        rows = []
        for block in asked.blocks:
            found = next((row for row in self._cleared if self.rows[row].code == block.code), None)
            if found is None:
                self.rows.append(_unasked(asked, block))
                rows.append(len(self.rows) - 1)
            else:
                self._cleared.remove(found)
                rows.append(found)
        self._running.append(rows)

    def _ran(self, ran: CodeRan) -> None:
        rows = self._running.pop() if self._running else []
        for number, row in enumerate(rows, 1):
            last = number == min(max(ran.ran, 1), len(rows))
            ended = f"exit code {ran.exit_code}" if last else "exit code 0" if number < ran.ran else "did not run"
            self.rows[row] = replace(self.rows[row], came_to=ended)


def _opened(asked: _Question) -> PersonAsked:
    match asked:
        case ApprovalAsked(agent=agent, block=block):
            which = f", block {asked.index + 1} of {asked.total}" if asked.total > 1 else ""
            return PersonAsked(agent, f"{block.language} code{which}", asked.reasons, code=block.code)
        case EffectAsked(agent=agent, effect=effect):
            what = effect.words or f"{effect.kind} {effect.target}".strip()
            return PersonAsked(
                agent, f"running code {what}", (f"at the line {asked.line.strip()}",) if asked.line else ()
            )
        case CodeInputAsked(agent=agent, prompt=prompt):
            return PersonAsked(agent, _with("input of running code", prompt))
        case _:
            return PersonAsked(asked.agent, _with("your words", asked.prompt))


def _unasked(asked: CodeAsked, block: CodeBlock) -> PersonAsked:
    why = "confirm is never" if asked.permissions is None else "nothing risky was read in it"
    return PersonAsked(asked.agent, f"{block.language} code", (why,), UNASKED, POLICY, block.code)


def _with(text: str, more: str) -> str:
    return f"{text} ({more.strip()})" if more.strip() else text


@dataclass(slots=True)
class _Requests:
    rows: list[Sent] = field(default_factory=list)
    _said: list[Said] = field(default_factory=list)
    _passed_on: dict[int, frozenset[str]] = field(default_factory=dict)
    _open: list[int] = field(default_factory=list)
    _seen: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(self, event: Recorded) -> None:
        match event:
            case Said():
                self._said.append(event)
            case Relayed():
                self._relayed(event)
            case ModelAsked(agent=agent, peer=peer):
                self._ask(Sent(agent, "a reply", new=self._new(agent, peer)))
            case SpeakerAsked(agent=agent, method="auto"):
                self._ask(Sent(agent, "who speaks next"))
            case SummaryAsked(agent=agent):
                self._ask(Sent(agent, "a summary"))
            case ModelReplied() | SpeakerGiven() | SummaryGiven():
                self._reply(event)
            case _:
                pass

    def _relayed(self, event: Relayed) -> None:
        """What the speaker said last is in the members' conversations with the manager too."""
        places = range(len(self._said) - 1, -1, -1)
        last = next((place for place in places if self._said[place].sender == event.speaker), None)
        if last is not None:
            self._passed_on[last] = self._passed_on.get(last, frozenset()) | frozenset(event.recipients)

    def _new(self, agent: str, peer: str) -> tuple[tuple[str, Message], ...]:
        begin = self._seen.get((agent, peer), 0)
        self._seen[agent, peer] = len(self._said)
        team = all(said.sender != peer for said in self._said)
        return tuple(
            (said.sender, said.by(agent))
            for place, said in enumerate(self._said[begin:], begin)
            if said.sender != agent
            and (
                {said.sender, said.recipient} == {agent, peer}
                or (team and said.recipient == peer)
                or (said.recipient == peer and agent in self._passed_on.get(place, ()))
            )
        )

    def _ask(self, row: Sent) -> None:
        self.rows.append(row)
        self._open.append(len(self.rows) - 1)

    def _reply(self, event: ModelReplied | SpeakerGiven | SummaryGiven) -> None:
        if not self._open:
            return
        place = self._open.pop()
        if isinstance(event, SpeakerGiven | SummaryGiven) and not event.model:
            # The caller's own function answered, or chance.
            del self.rows[place]
            return
        self.rows[place] = replace(self.rows[place], host=event.host, model=event.model, cached=event.cached)
