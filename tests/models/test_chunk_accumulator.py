from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.core.ports import Completion
from autogen_nb.core.text.reasoning import OPEN
from autogen_nb.models.openai.chunk_accumulator import ChunkAccumulator


def folded(*chunks: Any) -> Completion:
    fold = ChunkAccumulator()
    for chunk in chunks:
        fold.add(chunk)
    fold.end()
    return fold.completion("asked-for")


def delta(fields: Any, finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}], **more}


def cut(text: str, places: list[int]) -> list[str]:
    edges = sorted({place % (len(text) + 1) for place in places} | {0, len(text)})
    return [text[start:end] for start, end in pairwise(edges)]


@given(
    # What opens with a thought is shown as one, and not as text.
    text=st.text().filter(lambda text: not text.lstrip().startswith(OPEN)),
    arguments=st.lists(st.text(), max_size=3),
    places=st.lists(st.integers(min_value=0, max_value=200)),
)
def test_any_split_of_a_reply_folds_to_the_same_completion(text: str, arguments: list[str], places: list[int]) -> None:
    whole = ChunkAccumulator()
    calls = [
        {"id": f"c{number}", "type": "function", "function": {"name": f"f{number}", "arguments": argument}}
        for number, argument in enumerate(arguments)
    ]
    whole.add({"model": "m", "choices": [{"message": {"content": text, "tool_calls": calls}, "finish_reason": "stop"}]})
    split = ChunkAccumulator()
    shown: list[Any] = []
    for piece in cut(text, places):
        shown += split.add(delta({"content": piece}, model="m"))
    for number, call in enumerate(calls):
        start = {**call, "index": number, "function": {"name": f"f{number}", "arguments": ""}}
        split.add(delta({"tool_calls": [start]}))
        for piece in cut(arguments[number], places):
            split.add(delta({"tool_calls": [{"index": number, "function": {"arguments": piece}}]}))
    split.add(delta({}, "stop", model="m"))
    shown += split.end()
    whole.end()

    assert split.completion("x") == whole.completion("x")
    assert "".join(shown) == text


def test_name_and_id_repeated_in_every_piece_are_kept_once() -> None:
    pieces = [{"index": 0, "id": "a", "function": {"name": "f", "arguments": part}} for part in ('{"x"', ": 1", "}")]

    found = folded(*(delta({"tool_calls": [piece]}) for piece in pieces)).message.tool_calls

    assert found == [{"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}]


def test_content_in_parts_is_text() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, {"type": "other"}]

    assert folded(delta({"content": parts})).message.content == "ab"


def piece(arguments: Any = None, name: str | None = None, **fields: Any) -> dict[str, Any]:
    return {**fields, "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    "pieces",
    [
        [piece("{}", "f", index=0, id="a"), piece("[", "g", index=1, id="b"), piece("]", index=1)],
        [piece("{}", "f", index=0, id="a"), piece("[]", "g", index=0, id="b")],
        [piece("{}", "f", id="a"), piece("[", "g", id="b"), piece("]", id="b")],
        [piece("", "f", index=None, id="a"), piece("{}", index=None), piece("[]", "g", index=None, id="b")],
        [piece({}, "f", index=0, id="a"), piece([], "g", index=1, id="b"), piece(None, index=1)],
    ],
    ids=["OpenAI", "all with index 0", "no index", "index null", "arguments as JSON"],
)
def test_pieces_of_calls_are_joined(pieces: list[dict[str, Any]]) -> None:
    calls = folded(*(delta({"content": None, "tool_calls": [piece]}) for piece in pieces), {"choices": None}).message

    assert [(call.call_id, call.name, call.arguments) for call in calls.calls] == [("a", "f", "{}"), ("b", "g", "[]")]


def test_calls_without_ids_get_ids() -> None:
    message = folded(delta({"tool_calls": [piece("1", "f"), piece("2", "g")]}), delta(None)).message

    assert [(call.call_id, call.arguments) for call in message.calls] == [("call_0", "1"), ("call_1", "2")]
