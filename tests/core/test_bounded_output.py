import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.core.text.bounded_output import LIMIT, MOST, BoundedOutputs, HeadAndTail
from autogen_nb.outputs import Display, Output, Result, Stream


def told(pieces: list[str], limit: int) -> tuple[str, HeadAndTail]:
    found = HeadAndTail(limit)
    for piece in pieces:
        found.add(piece)
    return found.text(), found


@given(st.lists(st.text("ab\n", max_size=20)), st.integers(0, 30))
def test_head_and_tail_are_exact(pieces: list[str], limit: int) -> None:
    whole = "".join(pieces)
    text, found = told(pieces, limit)

    head, tail = limit - limit // 2, limit // 2
    missing = len(whole) - limit
    cut = f"{whole[:head]}\n... [{missing:,} characters left out] ...\n{whole[len(whole) - tail :]}"
    assert text == (whole if missing <= 0 else cut)
    assert found.total == len(whole)
    assert found.left_out == max(0, missing)


@pytest.mark.slow
def test_a_million_lines_take_little_memory() -> None:
    found = HeadAndTail()
    for number in range(1_000_000):
        found.add(f"{number}\n")

    held = sum(sys.getsizeof(piece) + 8 for piece in (*found._head, *found._tail))
    assert held < 20 * LIMIT
    assert len(found.text()) < LIMIT + 100
    assert found.left_out == 6_888_890 - LIMIT


def kept(outputs: list[Output], **limits: int) -> tuple[Output, ...]:
    bounded = BoundedOutputs(**limits)
    for output in outputs:
        bounded.add(output)
    return bounded.all()


@pytest.mark.slow
def test_of_many_outputs_the_first_and_the_last_are_kept() -> None:
    outputs = kept([Display({"text/plain": str(n)}, display_id=str(n)) for n in range(100_000)])

    assert len(outputs) == MOST + 1
    assert outputs[0] == Display({"text/plain": "0"}, display_id="0")
    assert outputs[MOST // 2] == Stream("stderr", "... [99,800 outputs left out] ...\n")
    assert outputs[-1] == Display({"text/plain": "99999"}, display_id="99999")


def test_all_kinds_of_output_may_be_left_out() -> None:
    outputs = kept([Result({"text/plain": str(n)}) for n in range(5)], most=2)

    assert outputs[1:] == (Stream("stderr", "... [3 outputs left out] ...\n"), Result({"text/plain": "4"}))
