"""What is known at a point of the conversation, derived from its messages alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from autogen_nb.models.offline.columns import Table, converted, table
from autogen_nb.models.offline.conversation import Conversation, Ran, Skipped, Tried, Turn
from autogen_nb.models.offline.focus import Focus, focus
from autogen_nb.models.offline.task import Subject, Task, chosen_file, from_path, from_variables, parse


@dataclass(frozen=True, slots=True)
class Known:
    """What blocks told of one subject: their facts by topic, and every try at looking and at cleaning."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    looks: tuple[Tried, ...] = ()
    cleans: tuple[Tried, ...] = ()

    def after(self, tried: Tried) -> "Known":
        """The same with what one more block told."""
        facts = tried.outcome.facts if isinstance(tried.outcome, Ran) else {}
        return Known(
            {**self.facts, **facts},
            (*self.looks, tried) if tried.step == "look" else self.looks,
            (*self.cleans, tried) if tried.step == "clean" else self.cleans,
        )


@dataclass(frozen=True, slots=True)
class State:
    """The task at hand, the table it is about, and what is known of it.

    Parameters
    ----------
    first
        Whether this is the first task about this table.
    files
        Paths that were found, or None when nobody has looked.
    """

    task: Task
    tried: tuple[Tried, ...] = ()
    subject: Subject | None = None
    known: Known = field(default_factory=Known)
    first: bool = True
    files: tuple[str, ...] | None = None

    def tries(self, step: str) -> tuple[Tried, ...]:
        """What this turn has tried for a step."""
        return tuple(each for each in self.tried if each.step == step)

    def facts(self, topic: str) -> Any:
        """What blocks of this turn told about a topic, or None."""
        told = [each.outcome.facts.get(topic) for each in self.tried if isinstance(each.outcome, Ran)]
        return next((value for value in reversed(told) if value is not None), None)

    def recalled(self, topic: str) -> Any:
        """What blocks of this turn told about a topic, or, for a task that names nothing, those of earlier ones."""
        told = self.facts(topic)
        return told if told is not None or self.focus.named else self.known.facts.get(topic)

    @property
    def about(self) -> Subject:
        """The subject, where there is one."""
        assert self.subject is not None
        return self.subject

    @property
    def original(self) -> Table | None:
        """The table as it came, by the look, or by the variable's description where the look told nothing."""
        looked = table(self.known.facts.get("look"))
        if looked or not self.known.looks or self.subject is None:
            return looked
        return next((each.table for each in self.task.variables if each.name == self.subject.title), None)

    @property
    def table(self) -> Table | None:
        """The table with the kinds that cleaning gave its columns."""
        original = self.original
        if original is None or not self.cleaned:
            # Names that are repeated or no text cannot be used as long as there is no copy with better ones.
            return replace(original, columns=()) if original and original.odd_names else original
        told = self.known.facts.get("clean")
        kinds = {column.name: "text" for column in original.of_kind("mixed")}
        kinds |= {column.name: "number" for column in original.of_kind("number (some infinite)")}
        if isinstance(told, dict):
            kinds |= {key: str(value[0]) for key, value in told.items() if isinstance(value, list) and value}
        return converted(original, kinds)

    @property
    def cleaned(self) -> bool:
        """Whether our copy is there."""
        return any(isinstance(each.outcome, Ran) and each.outcome.succeeded for each in self.known.cleans)

    @property
    def frame(self) -> str:
        """The variable to work on."""
        return self.about.clean if self.cleaned else self.about.raw

    @property
    def focus(self) -> Focus:
        """What the task asks of the table; the reasons for which blocks were skipped count as part of it."""
        known = self.table
        if known is None:
            return Focus()
        asked = focus(self.task.question, known, self.levels)
        for each in self.tried:
            if isinstance(each.outcome, Skipped) and each.outcome.reason:
                asked = asked.steered(focus(each.outcome.reason, known, self.levels))
        return asked

    @property
    def levels(self) -> dict[str, Sequence[str]]:
        """Values of categories, as far as they were counted."""
        counts = self.known.facts.get("counts")
        if not isinstance(counts, dict):
            return {}
        return {key: list(value) for key, value in counts.items() if isinstance(value, dict)}

    @property
    def error(self) -> str:
        """The name of the exception that ended the last block; empty where it did not fail."""
        outcome = self.tried[-1].outcome if self.tried else None
        return outcome.error.name if isinstance(outcome, Ran) and outcome.error else ""


def state(conversation: Conversation) -> State:
    """Where the conversation stands."""
    memory: dict[Subject, Known] = {}
    subject: Subject | None = None
    files: tuple[str, ...] | None = None
    now = State(Task(""))
    for turn in conversation.turns:
        now = _opened(turn, subject, files)
        first = now.subject not in memory
        for tried in turn.tried:
            now = replace(now, tried=(*now.tried, tried))
            if tried.step == "find":
                now = _found(now, tried)
                first = now.subject not in memory
            elif now.subject is not None:
                memory[now.subject] = memory.get(now.subject, Known()).after(tried)
        subject, files = now.subject, now.files
        known = memory.get(now.subject, Known()) if now.subject else Known()
        now = replace(now, first=first, known=known)
    return now


def _opened(turn: Turn, subject: Subject | None, files: tuple[str, ...] | None) -> State:
    task = parse(turn.text)
    taken = {each.name for each in task.variables}
    if task.path is not None and not _is_frame_named(task):
        chosen: Subject | None = from_path(task.path, taken)
    else:
        chosen = from_variables(task)
    if chosen is None and files and subject is None:
        path = chosen_file(files, task.text)
        chosen = from_path(path, taken) if path else None
    return State(task, subject=chosen or subject, files=files)


def _is_frame_named(task: Task) -> bool:
    return any(each.is_frame for each in task.variables)


def _found(now: State, tried: Tried) -> State:
    told = tried.outcome.facts.get("files") if isinstance(tried.outcome, Ran) else None
    files = tuple(str(path) for path in told) if isinstance(told, list) else ()
    path = chosen_file(files, now.task.text)
    taken = {each.name for each in now.task.variables}
    return replace(now, files=files, subject=from_path(path, taken) if path else None)
