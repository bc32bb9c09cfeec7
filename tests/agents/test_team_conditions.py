from collections.abc import Sequence
from typing import Any

import pytest

from autogen_nb.agents.teams.graph_flow import DiGraphBuilder, GraphFlow
from autogen_nb.agents.teams.team_messages import BaseMessage, StopMessage
from autogen_nb.agents.teams.termination_conditions import (
    ExternalTermination,
    FunctionalTermination,
    FunctionCallTermination,
    HandoffTermination,
    MaxMessageTermination,
    RunConditions,
    SourceMatchTermination,
    StopMessageTermination,
    TerminationCondition,
    TextMentionTermination,
    TextMessageTermination,
    TimeoutTermination,
    TokenUsageTermination,
)
from autogen_nb.core.chats.team_flow import TeamTurn
from autogen_nb.errors import CallbackError, ConfigError
from autogen_nb.events import CodeAsked, FunctionsAsked, Recorded, Said
from autogen_nb.messages import Message, Usage
from tests.agents.teams import assistant, by_turns, calling, done, finished, says
from tests.core.worlds import outcome, scripted
from tests.replies import replied

CODE = "Here:\n```python\nprint('DONE')\n```"


def reason(condition: TerminationCondition, *members: Any) -> str | None:
    team = by_turns(*(members or (says("a"), says("b"))), termination_condition=condition, max_turns=6)
    return done(team).stop_reason


def f() -> str:
    return "done"


async def async_func(messages: Sequence[BaseMessage]) -> bool:
    return messages[-1].source == "b"


class Own(TerminationCondition):
    async def __call__(self, messages: Sequence[Any]) -> StopMessage | None:
        return StopMessage(source="Own", content="b spoke") if messages[-1].source == "b" else None


def heard(text: str = "", source: str = "coder", kind: Any = "text") -> Said:
    return Said(source, "team", Message(text), kind=kind)


def seen(condition: TerminationCondition, *turns: list[Recorded]) -> list[str | None]:
    run = RunConditions(condition)
    outcomes = [outcome(run(TeamTurn("team", tuple(turn), 0)), scripted())[1] for turn in turns]
    return [reason and reason.removeprefix(f"{type(condition).__name__}: ") for reason in outcomes]


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
        pytest.param(Said("coder", "coder", Message("DONE")), None, id="what a model has written for its own agent"),
    ],
)
def test_text_mention_looks_at_what_is_said(said: Said, told: str | None) -> None:
    assert seen(TextMentionTermination("DONE"), [said]) == [told]


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        (TextMentionTermination("b", sources=["b"]), "TextMentionTermination: b said 'b'"),
        (MaxMessageTermination(3), "MaxMessageTermination: 3 messages reached the limit of 3"),
        (SourceMatchTermination(["b"]), "SourceMatchTermination: b sent a message"),
        (TextMessageTermination("b"), "TextMessageTermination: b sent a text message"),
        (FunctionalTermination(async_func), "FunctionalTermination: async_func returned true"),
        (Own(), "Own: b spoke"),
        (
            TextMentionTermination("a") & TextMentionTermination("b"),
            "TextMentionTermination: a said 'a' and TextMentionTermination: b said 'b'",
        ),
        (StopMessageTermination() | SourceMatchTermination(["b"]), "SourceMatchTermination: b sent a message"),
        (
            TimeoutTermination(3600) | MaxMessageTermination(2),
            "MaxMessageTermination: 2 messages reached the limit of 2",
        ),
        (TokenUsageTermination(max_total_token=1), "The limit of turns was reached: 6."),
    ],
)
def test_reasons(condition: TerminationCondition, told: str) -> None:
    assert reason(condition) == told


CALLS = Message(None, tool_calls=[{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}])


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        (TokenUsageTermination(11), "11 tokens reached the limit of 11"),
        (TokenUsageTermination(None, 9), "9 prompt tokens reached the limit of 9"),
        (TokenUsageTermination(None, None, 2), "2 completion tokens reached the limit of 2"),
        (TokenUsageTermination(12, None, 3), None),
        (MaxMessageTermination(3), None),
        (MaxMessageTermination(6, include_agent_event=True), "6 messages reached the limit of 6"),
        (MaxMessageTermination(7, include_agent_event=True), None),
    ],
)
def test_tokens_of_all_turns_are_counted_and_events_if_asked(condition: Any, reason: str | None) -> None:
    reply: Recorded = replied(CALLS, usage=Usage(4, 1))
    code = Said("coder", "coder", Message(CODE))
    turn = [reply, FunctionsAsked("coder", ()), code, CodeAsked("coder", ()), replied(Message(""), usage=Usage(5, 1))]

    assert seen(condition, [heard(kind="task")], [*turn, heard()]) == [None, reason]


def test_calls_and_handovers() -> None:
    calls = reason(FunctionCallTermination("f"), assistant("a", calling("f"), tools=[f]))
    handover = reason(
        HandoffTermination("bob"), assistant("a", calling("transfer_to_bob"), handoffs=["bob"]), says("bob")
    )

    assert calls == "FunctionCallTermination: a has called f"
    assert handover == "HandoffTermination: a handed over to bob"


def test_external_request_ends_one_run_and_a_reset_takes_it_back() -> None:
    outside = ExternalTermination()
    team = by_turns(says("a"), termination_condition=outside, max_turns=2)

    async def held() -> list[str | None]:
        stream = team.run_stream(task="one")
        await anext(stream)
        outside.set()
        assert outside.terminated
        ended = await stream.result()
        return [ended.stop_reason, (await team.run(task="two")).stop_reason]

    assert finished(held()) == [
        "ExternalTermination: a program requested the end",
        "The limit of turns was reached: 2.",
    ]
    outside.set()
    finished(team.reset())
    assert not outside.terminated


def test_a_condition_that_raises_is_named() -> None:
    def breaks(_: Any) -> bool:
        raise KeyError("gone")

    with pytest.raises(CallbackError, match="the termination condition breaks raised KeyError"):
        reason(FunctionalTermination(breaks))
    with pytest.raises(NotImplementedError):
        finished(TerminationCondition()([]))


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: TextMentionTermination(""), "text is ''"),
        (lambda: TextMentionTermination("a", sources="a"), "sources is 'a'"),
        (lambda: MaxMessageTermination(0), "max_messages is 0"),
        (TokenUsageTermination, "needs a limit"),
        (lambda: TimeoutTermination(-1), "timeout_seconds is -1"),
        (lambda: FunctionalTermination(3), "func is 3"),  # type: ignore[arg-type]  # that is the point
        (lambda: MaxMessageTermination(1) | "DONE", "'DONE' is not a termination condition"),  # type: ignore[operator]
    ],
)
def test_settings_that_are_invalid(make: Any, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        make()


def test_a_function_sees_each_message_of_a_round() -> None:
    a, b, c = (says(name, f"I am {name}") for name in "abc")
    graph = DiGraphBuilder().add_node(a).add_node(b).add_node(c).add_edge(a, b).add_edge(a, c)
    rounds: list[list[str]] = []

    def look(messages: Sequence[BaseMessage]) -> bool:
        rounds.append([each.source for each in messages])
        return False

    done(GraphFlow(graph.get_participants(), graph.build(), termination_condition=FunctionalTermination(look)))

    assert rounds == [["user"], ["a"], ["b", "c"]]
