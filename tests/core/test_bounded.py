"""Text without end in memory with an end."""

import sys

from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.core.bounded import LIMIT, HeadAndTail


def told(pieces: list[str], limit: int) -> tuple[str, HeadAndTail]:
    """What is left of the pieces."""
    found = HeadAndTail(limit)
    for piece in pieces:
        found.add(piece)
    return found.text(), found


@given(st.lists(st.text("ab\n", max_size=20)), st.integers(0, 30))
def test_head_and_tail_are_exact(pieces: list[str], limit: int) -> None:
    """However the text comes, its first and last characters are kept, and the number between them is told."""
    whole = "".join(pieces)
    text, found = told(pieces, limit)

    head, tail = limit - limit // 2, limit // 2
    missing = len(whole) - limit
    cut = f"{whole[:head]}\n... [{missing:,} characters left out] ...\n{whole[len(whole) - tail :]}"
    assert text == (whole if missing <= 0 else cut)
    assert found.total == len(whole)
    assert found.left_out == max(0, missing)


def test_more_may_come_after_a_look() -> None:
    """The text may be asked for again and again while it grows."""
    found = HeadAndTail(4)
    for piece in ("ab", "cd", "ef", "gh"):
        found.add(piece)
        found.text()

    assert found.text("all of it is in out.txt") == ("ab\n... [4 characters left out; all of it is in out.txt] ...\ngh")


def test_a_million_lines_take_little_memory() -> None:
    """What is held does not grow with what comes."""
    found = HeadAndTail()
    for number in range(1_000_000):
        found.add(f"{number}\n")

    held = sum(sys.getsizeof(piece) + 8 for piece in (*found._head, *found._tail))
    assert held < 20 * LIMIT
    assert len(found.text()) < LIMIT + 100
    assert found.left_out == 6_888_890 - LIMIT
