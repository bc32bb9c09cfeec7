import pytest

from autogen_nb.core.chats.reply_steps import Asking, ConversationState, Outcome, Reply, ask
from autogen_nb.core.text.reasoning import ReasoningSplitter, split_unopened
from autogen_nb.events import HumanInputGiven, Said, TerminationAsked, TerminationJudged
from autogen_nb.messages import Message
from tests.core.worlds import outcome, scripted


def heard(message: Message) -> ConversationState:
    return ConversationState([[Said("assistant", "user", message)]])


def says(text: str | None) -> "Asking[Outcome]":
    yield from ()
    return None if text is None else Reply(Message(text))


def test_answer_of_another_kind_is_a_fault() -> None:
    with pytest.raises(
        TypeError, match=r"TerminationAsked was answered by HumanInputGiven.*not by a TerminationJudged"
    ):
        outcome(ask(TerminationAsked("a", "b", 1), TerminationJudged), scripted(HumanInputGiven("x")))


def test_there_is_no_message_after_the_last() -> None:
    state = heard(Message("one"))
    state.set_reply_messages("user", "assistant", [Message("instead")])

    with pytest.raises(IndexError):
        state.reading("user", "assistant", 1)


def test_code_that_an_earlier_chat_answered_is_claimed() -> None:
    earlier = [
        Said("user", "assistant", Message("go")),
        Said("assistant", "user", Message("code")),
        Said("user", "assistant", Message("result")),
        Said("assistant", "user", Message("more code")),
    ]
    state = ConversationState([earlier])

    assert [state.claim("user", "assistant", index) for index in (1, 3)] == [False, True]


FENCE = "```"


def split(*pieces: str) -> tuple[str, str]:
    splitter = ReasoningSplitter()
    parts = [*map(splitter.add, pieces), splitter.end()]
    return "".join(thought for thought, _ in parts), "".join(answer for _, answer in parts)


@pytest.mark.parametrize(
    ("text", "thought", "answer"),
    [
        ("Hm.\n</think>\n\nYes.", "Hm.\n", "Yes."),
        ("Hm.</think>Yes.", "Hm.", "Yes."),
        (f"{FENCE}python\n1\n{FENCE}\n</think>\nYes.", f"{FENCE}python\n1\n{FENCE}\n", "Yes."),
        (f"{FENCE}python\n1\n</think>\nYes.", f"{FENCE}python\n1\n", "Yes."),
        ("One.</think>Two.</think>Yes.", "One.</think>Two.", "Yes."),
        ("Yes.", "", "Yes."),
        ("Write `</think>` there.", "", "Write `</think>` there."),
        ("A <think>pair</think> of tags.", "", "A <think>pair</think> of tags."),
        (f"{FENCE}python\nt.split('</think>')\n{FENCE}", "", f"{FENCE}python\nt.split('</think>')\n{FENCE}"),
    ],
)
def test_a_tag_that_nothing_opened_ends_a_thought(text: str, thought: str, answer: str) -> None:
    assert split_unopened(text) == (thought, answer)
