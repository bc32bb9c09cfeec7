import base64
from collections.abc import Callable

import pytest

from autogen_nb.core.chats.chat_flow import sent_message
from autogen_nb.core.chats.code_step import UNCLOSED, RunCode
from autogen_nb.core.chats.reply_steps import (
    AgentSpec,
    ConversationState,
    Outcome,
    Reply,
    Stop,
    check_termination_and_human_reply,
)
from autogen_nb.effects import Confirm
from autogen_nb.events import (
    Answer,
    ApprovalAsked,
    ApprovalGiven,
    CodeAsked,
    CodeRan,
    HumanInputAsked,
    HumanInputGiven,
    Question,
    Recorded,
    Returned,
    Said,
)
from autogen_nb.messages import Message
from autogen_nb.outputs import Display, Stream
from tests.core.worlds import echo, outcome, play, scripted, spec, texts

Ran = Callable[[CodeAsked], CodeRan]


def code(block: str) -> str:
    return f"```python\n{block}\n```"


def heard(text: str) -> ConversationState:
    return ConversationState([[Said("assistant", "user", Message(text))]])


def run(text: str, step: RunCode, *approvals: ApprovalGiven, ran: Ran = echo) -> tuple[list[Recorded], Outcome]:
    left = iter(approvals)

    def world(question: Question) -> Answer:
        return ran(question) if isinstance(question, CodeAsked) else next(left)

    return outcome(step(heard(text), spec(), "assistant"), world)


def told(came_to: Outcome) -> str:
    assert isinstance(came_to, Reply)
    return came_to.message.text


def test_cut_off_block_is_told_of_and_not_run() -> None:
    assert run("```python\nx =", RunCode()) == ([], Reply(Message(UNCLOSED)))


def test_cut_off_block_is_told_of_after_those_that_ran() -> None:
    events, came_to = run(code("a") + "\n```python\nx =", RunCode())

    assert isinstance(events[0], CodeAsked)
    assert [block.code for block in events[0].blocks] == ["a"]
    assert told(came_to) == f"exitcode: 0 (execution succeeded)\nCode output: a\n{UNCLOSED}"


@pytest.mark.parametrize(
    ("message", "confirm"),
    [("No code.", "always"), (code("1"), "never"), (code("1 + 1"), "risky"), ("```python\n1", "always")],
    ids=["no code", "never asked", "harmless", "cut off"],
)
def test_person_with_the_word_is_asked_about_nothing_else(message: str, confirm: Confirm) -> None:
    person = spec("user", check_termination_and_human_reply, RunCode(confirm=confirm), human_input_mode="ALWAYS")
    asking = check_termination_and_human_reply(heard(message), person, "assistant")
    asked = outcome(asking, lambda _: HumanInputGiven("exit"))[0][0]

    assert isinstance(asked, HumanInputAsked)
    assert asked.then is None


def test_no_words_at_a_message_that_ends_the_chat_end_it() -> None:
    person = spec("user", human_input_mode="ALWAYS", termination=lambda _: True)
    asking = check_termination_and_human_reply(heard("TERMINATE"), person, "assistant")

    assert outcome(asking, lambda _: HumanInputGiven(""))[1] == Stop("terminated")


PLOT = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()


def plotting(asked: CodeAsked) -> CodeRan:
    del asked
    return CodeRan(0, (Stream("stdout", "drawn\n"), Display({"image/png": PLOT, "text/plain": "<Figure>"})))


@pytest.mark.parametrize(("pictures", "ran"), [(False, plotting), (True, echo)], ids=["cannot see", "no plot"])
def test_other_replies_are_text(pictures: bool, ran: Ran) -> None:
    _, came = run(code("plot()"), RunCode(pictures=pictures), ran=ran)

    assert isinstance(came, Reply)
    assert isinstance(came.message.content, str)


def test_model_is_told_of_the_end_of_the_code_and_its_whole_output() -> None:
    ended = CodeRan(0, (Stream("stdout", "..."),), note="The kernel was restarted.", whole="out-1.txt")

    _, came = run(code("x"), RunCode(), ran=lambda _: ended)

    assert told(came).endswith("\nThe kernel was restarted.\nThe output is long; all of it is in 'out-1.txt'.")


def test_a_skip_without_a_reason_says_so() -> None:
    events, result = run(code("a()"), RunCode(confirm="always"), ApprovalGiven("skip"))

    assert isinstance(events[0], ApprovalAsked)
    assert events[0].always
    assert isinstance(result, Reply)
    assert result.message.text == "The code was not run.\nThe user skipped a block. The reason: none was given."


BOTH = frozenset({("user", "assistant"), ("assistant", "user")})
GO, ON = Message("go"), Message("on")


def test_counts_go_on_from_the_scene() -> None:
    state = ConversationState(auto_replies={("assistant", "user"): 2})
    limits = {"human_input_mode": "NEVER", "max_auto_replies": 2, "default_reply": ON}
    user, assistant = (spec(name, check_termination_and_human_reply, **limits) for name in ("user", "assistant"))

    flow = sent_message(user, assistant, GO, request_reply=True, replying=frozenset(), state=state)

    assert texts(play(flow, scripted())) == ["go"]
    assert state.auto_replies["assistant", "user"] == 0


def test_who_stops_replying_is_not_asked_again() -> None:
    user, assistant = spec(default_reply=ON), AgentSpec("assistant", own=frozenset({"generate_reply"}))
    flow = sent_message(user, assistant, Message("hi"), request_reply=True, replying=BOTH, state=ConversationState())

    assert texts(play(flow, scripted(Returned((Message("bye"),), replying=False)))) == ["hi", "bye", "on"]
