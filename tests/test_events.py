import dataclasses
import inspect
import json
import re
from datetime import date
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autogen_nb import errors
from autogen_nb.errors import AutogenError, SessionError
from autogen_nb.event_json import VERSION, from_json, to_json
from autogen_nb.events import (
    ApprovalAsked,
    Called,
    CodeAsked,
    CodeRan,
    Ended,
    Event,
    ModelAsked,
    ModelReplied,
    Recorded,
    Returned,
    Said,
    SpeakerGiven,
    SummaryGiven,
)
from autogen_nb.messages import CodeBlock, Completion, Message, Usage
from autogen_nb.outputs import Stream

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
EVENTS: tuple[type, ...] = get_args(Event)


def of(hint: Any) -> st.SearchStrategy[Any]:
    plain = {
        Any: JSON,
        str: st.text(max_size=10),
        int: st.integers(),
        bool: st.booleans(),
        float: st.floats(allow_nan=False, allow_infinity=False),
        type(None): st.none(),
    }
    arguments = get_args(hint)
    if hint == Recorded:
        # Events within events: a few kinds stand for all, or it would have no end.
        return st.one_of([instances(cls) for cls in (Said, ModelAsked, CodeAsked)])
    if hint in plain:
        return plain[hint]
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return instances(hint)
    if get_origin(hint) is Literal:
        return st.sampled_from(arguments)
    if get_origin(hint) is tuple:
        return st.lists(of(arguments[0]), max_size=3).map(tuple)
    if get_origin(hint) is list:
        return st.lists(JSON, max_size=3)
    if "Mapping" in str(hint) or get_origin(hint) is dict:
        return st.dictionaries(st.text(max_size=10), JSON, max_size=3)
    return st.one_of([of(arm) for arm in arguments])


@cache
def instances(cls: type) -> st.SearchStrategy[Any]:
    return st.builds(cls, **{name: of(hint) for name, hint in get_type_hints(cls).items()})


SAID = to_json(Said("a", "b", Message("x")))
RAN = to_json(CodeRan(0, (Stream("stdout", "x"),)))
ASKED = to_json(ApprovalAsked("a", CodeBlock("python", "x"), reasons=("r",)))
REPLY = Completion(Message("a"), "m", Usage(1, 2), cost=0.5, note="n", host="h")
REPLIED = to_json(ModelReplied(REPLY))
COMPLETION = REPLIED["completion"]


@pytest.mark.parametrize("cls", EVENTS)
@settings(max_examples=20)
@given(data=st.data())
def test_every_event_survives_json(cls: type, data: st.DataObject) -> None:
    event = data.draw(instances(cls))

    read = from_json(json.loads(json.dumps(to_json(event))))

    assert read == event
    assert repr(read) == repr(event)


def test_json_form_is_tagged_and_versioned() -> None:
    assert to_json(Ended("exit", "Bye.")) == {"v": VERSION, "type": "Ended", "reason": "exit", "detail": "Bye."}


USAGE = {"type": "Usage", "prompt_tokens": 1, "completion_tokens": 2, "cached_tokens": 0}
PAID = {"model": "m", "usage": USAGE, "cost": 0.5, "cached": False, "note": "n", "host": "h"}
MESSAGE = {"type": "Message", "content": "a"}
OPENED, A = {"message": MESSAGE}, Message("a")


@pytest.mark.parametrize(
    ("earlier", "event"),
    [
        ({"type": "SpeakerGiven", "said": "a", "method": None, **PAID}, SpeakerGiven("a", completion=REPLY)),
        ({"type": "SpeakerGiven", "said": "a", "method": None, "model": ""}, SpeakerGiven("a")),
        ({"type": "SummaryGiven", "text": "a", **PAID}, SummaryGiven("a", REPLY)),
        ({"type": "OpeningAsked", "agent": "a", "recipient": "b"}, Called("generate_init_message", "a", "b")),
        ({"type": "SendAsked", "agent": "a", "peer": "b", "message": MESSAGE}, Called("send", "a", "b", message=A)),
        (
            {"type": "ReplyFunctionAsked", "agent": "a", "peer": "b", "number": 1, "name": "f", "count": 2},
            Called("reply function", "a", "b", 2, number=1, name="f"),
        ),
        (
            {"type": "EndingAsked", "agent": "team", "number": 1, "what": "time", "count": 2},
            Called("termination condition", "team", count=2, number=1, name="time"),
        ),
        (
            {"type": "ReplyGiven", "message": MESSAGE, "auto_replies": 1, "inner": [{"type": "OpeningGiven"} | OPENED]},
            Returned((A,), auto_replies=1, inner=(Returned((A,)),)),
        ),
        ({"type": "ReceiveGiven", "message": None, "request_reply": True}, Returned(request_reply=True)),
        ({"type": "SendGiven", "messages": [MESSAGE], "request_reply": None, "inner": []}, Returned((A,))),
        ({"type": "TerminationJudged", "terminate": True}, Returned(decided=True)),
        ({"type": "MessagesGiven", "messages": [MESSAGE], "lasting": True}, Returned((A,), decided=True)),
        ({"type": "CandidatesGiven", "names": ["a"]}, Returned(names=("a",))),
        ({"type": "EndingJudged", "met": True, "seen": "late"}, Returned(decided=True, reason="late")),
        ({"type": "ModelReplied", "message": MESSAGE, "seconds": 2.0, **PAID}, ModelReplied(REPLY, 2.0)),
    ],
)
def test_events_of_version_2_are_read(earlier: dict[str, Any], event: Event) -> None:
    assert from_json({"v": 2, **earlier}) == event


def test_field_that_is_not_written_has_its_default() -> None:
    assert from_json({"v": VERSION, "type": "Ended", "reason": "exit"}) == Ended("exit")


def test_float_may_be_written_as_an_integer() -> None:
    assert from_json({**RAN, "seconds": 2}) == CodeRan(0, (Stream("stdout", "x"),), seconds=2.0)


@pytest.mark.parametrize(
    ("value", "match"),
    [
        pytest.param({**SAID, "v": VERSION + 1}, "version 4 cannot be read", id="a later version"),
        pytest.param({**SAID, "v": 1}, "version 1 cannot be read", id="an earlier version"),
        pytest.param({"type": "Ended", "reason": "exit"}, "version None", id="no version"),
        pytest.param({"v": VERSION, "type": "Sung"}, "'Sung' is not an event", id="an unknown type"),
        pytest.param({"v": VERSION}, "None is not an event", id="no type"),
        pytest.param({"v": VERSION, "type": ["Said"]}, "is not an event", id="a type that is a list"),
        pytest.param({"v": VERSION, "type": "Message", "content": "x"}, "is not an event", id="a part of an event"),
        pytest.param([1], "is a JSON object", id="a list"),
        pytest.param("Said", "is a JSON object", id="a text"),
        pytest.param(None, "is a JSON object", id="nothing"),
        pytest.param({"v": VERSION, "type": "Said"}, "Said .* has missing or invalid fields", id="missing fields"),
        pytest.param({**SAID, "mood": "glad"}, "mood", id="an unknown field"),
        pytest.param({**SAID, "sender": 1}, "int instead of", id="a number for a text"),
        pytest.param({**SAID, "message": "x"}, "str instead of Message", id="a text for a message"),
        pytest.param({**SAID, "message": to_json(Ended("exit"))}, "dict instead of Message", id="an event"),
        pytest.param({**SAID, "message": {"type": "Message", "content": 1}}, "none of", id="a number for a content"),
        pytest.param({**RAN, "exit_code": "0"}, "str instead of", id="a text for a number"),
        pytest.param({**RAN, "exit_code": True}, "bool instead of", id="a truth value for a number"),
        pytest.param({**RAN, "outputs": "x"}, "str instead of", id="a text for a list"),
        pytest.param({**RAN, "outputs": ["x"]}, "none of", id="texts for outputs"),
        pytest.param({**RAN, "outputs": [{"type": "Streem"}]}, "none of", id="an unknown output"),
        pytest.param({**RAN, "outputs": [{"type": "Stream", "name": "stdin", "text": ""}]}, "none of", id="no stream"),
        pytest.param({**ASKED, "reasons": "risky"}, "str instead of", id="a text for reasons"),
        pytest.param({**REPLIED, "completion": {**COMPLETION, "usage": 3}}, "none of", id="a number for the usage"),
        pytest.param({"v": VERSION, "type": "Ended", "reason": "bored"}, "str instead of", id="an unknown reason"),
        pytest.param({"v": VERSION, "type": "Ended", "reason": {}}, "dict instead of", id="an object for a word"),
    ],
)
def test_invalid_event_is_refused(value: Any, match: str) -> None:
    with pytest.raises(SessionError, match=match):
        from_json(value)


def test_tree_of_errors_is_the_one_that_is_drawn() -> None:
    drawn = re.findall(
        r"^((?:[│├└]|──| )*)(\w+)(?: {2,}.*)?$", (errors.__doc__ or "").partition("\n\n")[2], re.MULTILINE
    )
    tree = {name: len(lines) // 4 for lines, name in drawn if hasattr(errors, name)}
    depths = {name: _depth(cls) for name, cls in inspect.getmembers(errors, inspect.isclass)}

    assert tree == depths


def _depth(cls: type) -> int:
    return sum(issubclass(each, AutogenError) for each in cls.__mro__) - 1


def test_value_without_a_json_form_becomes_text() -> None:
    day = date(2026, 11, 20)
    event = Said("a", "b", Message("hi", context={"day": day, 1: ("x", None)}))

    read = from_json(json.loads(json.dumps(to_json(event))))

    assert read == Said("a", "b", Message("hi", context={"day": "2026-11-20", "1": ["x", None]}))
