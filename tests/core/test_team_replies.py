from typing import Any

from autogen_nb.core.chats.code_step import RunCode
from autogen_nb.core.chats.reply_steps import Stop
from autogen_nb.core.chats.team_replies import (
    NOTHING,
    Respond,
    RunLast,
    TeamReply,
    TeamState,
    WriteAndRun,
)
from autogen_nb.events import Answer as AnyAnswer
from autogen_nb.events import (
    ApprovalGiven,
    CodeRan,
    ModelReplied,
    Recorded,
    Said,
)
from autogen_nb.messages import Message
from autogen_nb.outputs import Stream
from tests.core.worlds import outcome, scripted

CODE = "```python\nprint(1)\n```"


def state(*said: tuple[str, str] | Said) -> TeamState:
    return TeamState(
        "team", [each if isinstance(each, Said) else Said(each[0], "team", Message(each[1])) for each in said]
    )


def answered(respond: Respond, there: TeamState, *answers: AnyAnswer) -> tuple[list[Recorded], TeamReply | Stop]:
    return outcome(respond(there, "bob"), scripted(*answers))


def calling(*names: str, **more: Any) -> ModelReplied:
    calls = [{"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}} for name in names]
    return ModelReplied(Message(None, tool_calls=calls), **more)


def words(text: str) -> ModelReplied:
    return ModelReplied(Message(text))


def ran(text: str, exit_code: int = 0) -> CodeRan:
    return CodeRan(exit_code, (Stream("stdout", text),))


def test_code_that_nobody_wrote_does_not_run() -> None:
    output = Said("eve", "team", Message(CODE), kind="output")
    tools = Said("eve", "team", Message(CODE), kind="tools")

    assert answered(RunLast(RunCode()), state(output, tools)) == ([], TeamReply(Message(NOTHING), "output"))
    assert answered(RunLast(RunCode(sources=frozenset({"eve"}))), state(("alice", CODE)))[1] == TeamReply(
        Message(NOTHING), "output"
    )


def test_a_writer_is_stopped() -> None:
    answers: list[AnyAnswer] = [words(CODE), ApprovalGiven("stop")]

    assert answered(WriteAndRun(RunCode(confirm="always")), state(("user", "hi")), *answers)[1] == Stop("stopped")
