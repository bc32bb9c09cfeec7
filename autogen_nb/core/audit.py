"""Reports from a log: every question to a person, all code that ran, and every request to a model."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from autogen_nb.effects import ENDED, EffectJudged
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
"""The answer to a question that nobody has answered yet."""
UNASKED = "nobody was asked"
POLICY = "the policy"


@dataclass(slots=True)
class PersonAsked:
    agent: str
    what: str
    reasons: tuple[str, ...] = ()
    answer: str = OPEN
    by: str = ""
    code: str = ""
    came_to: str = ""


@dataclass(slots=True)
class Sent:
    agent: str
    why: str
    host: str | None = None
    model: str = ""
    cached: bool = False
    new: tuple[tuple[str, Message], ...] = ()


def decisions(log: Iterable[Recorded]) -> list[PersonAsked]:
    """The questions to a person and the code that ran, in order, including nested chats."""
    report = _Decisions()
    for event in _flat(log):
        report.add(event)
    return report.rows


def requests(log: Iterable[Recorded]) -> list[Sent]:
    report = _Requests()
    for event in _flat(log):
        report.add(event)
    return report.rows


def _flat(log: Iterable[Recorded]) -> Iterator[Recorded]:
    for event in log:
        yield from _flat(getattr(event, "inner", ()))
        yield event


class _Decisions:
    def __init__(self) -> None:
        self.rows: list[PersonAsked] = []
        self._secret = False
        self._cleared: list[PersonAsked] = []
        self._running: list[list[PersonAsked]] = []

    def add(self, event: Recorded) -> None:
        match event:
            case ApprovalAsked() | EffectAsked() | CodeInputAsked() | HumanInputAsked():
                self._secret = isinstance(event, CodeInputAsked) and event.password
                self.rows.append(_question_row(event))
            case ApprovalGiven():
                self._approve(self.rows[-1], event)
            case EffectJudged() | CodeInputGiven() | HumanInputGiven():
                row = self.rows[-1]
                row.answer, row.by = _answer(event, secret=self._secret), event.by
            case CodeAsked():
                self._running.append([self._code_row(event, block) for block in event.blocks])
            case CodeRan() if self._running:
                _record_results(self._running.pop(), event)
            case _:
                pass

    def _approve(self, row: PersonAsked, answer_event: ApprovalGiven) -> None:
        edited = answer_event.code not in (None, row.code)
        words = {"run": "edited and run" if edited else "run", "skip": "skipped", "stop": "stopped"}
        onwards = ", and all that follows" if answer_event.onwards else ""
        kept = f"; from now on: {'; '.join(answer_event.rules)}" if answer_event.rules else ""
        row.answer = f"{_with_note(words[answer_event.decision], answer_event.reason)}{onwards}{kept}"
        row.by = answer_event.by
        row.code = row.code if answer_event.code is None else answer_event.code
        if answer_event.decision == "run":
            self._cleared.append(row)

    def _code_row(self, question: CodeAsked, block: CodeBlock) -> PersonAsked:
        row = next((row for row in self._cleared if row.code == block.code), None)
        if row is None:
            why = "confirm is never" if question.permissions is None else "no risks were found in it"
            row = PersonAsked(question.agent, f"{block.language} code", (why,), UNASKED, POLICY, block.code)
            self.rows.append(row)
        else:
            self._cleared.remove(row)
        return row


def _record_results(rows: list[PersonAsked], ran: CodeRan) -> None:
    for number, row in enumerate(rows, 1):
        last = number == min(max(ran.ran, 1), len(rows))
        row.came_to = f"exit code {ran.exit_code}" if last else "exit code 0" if number < ran.ran else "did not run"


def _question_row(question: _Question) -> PersonAsked:
    match question:
        case ApprovalAsked(agent=agent, block=block):
            which = f", block {question.index + 1} of {question.total}" if question.total > 1 else ""
            return PersonAsked(agent, f"{block.language} code{which}", question.reasons, code=block.code)
        case EffectAsked(agent=agent, effect=effect):
            what = effect.words or f"{effect.kind} {effect.target}".strip()
            line = (f"at the line {question.line.strip()}",) if question.line else ()
            return PersonAsked(agent, f"running code {what}", line)
        case CodeInputAsked(agent=agent, prompt=prompt):
            return PersonAsked(agent, _with_note("input of running code", prompt))
        case _:
            return PersonAsked(question.agent, _with_note("your words", question.prompt))


def _answer(answer_event: EffectJudged | CodeInputGiven | HumanInputGiven, *, secret: bool) -> str:
    match answer_event:
        case EffectJudged() if answer_event == ENDED:
            return _with_note("not decided", answer_event.reason)
        case EffectJudged(allowed=allowed, stop=stop):
            answer = "allowed" if allowed else "denied, and the chat stopped" if stop else "denied"
            return _with_note(answer, answer_event.reason)
        case CodeInputGiven(text=None):
            return "no input"
        case CodeInputGiven(text=text):
            return "a password" if secret else f"typed: {text}"
        case _:
            return f"said: {answer_event.text}" if answer_event.text else "said nothing"


def _with_note(text: str, more: str) -> str:
    return f"{text} ({more.strip()})" if more.strip() else text


class _Requests:
    def __init__(self) -> None:
        self.rows: list[Sent] = []
        self._open: list[Sent] = []
        self._said: list[Said] = []
        self._passed_on: defaultdict[int, set[str]] = defaultdict(set)
        self._seen: dict[tuple[str, str], int] = {}

    def add(self, event: Recorded) -> None:
        match event:
            case Said():
                self._said.append(event)
            case Relayed():
                self._pass_on(event)
            case ModelAsked(agent=agent, peer=peer):
                self._ask(Sent(agent, "a reply", new=self._new(agent, peer)))
            case SpeakerAsked(agent=agent, method="auto"):
                self._ask(Sent(agent, "who speaks next"))
            case SummaryAsked(agent=agent):
                self._ask(Sent(agent, "a summary"))
            case ModelReplied() | SpeakerGiven() | SummaryGiven() if self._open:
                row = self._open.pop()
                row.host, row.model, row.cached = event.host, event.model, event.cached
                if not isinstance(event, ModelReplied) and not event.model:
                    # No model was asked: the caller's function, or chance, chose the speaker.
                    self.rows = [each for each in self.rows if each is not row]
            case _:
                pass

    def _ask(self, row: Sent) -> None:
        self.rows.append(row)
        self._open.append(row)

    def _pass_on(self, event: Relayed) -> None:
        places = range(len(self._said) - 1, -1, -1)
        last = next((place for place in places if self._said[place].sender == event.speaker), None)
        if last is not None:
            self._passed_on[last].update(event.recipients)

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
                or (said.recipient == peer and (team or agent in self._passed_on[place]))
            )
        )
