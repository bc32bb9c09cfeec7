from typing import Any

import pytest

from autogen_nb.core.chats.chat_flow import Selection, two_agent_chat
from autogen_nb.core.chats.reply_steps import Stop, generate_function_call_reply, generate_oai_reply
from autogen_nb.errors import ConfigError, SessionError
from autogen_nb.events import (
    Answer,
    Ended,
    FunctionsAsked,
    FunctionsReturned,
    HumanInputAsked,
    HumanInputGiven,
    ModelReplied,
    Question,
    Recorded,
    SpeakerGiven,
)
from autogen_nb.messages import Completion, Message
from tests.core.worlds import outcome, play, scripted, spec, texts

ABC = ("alice", "bob", "carol")
CALL = Message(None, tool_calls=[{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}])


def group(method: Any = "round_robin", members: tuple[str, ...] = ABC, **more: Any) -> Selection:
    return Selection("manager", members, method, **more)


def chosen(
    selection: Selection, *answers: Answer, last: str = "alice", message: Message | None = None
) -> tuple[list[Recorded], str | Stop]:
    return outcome(selection.next(last, message or Message("hello")), scripted(*answers))


def test_next_speaker_is_an_allowed_agent_that_can_answer_calls() -> None:
    selection = group(functions={"alice": {"f"}, "carol": {"f"}}, follows={"alice": {"bob", "carol"}})

    assert selection.candidates("alice", CALL) == ("carol",)


def test_call_that_nobody_can_answer_is_reported() -> None:
    with pytest.raises(ConfigError, match=r"no agent in the group of manager can call f; .*func_call_filter=False"):
        chosen(group(functions={}), message=CALL)


@pytest.mark.parametrize(
    ("method", "given"),
    [
        ("function", SpeakerGiven("mallory")),
        ("function", SpeakerGiven(None, "wild")),
        ("random", SpeakerGiven("mallory")),
        ("random", SpeakerGiven(None)),
    ],
)
def test_answer_that_is_none_is_refused(method: str, given: SpeakerGiven) -> None:
    with pytest.raises(SessionError, match="does not belong to this chat"):
        chosen(group(method), given)


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("1", "alice"),
        (" 3 ", "carol"),
        ("carol", "carol"),
        ("", "bob"),
        ("exit", Stop("exit", "The person ended the chat.")),
    ],
)
def test_person_chooses_by_number_or_name_leaves_it_or_ends_the_chat(text: str, speaker: str | Stop) -> None:
    events, found = chosen(group("manual"), HumanInputGiven(text))

    assert found == speaker
    assert isinstance(events[0], HumanInputAsked)
    assert (events[0].agent, events[0].empty_means) == ("manager", "auto")
    assert "\n1: alice\n2: bob\n3: carol\n" in events[0].prompt


def test_person_is_asked_twice_at_most() -> None:
    events, speaker = chosen(group("manual"), HumanInputGiven("x"), HumanInputGiven("9"))

    assert speaker == "bob"
    assert isinstance(events[2], HumanInputAsked)
    assert events[2].prompt.startswith("'x' is neither a number nor a name of the list.\nWho speaks next?")


LOOK = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
PLAN = "1. Look.\n2. Tell.\n\nTERMINATE"


def planned(answer: str) -> list[Recorded]:
    replies = iter([Message(None, tool_calls=[LOOK]), Message(PLAN), Message("Done.")])

    def world(question: Question) -> Answer:
        match question:
            case FunctionsAsked():
                return FunctionsReturned(("seen",))
            case HumanInputAsked():
                return HumanInputGiven(answer)
            case _:
                return ModelReplied(Completion(next(replies), "scripted"))

    user, assistant = spec("user", generate_function_call_reply), spec("assistant", generate_oai_reply)
    return play(two_agent_chat(user, assistant, opening=Message("Go."), plan=True), world)


def test_person_approves_or_edits_the_first_reply_without_calls() -> None:
    approved, changed = planned(""), planned("1. Tell.")

    assert [event.draft for event in approved if isinstance(event, HumanInputAsked)] == ["1. Look.\n2. Tell."]
    assert texts(approved) == ["Go.", "", "seen", PLAN, "I approve the plan. Carry it out.", "Done."]
    assert texts(changed)[4] == "I changed the plan. Carry out this one:\n\n1. Tell."
    assert texts(planned("1. Look.\n2. Tell.")) == texts(approved)


def test_person_may_end_the_chat_at_the_plan() -> None:
    events = planned("exit")

    assert events[-1] == Ended("exit", "The person ended the chat.")
    assert texts(events)[-1] == PLAN
