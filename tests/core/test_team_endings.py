"""When a team's run ends: what each condition looks at, and what it says that it saw."""

from typing import Any

import pytest

from autogen_nb.core.chats import team_endings
from autogen_nb.core.chats.team_endings import (
    AllOf,
    AnyOf,
    EndCondition,
    Named,
    Observation,
    TeamTurn,
    TextMention,
    noticed,
)
from autogen_nb.events import (
    Answer,
    CodeAsked,
    EndingAsked,
    EndingJudged,
    FunctionsAsked,
    HumanInputAsked,
    ModelAsked,
    ModelReplied,
    Recorded,
)
from autogen_nb.messages import FunctionCall, Message, Usage
from tests.core.worlds import outcome, scripted

CODE = "Here:\n```python\nprint('DONE')\n```"


def heard(text: str = "", source: str = "coder", kind: Any = "text", **more: Any) -> Observation:
    """Something that happened in a team."""
    return Observation(source, kind, Message(text), **more)


def seen(ending: EndCondition, *turns: list[Observation], answers: list[Answer] | None = None) -> list[str | None]:
    """What one watch says after each turn."""
    watch, world = ending.watch(), scripted(*(answers or []))
    return [outcome(watch(TeamTurn("team", tuple(turn), 0)), world)[1] for turn in turns]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        pytest.param(heard("It is DONE."), "coder said 'DONE'", id="words"),
        pytest.param(heard("not yet"), None, id="other words"),
        pytest.param(heard("Say DONE when finished.", "user", "task"), None, id="the task"),
        pytest.param(heard("DONE", "executor", "output"), None, id="what code put out"),
        pytest.param(heard(CODE), None, id="within code"),
        pytest.param(heard("```python\nprint('DONE')"), None, id="within code that was cut off"),
        pytest.param(heard(CODE + "\nDONE"), "coder said 'DONE'", id="beside code"),
        pytest.param(heard("```text\nDONE\n```"), "coder said 'DONE'", id="within a fence that is no code"),
        pytest.param(Observation("coder", "event"), None, id="an event"),
        pytest.param(Observation("coder", "text"), None, id="no message"),
    ],
)
def test_text_mention_looks_at_what_is_said(said: Observation, told: str | None) -> None:
    """A word ends the run where somebody says it: not in the task, not in an output, and not within code."""
    assert seen(TextMention("DONE"), [said]) == [told]


def test_text_mention_by_source() -> None:
    """With sources, only their words count."""
    ending = TextMention("DONE", frozenset({"critic"}))

    assert seen(ending, [heard("DONE")], [heard("DONE", "critic")]) == [None, "critic said 'DONE'"]


@pytest.mark.parametrize(
    ("events", "told"), [(False, [None, None]), (True, [None, "3 messages came, and 3 are the limit"])]
)
def test_max_message_counts(events: bool, told: list[str | None]) -> None:
    """Messages are counted from the task on; events only where that is wanted."""
    turns = [[heard(kind="task")], [Observation("coder", "event"), heard()]]

    assert seen(team_endings.MaxMessage(3, events), *turns) == told


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ({"total": 11}, "11 tokens were used, and 11 are the limit"),
        ({"prompt": 9}, "9 prompt tokens were used, and 9 are the limit"),
        ({"completion": 2}, "2 completion tokens were used, and 2 are the limit"),
        ({"total": 12, "completion": 3}, None),
    ],
)
def test_token_usage(limits: dict[str, int], told: str | None) -> None:
    """The tokens of all turns are added up, each kind for itself."""
    turns = [[heard(usage=Usage(4, 1))], [Observation("coder", "event", usage=Usage(5, 1)), heard()]]

    assert seen(team_endings.TokenUsage(**limits), *turns) == [None, told]


def test_source_match() -> None:
    """One of the sources has spoken; the task does not count, whoever gave it."""
    ending = team_endings.SourceMatch(frozenset({"critic", "user"}))

    assert seen(ending, [heard("task", "user", "task")], [heard()], [heard("no", "critic")]) == [
        None,
        None,
        "critic has spoken",
    ]


@pytest.mark.parametrize(
    ("ending", "met", "not_met", "told"),
    [
        (team_endings.KindMatch("stop"), heard(kind="stop"), heard(), "coder asked to stop"),
        (
            team_endings.KindMatch("handoff", target="bob"),
            heard(kind="handoff", target="bob"),
            heard(kind="handoff", target="carol"),
            "coder handed over to bob",
        ),
        (team_endings.KindMatch("text"), heard(), heard(kind="tools"), "coder has spoken in plain words"),
        (
            team_endings.KindMatch("text", source="bob"),
            heard(source="bob"),
            heard(),
            "bob has spoken in plain words",
        ),
        (
            team_endings.FunctionCalled("f"),
            Observation("coder", "event", called=("g", "f")),
            Observation("coder", "event", called=("g",)),
            "coder has called f",
        ),
    ],
)
def test_kinds_and_calls(ending: EndCondition, met: Observation, not_met: Observation, told: str) -> None:
    """What was said, and what was called, is told by its kind, and by who it was."""
    assert seen(ending, [not_met], [met]) == [None, told]


def test_the_world_is_asked() -> None:
    """What only the world can judge is a question, and its answer is kept."""
    watch = team_endings.AskedCondition(2, "time").watch()
    events, told = outcome(watch(TeamTurn("team", (), 7)), scripted(EndingJudged(True, "late")))

    assert events == [EndingAsked("team", 2, "time", 7), EndingJudged(True, "late")]
    assert told == "late"
    assert seen(team_endings.AskedCondition(0, "function"), [], answers=[EndingJudged(False, "early")]) == [None]


def test_both_may_be_met_in_different_turns() -> None:
    """Of several conditions that must all be met, each stays met, and is not looked at again."""
    ending = AllOf((TextMention("a"), team_endings.AskedCondition(0, "function")))
    turns = [[heard("a")], [heard("b")], [heard("b")]]
    answers: list[Answer] = [EndingJudged(False), EndingJudged(False), EndingJudged(True, "so")]

    assert seen(ending, *turns, answers=answers) == [None, None, "coder said 'a' and so"]


def test_either_tells_all_that_are_met() -> None:
    """Of several conditions, those that are met at the same time are all told, each by its name."""
    ending = AnyOf((Named("A", TextMention("a")), Named("B", TextMention("b"))))

    assert seen(ending, [heard("c")], [heard("b")], [heard("ab")]) == [
        None,
        "B: coder said 'b'",
        "A: coder said 'a'; B: coder said 'b'",
    ]


def test_a_name_alone() -> None:
    """A condition that is met and says nothing is told by its name."""
    assert seen(Named("Mine", team_endings.AskedCondition(0, "function")), [], answers=[EndingJudged(True)]) == ["Mine"]


def test_each_watch_begins_anew() -> None:
    """A condition is a value: one run's counts are not the next one's."""
    ending = team_endings.MaxMessage(2)

    assert seen(ending, [heard()]) == seen(ending, [heard()]) == [None]


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (ModelReplied(Message("words")), None),
        (
            ModelReplied(Message(None, tool_calls=[{}]), usage=Usage(1, 2)),
            Observation("coder", "event", usage=Usage(1, 2)),
        ),
        (FunctionsAsked("coder", (FunctionCall("f", ""),)), Observation("coder", "event", called=("f",))),
        (HumanInputAsked("coder", "team", "?"), Observation("coder", "event")),
        (CodeAsked("coder", ()), Observation("coder", "event")),
        (ModelAsked("coder", "team", 1), None),
    ],
)
def test_what_is_noticed_on_the_way(event: Recorded, told: Observation | None) -> None:
    """Calls, questions to a person and code that runs are events; a reply in words is told by its message."""
    assert noticed("coder", event) == told
