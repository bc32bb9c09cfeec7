"""Who speaks next among several."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import pytest

from autogen_nb.core.chats.reply_steps import Stop
from autogen_nb.core.chats.speaker_selection import Selection, mentioned
from autogen_nb.errors import ConfigError, SessionError
from autogen_nb.events import Answer, HumanInputAsked, HumanInputGiven, Recorded, SpeakerAsked, SpeakerGiven
from autogen_nb.messages import Message
from tests.core.worlds import outcome, scripted

ABC = ("alice", "bob", "carol")
CALL = Message(None, tool_calls=[{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}])
OLD_CALL = Message(None, function_call={"name": "f", "arguments": "{}"})


def group(method: Any = "round_robin", members: tuple[str, ...] = ABC, **more: Any) -> Selection:
    """How a group of three chooses."""
    return Selection("manager", members, method, **more)


def chosen(
    selection: Selection, *answers: Answer, last: str = "alice", message: Message | None = None
) -> tuple[list[Recorded], str | Stop]:
    """The events of a choice, and who it is."""
    return outcome(selection.next(last, message or Message("hello")), scripted(*answers))


def asked(events: list[Recorded]) -> list[SpeakerAsked]:
    """The questions for a speaker."""
    return [event for event in events if isinstance(event, SpeakerAsked)]


@pytest.mark.parametrize(
    ("last", "following"), [("alice", "bob"), ("bob", "carol"), ("carol", "alice"), ("stranger", "alice")]
)
def test_turns_go_round(last: str, following: str) -> None:
    assert chosen(group(), last=last) == ([], following)


@pytest.mark.parametrize("method", ["auto", "manual", "random", "round_robin"])
def test_single_candidate_speaks_unasked(method: str) -> None:
    selection = group(method, follows={"alice": {"carol"}})

    assert chosen(selection) == ([], "carol")


def test_group_of_one_speaks_to_itself() -> None:
    assert chosen(group("auto", members=("alice",))) == ([], "alice")


@pytest.mark.parametrize(
    ("follows", "last", "candidates"),
    [
        (None, "alice", ABC),
        ({"alice": {"carol", "bob"}}, "alice", ("bob", "carol")),
        ({"alice": set()}, "alice", ABC),
        ({"alice": {"bob"}}, "bob", ()),
        ({"alice": {"bob"}}, "stranger", ABC),
    ],
    ids=["anybody", "those", "nobody named", "not in it", "stranger"],
)
def test_who_may_follow(follows: Mapping[str, AbstractSet[str]] | None, last: str, candidates: tuple[str, ...]) -> None:
    assert group(follows=follows).candidates(last, Message("hello")) == candidates


def test_chat_ends_after_a_member_whom_nobody_may_follow() -> None:
    events, end = chosen(group("auto", follows={"alice": {"bob"}}), last="bob")

    assert (events, end) == ([], Stop("answered", "Nobody may speak after bob."))


def test_turn_passes_over_who_may_not_follow() -> None:
    selection = group(members=(*ABC, "dora"), follows={"bob": {"alice", "dora"}})

    assert chosen(selection, last="bob")[1] == "dora"


@pytest.mark.parametrize("message", [CALL, OLD_CALL], ids=["tool", "function"])
@pytest.mark.parametrize(
    ("functions", "candidates"),
    [
        ({"bob": {"f"}}, ("bob",)),
        ({"bob": {"f"}, "carol": {"f", "g"}}, ("bob", "carol")),
        ({"carol": {"g"}}, ("carol",)),
        ({"bob": {"g"}, "carol": {"h"}}, ("bob", "carol")),
        (None, ABC),
    ],
    ids=["one", "two", "another function", "other functions", "nobody looks"],
)
def test_who_can_answer_calls(
    message: Message, functions: Mapping[str, AbstractSet[str]] | None, candidates: tuple[str, ...]
) -> None:
    assert group(functions=functions).candidates("alice", message) == candidates


def test_the_only_one_who_can_answer_calls_need_not_be_allowed_to_follow() -> None:
    selection = group(functions={"alice": {"f"}}, follows={"alice": {"bob"}})

    assert selection.candidates("alice", CALL) == ("alice",)


def test_of_those_who_can_answer_calls_the_allowed_ones_follow() -> None:
    selection = group(functions={"alice": {"f"}, "carol": {"f"}}, follows={"alice": {"bob", "carol"}})

    assert selection.candidates("alice", CALL) == ("carol",)


def test_functions_are_for_calls_only() -> None:
    assert group(functions={"bob": {"f"}}).candidates("alice", Message("hello")) == ABC


def test_call_that_nobody_can_answer_is_told() -> None:
    with pytest.raises(ConfigError, match=r"no agent in the group of manager can call f; .*func_call_filter=False"):
        chosen(group(functions={}), message=CALL)


def test_all_called_functions_count() -> None:
    functions = [{"id": name, "type": "function", "function": {"name": name}} for name in "fg"]
    message = Message(None, tool_calls=[*functions, {"id": "2", "type": "custom"}])

    assert group(functions={"bob": {"f"}, "carol": {"f", "g"}}).candidates("alice", message) == ("carol",)


def test_chance_is_asked_for() -> None:
    events, speaker = chosen(group("random", follows={"alice": {"bob", "carol"}}), SpeakerGiven("carol"))

    assert speaker == "carol"
    assert asked(events) == [SpeakerAsked("manager", "alice", ("bob", "carol"), "random")]


def test_function_chooses_without_limits() -> None:
    events, speaker = chosen(group("function", follows={"alice": {"bob"}}), SpeakerGiven("alice"))

    assert speaker == "alice"
    assert asked(events) == [SpeakerAsked("manager", "alice", ABC, "function")]


def test_function_may_end_the_chat() -> None:
    end = chosen(group("function"), SpeakerGiven(None))[1]

    assert isinstance(end, Stop)
    assert end.reason == "terminated"


def test_function_may_leave_the_choice_to_a_method() -> None:
    selection = group("function", follows={"bob": {"alice", "carol"}})

    assert chosen(selection, SpeakerGiven(None, "round_robin"), last="bob")[1] == "carol"


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
    ("words", "names"),
    [
        ("bob", ["bob"]),
        ("**bob**", ["bob"]),
        ("I pick bob.", ["bob"]),
        ("Bob", []),
        ("bobby", []),
        ("bob_2", []),
        ("bob, then bob again", ["bob"]),
        ("bob or carol", ["bob", "carol"]),
        ("Story_writer", ["Story_writer"]),
        ("Story writer", ["Story_writer"]),
        (r"Story\_writer", ["Story_writer"]),
        ("story writer", []),
        ("c++ (dev)", ["c++ (dev)"]),
        ("", []),
    ],
)
def test_names_in_words(words: str, names: list[str]) -> None:
    assert mentioned(words, ("bob", "carol", "Story_writer", "c++ (dev)")) == tuple(names)


def test_model_that_names_one_is_believed() -> None:
    events, speaker = chosen(group("auto"), SpeakerGiven("I pick carol."))

    assert speaker == "carol"
    assert asked(events) == [SpeakerAsked("manager", "alice", ABC, "auto")]


def test_model_is_asked_again() -> None:
    events, speaker = chosen(
        group("auto"), SpeakerGiven("hm"), SpeakerGiven("bob or carol"), SpeakerGiven("carol"), last="bob"
    )

    assert speaker == "carol"
    assert [question.tried for question in asked(events)] == [(), ("hm",), ("hm", "bob or carol")]


@pytest.mark.parametrize("retries", [0, 1, 2])
def test_model_that_never_names_one_is_passed_over(retries: int) -> None:
    events, speaker = chosen(group("auto", retries=retries), *[SpeakerGiven(None)] * (retries + 1))

    assert speaker == "bob"
    assert len(asked(events)) == retries + 1


@pytest.mark.parametrize(("text", "speaker"), [("1", "alice"), (" 3 ", "carol"), ("carol", "carol")])
def test_person_chooses_by_number_or_name(text: str, speaker: str) -> None:
    events, found = chosen(group("manual"), HumanInputGiven(text))

    assert found == speaker
    assert isinstance(events[0], HumanInputAsked)
    assert (events[0].agent, events[0].empty_means) == ("manager", "auto")
    assert "\n1: alice\n2: bob\n3: carol\n" in events[0].prompt


@pytest.mark.parametrize("text", ["", "q", " "])
def test_person_may_leave_it_to_the_turns(text: str) -> None:
    events, speaker = chosen(group("manual"), HumanInputGiven(text), last="bob")

    assert speaker == "carol"
    assert isinstance(events[0], HumanInputAsked)
    assert "press Enter for carol" in events[0].prompt


def test_person_is_asked_twice_at_most() -> None:
    events, speaker = chosen(group("manual"), HumanInputGiven("x"), HumanInputGiven("9"))

    assert speaker == "bob"
    assert isinstance(events[2], HumanInputAsked)
    assert events[2].prompt.startswith("'x' is neither a number nor a name of the list.\nWho speaks next?")


def test_person_may_end_the_chat_instead() -> None:
    assert chosen(group("manual"), HumanInputGiven("exit"))[1] == Stop("exit", "The person ended the chat.")
