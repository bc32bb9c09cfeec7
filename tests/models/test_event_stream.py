import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.models.openai.response_body import EventStream

BODY = b'data: {"a": "\xc3\xa9"}\r\n\r\n: comment\n\nevent: x\ndata: one\ndata: two\n\ndata:[DONE]\n\n'
DATA = ['{"a": "é"}', "one\ntwo", "[DONE]"]


@given(places=st.lists(st.integers(min_value=0, max_value=len(BODY))))
def test_events_do_not_depend_on_how_the_network_cut_them(places: list[int]) -> None:
    edges = sorted({0, len(BODY), *places})
    stream = EventStream()

    found = [data.decode() for start, end in pairwise(edges) for data in stream.feed(BODY[start:end])]

    assert found == DATA


@pytest.mark.parametrize("rest", [b"data: last", b"data: last\n", b"data: last\r\n"])
def test_last_event_needs_no_empty_line(rest: bytes) -> None:
    stream = EventStream()

    assert [*stream.feed(rest), *stream.end()] == [b"last"]


def test_nothing_is_left_at_the_end_of_whole_events() -> None:
    stream = EventStream()
    stream.feed(BODY)

    assert stream.end() == []


def test_a_long_line_costs_no_more_than_its_length() -> None:
    stream = EventStream()
    begun = time.thread_time()

    found = [data for block in [b"data: ", *[b"x" * 2000] * 5000, b"\n\n"] for data in stream.feed(block)]

    assert [len(data) for data in found] == [10_000_000]
    assert time.thread_time() - begun < 1
