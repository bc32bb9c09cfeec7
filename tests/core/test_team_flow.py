from typing import Any

import pytest

from autogen_nb.core.chats.chat_flow import Selection
from autogen_nb.core.chats.code_step import RunCode
from autogen_nb.core.chats.reply_steps import Stop
from autogen_nb.core.chats.team_flow import (
    NO_CODE,
    AskPerson,
    OneByOne,
    Respond,
    RunLast,
    TeamReply,
    TeamRun,
    TeamState,
    WriteAndRun,
    team_chat,
)
from autogen_nb.errors import SessionError
from autogen_nb.events import Answer as AnyAnswer
from autogen_nb.events import (
    ApprovalGiven,
    Recorded,
    Returned,
    Said,
)
from autogen_nb.messages import Message
from tests.core.worlds import outcome, play, scripted
from tests.replies import replied

ABC = ("alice", "bob", "carol")
CODE = "```python\nprint(1)\n```"


def held(choice: Selection, member: Respond, *answers: AnyAnswer, **more: Any) -> None:
    task = [Said("user", "team", Message("start"), kind="task")]
    run = TeamRun("team", dict.fromkeys(ABC, member), OneByOne(choice), task, max_turns=1, **more)
    play(team_chat(run, TeamState("team")), scripted(*answers))


@pytest.mark.parametrize("names", [(), ("nobody",)])
def test_a_log_of_another_team_is_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(SessionError, match="does not belong to this"):
        held(Selection("team", ABC, "auto", narrowed=True), AskPerson("? "), Returned(names=names))


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
