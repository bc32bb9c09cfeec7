import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any, cast, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autogen_nb.agents.teams.termination_conditions import (
    ExternalTermination,
    MaxMessageTermination,
    RunConditions,
    TerminationCondition,
    TextMentionTermination,
    TimeoutTermination,
)
from autogen_nb.core.chats.chat_flow import METHODS, Flow, Opening, RunGroup, Selection, two_agent_chat
from autogen_nb.core.chats.code_step import RunCode
from autogen_nb.core.chats.reply_steps import (
    AgentSpec,
    Own,
    ask_function,
    check_termination_and_human_reply,
    generate_function_call_reply,
    generate_oai_reply,
)
from autogen_nb.core.chats.team_flow import (
    OneByOne,
    Respond,
    RunLast,
    TeamRun,
    TeamState,
    Think,
    WriteAndRun,
    ask_member,
    ask_user,
    team_chat,
)
from autogen_nb.core.chats.termination_checks import MODES
from autogen_nb.effects import CONFIRMS, EffectJudged
from autogen_nb.errors import SessionError
from autogen_nb.event_json import from_json, to_json
from autogen_nb.events import (
    Answer,
    ApprovalAsked,
    ApprovalGiven,
    Callback,
    Called,
    ChatStarted,
    CodeAsked,
    CodeInputAsked,
    CodeInputGiven,
    CodeRan,
    EffectAsked,
    Ended,
    EndReason,
    Event,
    FunctionsAsked,
    FunctionsReturned,
    HumanInputAsked,
    HumanInputGiven,
    Kept,
    ModelAsked,
    ModelReplied,
    Question,
    Recorded,
    Returned,
    Said,
    SpeakerAsked,
    SpeakerGiven,
    SummaryAsked,
    SummaryGiven,
)
from autogen_nb.messages import Message
from autogen_nb.outputs import Failure, Stream
from tests.driven import adriven, driven, from_log, live, nobody
from tests.replies import replied

MODEL = (
    Message("I think."),
    Message(""),
    Message("TERMINATE"),
    Message("```python\nx = 1\n```"),
    Message("```python\nopen('x', 'w')\n```\n\n```sh\nrm x\n```\n\n```python\nx = 1\n```"),
    Message("```python\nx ="),
    Message(None, tool_calls=[{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]),
    Message(None, function_call={"name": "f", "arguments": "{}"}),
)
NONE: frozenset[Own] = frozenset()
OWN: tuple[frozenset[Own], ...] = (
    NONE,
    NONE,
    frozenset({"generate_reply"}),
    frozenset({"messages"}),
    frozenset({"receive", "send"}),
)
SEVERAL = settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow], deadline=None)


@dataclass(frozen=True)
class Script:
    settings: int
    seed: int

    def flow(self) -> Flow:
        rng = Random(self.settings)
        runs = RunCode(rng.choice(("auto", 0, 3)), rng.choice(CONFIRMS), together=rng.random() < 0.3)
        user = AgentSpec(
            "user",
            (check_termination_and_human_reply, partial(ask_function, 2, "f"), generate_function_call_reply, runs),
            human_input_mode=rng.choice(MODES),
            max_auto_replies=rng.choice((0, 1, 100, 100, 100)),
            default_reply=rng.choice((None, Message(""), Message("on"), Message("on"))),
            own=rng.choice(OWN),
        )
        assistant = AgentSpec("assistant", (check_termination_and_human_reply, generate_oai_reply), own=rng.choice(OWN))
        openings: tuple[Opening, ...] = (Message("go"), "ask", "person")
        more = {
            "opening": rng.choice(openings),
            "max_turns": rng.choice((1, 3, 8, None)),
            "summarise": rng.choice(("ask", "no")),
        }
        recipient = rng.choice((assistant, group(rng, user, assistant)))
        if rng.random() < 0.3:
            return team(rng)
        return two_agent_chat(user, recipient, **more)  # type: ignore[arg-type]  # by their keys

    def world(self) -> Callable[[Question], Answer]:
        rng = Random(self.seed)
        return lambda question: answer(rng, question)

    def log(self) -> list[Recorded]:
        log: list[Recorded] = []
        driven(self.flow(), live(self.world()), log)
        return log


def group(rng: Random, *members: AgentSpec) -> AgentSpec:
    members = (*members, AgentSpec("third", default_reply=Message("third"), own=rng.choice(OWN)))
    selection = Selection(
        "manager",
        tuple(member.name for member in members),
        rng.choice((*METHODS, "auto", "function")),
        rng.choice((None, {"user": {"assistant", "third"}, "assistant": {"user", "third"}})),
        {"user": {"f"}},
    )
    told = rng.choice((None, Message("Meet.")))
    return AgentSpec("manager", (RunGroup(members, selection, rng.choice((1, 4, 7)), told),), own=rng.choice(OWN))


def team(rng: Random) -> Flow:
    handoffs = rng.choice(({}, {"f": "user"}))
    members: dict[str, Respond] = {
        "user": RunLast(RunCode(confirm=rng.choice(CONFIRMS)), ask_user),
        "assistant": Think(rng.choice((1, 3)), rng.random() < 0.5, handoffs=handoffs, remembers=rng.random() < 0.5),
        "writer": WriteAndRun(RunCode(confirm=rng.choice(CONFIRMS)), rng.choice((0, 1))),
        "third": ask_member,
    }
    names = tuple(members)
    chosen = Selection("team", names, rng.choice(("auto", "function")), narrowed=rng.random() < 0.5)
    asked = rng.choice((TerminationCondition(), TimeoutTermination(1), ExternalTermination()))
    ending = (TextMentionTermination("words") & MaxMessageTermination(2)) | asked
    task = [Said("user", "team", Message(text), kind="task") for text in ("go", "on")]
    choice = rng.choice((Selection("team", names, "round_robin"), chosen))
    run = TeamRun(members, OneByOne(choice), task, RunConditions(ending), rng.choice((1, 8)))
    return team_chat(run, TeamState("team"))


def speaker(rng: Random, question: SpeakerAsked) -> SpeakerGiven:
    named = rng.choice(question.candidates)
    others: dict[str, tuple[SpeakerGiven, ...]] = {
        "auto": (SpeakerGiven("hm"), SpeakerGiven("user or third")),
        "function": (SpeakerGiven(None), SpeakerGiven(None, rng.choice(METHODS))),
        "random": (),
    }
    return rng.choice((SpeakerGiven(named), SpeakerGiven(named), *others[question.method]))


def returned(rng: Random, function: Callback) -> Returned:
    own, inner = Message("own words"), (Said("a", "b", Message("c")),)
    match function:
        case "generate_init_message":
            return Returned((Message("start"),))
        case "memory":
            return Returned((Message("known", role="system"),), kind="memory")
        case "is_termination_msg" | "termination condition" | "edge condition":
            return Returned(decided=rng.random() < 0.1, reason="seen")
        case "reply function":
            return Returned(rng.choice(((), (Message("mine"),))), decided=rng.random() < 0.05)
        case "generate_reply":
            return Returned(rng.choice(((), *[(own,)] * 9)), auto_replies=rng.choice((0, 1)))
        case "send":
            sent = (Message("sent"),) * rng.choice((0, 1, 1, 1, 1, 2))
            return Returned(sent, request_reply=rng.choice((None, True)))
        case "receive":
            request_reply = rng.choices((None, True, False), (8, 8, 1))[0]
            return Returned(rng.choice(((), *[(each,) for each in MODEL])), inner=inner, request_reply=request_reply)
        case "message hooks":
            return Returned(rng.choice(((Kept(0, 1),), (Kept(0, 1), Message("changed")), (rng.choice(MODEL),))))
        case "candidate_func":
            return Returned(names=rng.choice((("user", "third"), ("assistant",), ("writer", "third"))))


def answer(rng: Random, question: Question) -> Answer:
    answers: dict[type, Callable[[], Answer]] = {
        HumanInputAsked: lambda: HumanInputGiven(rng.choice(("", "", "exit", "EXIT", "words", "words"))),
        ApprovalAsked: lambda: ApprovalGiven(
            rng.choices(("run", "skip", "stop"), (8, 3, 1))[0], rng.choice((None, "x = 2"))
        ),
        CodeAsked: lambda: CodeRan(
            rng.choice((0, 0, 1)), rng.choice(((), (Stream("stdout", "1"), Failure("E", "e")))), rng.choice((1, 1, 0))
        ),
        FunctionsAsked: lambda: FunctionsReturned(("1",)),
        ModelAsked: lambda: replied(rng.choice(MODEL), seconds=rng.random()),
        Called: lambda: returned(rng, cast("Called", question).function),
        SpeakerAsked: lambda: speaker(rng, cast("SpeakerAsked", question)),
        SummaryAsked: lambda: SummaryGiven("short"),
    }
    return answers[type(question)]()


scripts = st.builds(Script, st.integers(0, 10_000), st.integers(0, 10_000))


@SEVERAL
@given(scripts)
def test_every_prefix_resumes_to_the_same_log(script: Script) -> None:
    whole = script.log()

    for length in range(len(whole) + 1):
        log = whole[:length]
        driven(script.flow(), live(from_log(whole, log)), log)
        assert log == whole


@SEVERAL
@given(scripts)
def test_log_survives_json_and_its_replay_asks_the_world_nothing(script: Script) -> None:
    whole = script.log()

    read: Any = [from_json(json.loads(json.dumps(to_json(event)))) for event in whole]

    assert read == whole
    assert driven(script.flow(), nobody, list(read)) == whole
    assert adriven(script.flow(), nobody, list(read)) == whole


@SEVERAL
@given(scripts)
def test_waiting_and_awaiting_give_the_same_events(script: Script) -> None:
    assert driven(script.flow(), live(script.world())) == adriven(script.flow(), live(script.world()))


@SEVERAL
@given(scripts)
def test_log_with_an_event_removed_exchanged_or_added_is_refused(script: Script) -> None:
    whole = script.log()
    foreign = Said("mallory", "user", Message("hello"))

    removed = [whole[:index] + whole[index + 1 :] for index in range(len(whole) - 1)]
    exchanged = [[*whole[:index], foreign, *whole[index + 1 :]] for index in range(len(whole))]
    for log in removed + exchanged:
        with pytest.raises(SessionError, match="does not belong to this chat"):
            driven(script.flow(), nobody, log)
    with pytest.raises(SessionError, match="goes on after the end"):
        driven(script.flow(), nobody, [*whole, whole[-1]])


ALTERED: dict[type, Callable[[Answer], Answer]] = {
    HumanInputGiven: lambda _: HumanInputGiven("other"),
    ApprovalGiven: lambda a: replace(a, decision={"run": "skip", "skip": "stop", "stop": "run"}[a.decision]),  # type: ignore[union-attr,arg-type]  # by its key
    CodeRan: lambda _: CodeRan(99),
    FunctionsReturned: lambda _: FunctionsReturned(("other",)),
    ModelReplied: lambda _: replied(Message("other")),
    Returned: lambda a: Returned((Message("other"),), decided=not a.decided, reason="other", names=("other",)),  # type: ignore[union-attr]  # by its key
    SpeakerGiven: lambda _: SpeakerGiven("other"),
    SummaryGiven: lambda _: SummaryGiven("other"),
}


@SEVERAL
@given(scripts)
def test_altered_answer_is_refused_or_makes_no_difference(script: Script) -> None:
    whole = script.log()
    answers = [(index, event) for index, event in enumerate(whole) if isinstance(event, Answer)]

    for index, event in answers:
        altered = [*whole[:index], ALTERED[type(event)](event), *whole[index + 1 :]]
        log = list(altered)
        assert replayed(script, log) in (None, altered)
        assert log == altered


@pytest.mark.parametrize("kind", [ModelReplied, Returned, FunctionsReturned])
def test_altered_words_are_refused(kind: type[Answer]) -> None:
    found = [
        (script, log, index)
        for script in (Script(seed, seed) for seed in range(60))
        for log in [script.log()]
        # What a member of a team does on the way to its answer is its own, and need not be said.
        if log[0] != ChatStarted("user", "team")
        for index, event in enumerate(log)
        if isinstance(event, kind)
        and (kind is not Returned or log[index - 1] == Called("generate_init_message", "user", "assistant"))
    ]

    assert len(found) > 5
    for script, log, index in found:
        altered = [*log[:index], ALTERED[kind](cast("Answer", log[index])), *log[index + 1 :]]
        assert replayed(script, altered) is None


def test_scripts_play_every_kind_of_event() -> None:
    logs = [Script(seed, seed).log() for seed in range(60)]

    # What running code asks stands within what came of the code, and belongs to no flow.
    within = {EffectAsked, EffectJudged, CodeInputAsked, CodeInputGiven}
    assert {type(event) for log in logs for event in log} == set(get_args(Recorded)) - within
    assert {event.reason for log in logs for event in log if isinstance(event, Ended)} == set(get_args(EndReason))


def replayed(script: Script, log: list[Recorded]) -> list[Event] | None:
    try:
        return driven(script.flow(), nobody, log)
    except SessionError:
        return None
