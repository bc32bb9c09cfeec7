"""How a member of a team comes to what it says."""

from typing import Any

from autogen_nb.core.chats.code_step import RunCode
from autogen_nb.core.chats.reply_steps import Stop
from autogen_nb.core.chats.team_replies import (
    NOTHING,
    AskPerson,
    Respond,
    RunLast,
    TeamReply,
    TeamState,
    Think,
    WriteAndRun,
    ask_member,
)
from autogen_nb.events import Answer as AnyAnswer
from autogen_nb.events import (
    ApprovalGiven,
    CodeRan,
    FunctionsAsked,
    FunctionsReturned,
    HumanInputAsked,
    HumanInputGiven,
    ModelAsked,
    ModelReplied,
    Recorded,
    ReplyAsked,
    ReplyGiven,
    Said,
)
from autogen_nb.messages import FunctionCall, Message, Usage
from autogen_nb.outputs import Stream
from tests.core.worlds import outcome, say_always, scripted

CODE = "```python\nprint(1)\n```"


def state(*said: tuple[str, str] | Said) -> TeamState:
    """A team in which this was said."""
    return TeamState(
        "team", [each if isinstance(each, Said) else Said(each[0], "team", Message(each[1])) for each in said]
    )


def answered(respond: Respond, there: TeamState, *answers: AnyAnswer) -> tuple[list[Recorded], TeamReply | Stop]:
    """What happened in the turn of bob, and what he says."""
    return outcome(respond(there, "bob"), scripted(*answers))


def calling(*names: str, **more: Any) -> ModelReplied:
    """A model that asks for calls."""
    calls = [{"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}} for name in names]
    return ModelReplied(Message(None, tool_calls=calls), **more)


def words(text: str) -> ModelReplied:
    """A model that speaks."""
    return ModelReplied(Message(text))


def ran(text: str, exit_code: int = 0) -> CodeRan:
    """Code that put this out."""
    return CodeRan(exit_code, (Stream("stdout", text),))


def test_words_are_the_answer() -> None:
    events, said = answered(Think(), state(("user", "hi")), words("hello"))

    assert events[0] == ModelAsked("bob", "team", 1)
    assert said == TeamReply(Message("hello"))


def test_results_are_the_answer() -> None:
    think = Think(told=lambda call, content: f"{call.name}: {content}")
    events, said = answered(think, state(("user", "hi")), calling("f", "g"), FunctionsReturned(("1", "2")))

    assert events[2] == FunctionsAsked("bob", (FunctionCall("f", "{}", "f"), FunctionCall("g", "{}", "g")))
    assert said == TeamReply(Message("f: 1\ng: 2"), "tools")


def test_a_result_is_told_as_it_is() -> None:
    _, said = answered(Think(), state(("user", "hi")), calling("f"), FunctionsReturned(("1",)))

    assert said == TeamReply(Message("1"), "tools")


def test_reflection() -> None:
    answers: list[AnyAnswer] = [calling("f"), FunctionsReturned(("1",)), calling("f")]
    events, said = answered(Think(reflect=True), state(("user", "hi")), *answers)

    assert events[-2] == ModelAsked("bob", "team", 1, "none")
    assert said == TeamReply(Message(""))


def test_several_rounds() -> None:
    answers: list[AnyAnswer] = [calling("f"), FunctionsReturned(("1",)), words("one")]
    _, said = answered(Think(rounds=3), state(("user", "hi")), *answers)

    assert said == TeamReply(Message("one"))


def test_handover() -> None:
    think = Think(rounds=3, handoffs={"to_carol": "carol"})
    answers: list[AnyAnswer] = [calling("f", "to_carol"), FunctionsReturned(("1", "Over to carol."))]
    _, said = answered(think, state(("user", "hi")), *answers)

    assert said == TeamReply(Message("Over to carol."), "handoff", "carol")


def test_the_newest_code_runs() -> None:
    there = state(("alice", CODE), ("carol", "```python\nprint(2)\n```"), ("dave", "fine"))
    _, said = answered(RunLast(RunCode()), there, ran("2\n"))

    assert said == TeamReply(Message("exitcode: 0 (execution succeeded)\nCode output: 2"), "output")


def test_code_that_nobody_wrote_does_not_run() -> None:
    output = Said("eve", "team", Message(CODE), kind="output")
    tools = Said("eve", "team", Message(CODE), kind="tools")

    assert answered(RunLast(RunCode()), state(output, tools)) == ([], TeamReply(Message(NOTHING), "output"))
    assert answered(RunLast(RunCode(sources=frozenset({"eve"}))), state(("alice", CODE)))[1] == TeamReply(
        Message(NOTHING), "output"
    )


def test_what_else_a_runner_does() -> None:
    there = state(("alice", "no code"))
    stopped = answered(RunLast(RunCode(confirm="always")), state(("alice", CODE)), ApprovalGiven("stop"))[1]

    assert answered(RunLast(RunCode(), say_always("hm")), there)[1] == TeamReply(Message("hm"))
    assert stopped == Stop("stopped")


def test_code_of_earlier_runs_does_not_run_again() -> None:
    there = state(("alice", CODE), ("bob", "ran"), ("alice", "thanks"))
    there.answered(["bob", "nobody"])

    assert answered(RunLast(RunCode(3)), there)[1] == TeamReply(Message(NOTHING), "output")


def test_written_and_run() -> None:
    bad, good = "```python\n1/0\n```", "```python\nprint(1)\n```"
    answers: list[AnyAnswer] = [words(bad), ran("boom", 1), words(good), ran("1\n"), words("It is 1.")]
    events, said = answered(WriteAndRun(RunCode(), retries=2), state(("user", "hi")), *answers)
    own = [event for event in events if isinstance(event, Said)]

    assert said == TeamReply(Message("It is 1."))
    assert [(each.sender, each.recipient, each.kind) for each in own] == [
        ("bob", "bob", "text"),
        ("bob", "bob", "output"),
    ] * 2
    assert own[3].message.text == "exitcode: 0 (execution succeeded)\nCode output: 1"


def test_a_writer_without_code() -> None:
    assert answered(WriteAndRun(RunCode()), state(("user", "hi")), words("No."))[1] == TeamReply(Message("No."))


def test_no_words_are_an_empty_text() -> None:
    assert answered(Think(), state(("user", "hi")), ModelReplied(Message(None)))[1] == TeamReply(Message(""))


def test_a_writer_gives_up() -> None:
    answers: list[AnyAnswer] = [words(CODE), ran("boom", 1), words("It fails.")]

    assert answered(WriteAndRun(RunCode()), state(("user", "hi")), *answers)[1] == TeamReply(Message("It fails."))


def test_a_writer_is_stopped() -> None:
    answers: list[AnyAnswer] = [words(CODE), ApprovalGiven("stop")]

    assert answered(WriteAndRun(RunCode(confirm="always")), state(("user", "hi")), *answers)[1] == Stop("stopped")


def test_a_person_is_asked() -> None:
    events, said = answered(AskPerson("? "), state(("user", "hi")), HumanInputGiven(""))

    assert events[0] == HumanInputAsked("bob", "team", "? ", empty_means="send")
    assert said == TeamReply(Message(""))


def test_a_member_of_ones_own() -> None:
    given = ReplyGiven(Message("over"), kind="handoff", target="carol", usage=Usage(1, 1))
    events, said = answered(ask_member, state(("user", "hi")), given)

    assert events[0] == ReplyAsked("bob", "team", 1)
    assert said == TeamReply(Message("over"), "handoff", "carol", Usage(1, 1))
    assert answered(ask_member, state(("user", "hi")), ReplyGiven(None))[1] == Stop(
        "answered", "bob has nothing to say."
    )
