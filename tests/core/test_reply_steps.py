import pytest

from autogen_nb.core.chats.reply_steps import Asking, ConversationState, Outcome, Reply, ask
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
    state.hear("user", "assistant", [Message("instead")])

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
