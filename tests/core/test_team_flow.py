"""Who speaks when: by handoffs, by a graph, by an orchestrator's ledger."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from autogen_nb.core.chats.chat_flow import Selection
from autogen_nb.core.chats.code_step import RunCode
from autogen_nb.core.chats.reply_steps import Asking, Stop
from autogen_nb.core.chats.team_flow import (
    NO_CODE,
    OneByOne,
    Order,
    Respond,
    RunLast,
    TeamReply,
    TeamRun,
    TeamState,
    WriteAndRun,
    ask_user,
    team_chat,
)
from autogen_nb.core.chats.team_orders import ByGraph, ByHandoff, ByLedger, Edge
from autogen_nb.errors import ConfigError, ModelError, SessionError
from autogen_nb.events import (
    Answer,
    ApprovalGiven,
    Called,
    Ended,
    Question,
    Recorded,
    Returned,
    Said,
    SpeakerGiven,
    SummaryAsked,
    SummaryGiven,
)
from autogen_nb.events import Answer as AnyAnswer
from autogen_nb.messages import Message
from tests.core.worlds import outcome, play, scripted
from tests.replies import replied

ABC = ("alice", "bob", "carol")
CODE = "```python\nprint(1)\n```"


def selected(choice: Selection, member: Respond, *answers: AnyAnswer, **more: Any) -> None:
    task = [Said("user", "team", Message("start"), kind="task")]
    run = TeamRun(dict.fromkeys(ABC, member), OneByOne(choice), task, max_turns=1, **more)
    play(team_chat(run, TeamState("team")), scripted(*answers))


@pytest.mark.parametrize("names", [(), ("nobody",)])
def test_a_log_of_another_team_is_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(SessionError, match="does not belong to this"):
        selected(Selection("team", ABC, "auto", narrowed=True), ask_user, Returned(names=names))


def answered(respond: Respond, said: Said, *answers: AnyAnswer) -> tuple[list[Recorded], TeamReply | Stop]:
    return outcome(respond(TeamState("team", [said]), "bob"), scripted(*answers))


@pytest.mark.parametrize(
    ("kind", "runs"), [("output", RunCode()), ("tools", RunCode()), ("text", RunCode(sources=frozenset({"eve"})))]
)
def test_code_that_nobody_wrote_does_not_run(kind: Any, runs: RunCode) -> None:
    said = Said("alice", "team", Message(CODE), kind=kind)

    assert answered(RunLast(runs), said) == ([], TeamReply(Message(NO_CODE), "output"))


def test_a_writer_is_stopped() -> None:
    said, writer = Said("user", "team", Message("hi")), WriteAndRun(RunCode(confirm="always"))

    assert answered(writer, said, replied(Message(CODE)), ApprovalGiven("stop"))[1] == Stop("stopped")


def held(order: Order, said: Mapping[str, Sequence[str | TeamReply]], world: Any = None, **more: Any) -> list[Recorded]:
    left, state = {name: iter(texts) for name, texts in said.items()}, more.pop("state", TeamState("team"))

    def speak(_: TeamState, name: str) -> Asking[TeamReply | Stop]:
        yield from ()
        answer = next(left[name])
        return TeamReply(Message(answer)) if isinstance(answer, str) else answer

    more.setdefault("task", [Said("user", "team", Message("go"), kind="task")])
    run = TeamRun(dict.fromkeys(said, speak), order, **more)
    return play(team_chat(run, state), world or (lambda _: Returned()))


def speakers(events: Sequence[Recorded]) -> list[str]:
    return [event.sender for event in events if isinstance(event, Said) and event.kind != "task"]


def handoff(target: str) -> TeamReply:
    return TeamReply(Message(f"to {target}"), "handoff", target)


def test_handoff_out_of_the_team_needs_a_task_with_a_target() -> None:
    with pytest.raises(ConfigError, match="'user', to whom the last handoff goes"):
        held(ByHandoff(("a", "b")), {"a": [handoff("user")], "b": []}, max_turns=2)


DIAMOND = [Edge("a", "b", "b"), Edge("a", "c", "c"), Edge("b", "d", "d"), Edge("c", "d", "d")]


def test_a_complete_graph_begins_anew_and_a_saved_one_goes_on() -> None:
    first, second = ByGraph(DIAMOND, ["a"]), ByGraph(DIAMOND, ["a"])
    state = TeamState("team")
    said = {name: [name] * 3 for name in "abcd"}
    held(first, said, state=state, max_turns=2)
    second.load(json.loads(json.dumps(first.save())))
    rest = held(second, said, state=state, task=())
    again = held(second, said, state=state)

    assert speakers(rest) == ["d"]
    assert speakers(again) == ["a", "b", "c", "d"]


def test_loop_with_conditions_by_text_and_by_function() -> None:
    edges = [
        Edge("a", "b", "b"),
        Edge("b", "a", "again", number=7),
        Edge("b", "c", "c", text="fine"),
    ]
    asked: list[Called] = []

    def world(question: Question) -> Answer:
        assert isinstance(question, Called)
        asked.append(question)
        return Returned(decided=len(asked) == 1)

    events = held(ByGraph(edges, ["a"]), {"a": ["1", "2"], "b": ["bad", "fine"], "c": ["end"]}, world)

    assert speakers(events) == ["a", "b", "a", "b", "c"]
    assert [(each.function, each.agent, each.number) for each in asked] == [("edge condition", "b", 7)] * 2


def test_one_edge_of_a_group_is_enough() -> None:
    edges = [Edge("a", "b", "b"), Edge("a", "c", "c"), *(Edge(each, "d", "d", needs_all=False) for each in "bc")]

    assert speakers(held(ByGraph(edges, ["a"]), {name: [name] * 2 for name in "abcd"})) == ["a", "b", "c", "d"]


def ledger(done: bool, speaker: str = "a", *, progress: bool = True, loop: bool = False) -> str:
    answers = (done, loop, progress, speaker, "do it")
    names = ("is_request_satisfied", "is_in_loop", "is_progress_being_made", "next_speaker", "instruction_or_question")
    return json.dumps({name: {"reason": "so", "answer": answer} for name, answer in zip(names, answers, strict=True)})


def orchestrated(*ledgers: str, members: str = "ab", max_turns: int | None = 9) -> tuple[list[Recorded], ByLedger]:
    left: Iterator[str] = iter(ledgers)

    def world(question: Question) -> Answer:
        if isinstance(question, SummaryAsked):
            return SummaryGiven(f"the {question.recipient}")
        return SpeakerGiven(next(left))

    order = ByLedger("boss", tuple(members), max_turns, 2, lambda: f"{order.facts}, {order.plan}")
    return held(order, {name: [name] * 9 for name in members}, world), order


def words(events: Sequence[Recorded]) -> list[str]:
    return [event.message.text for event in events if isinstance(event, Said) and event.sender == "boss"]


def test_orchestrator_plans_instructs_and_answers() -> None:
    events, order = orchestrated("hm", ledger(False, "c"), f"```json\n{ledger(False, 'b')}\n```", ledger(True))

    assert speakers(events) == ["boss", "boss", "b", "boss"]
    assert words(events) == ["the facts, the plan", "do it", "the answer"]
    assert events[-1] == Ended("terminated", "so")
    restored = ByLedger("boss", ("a", "b"), 9, 2, lambda: "")
    restored.load(order.save())
    assert (restored.task, restored.facts, restored.plan, restored.rounds) == ("go", "the facts", "the plan", 2)


def test_stalled_work_is_planned_anew_until_the_limit_of_rounds() -> None:
    events, _ = orchestrated(
        ledger(False, progress=False), ledger(False, loop=True), ledger(False), "[1]", members="a", max_turns=2
    )

    assert words(events) == ["the facts, the plan", "do it", "the new facts, the new plan", "do it", "the answer"]
    assert events[-1] == Ended("terminated", "The limit of rounds was reached: 2.")


def test_orchestrator_without_a_ledger_is_named() -> None:
    with pytest.raises(ModelError, match="no valid ledger in 10 attempts"):
        orchestrated(*["{}"] * 5, *["[]", "{", "{1}", '{"next_speaker": 1}', "null"])
