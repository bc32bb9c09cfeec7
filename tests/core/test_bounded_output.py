import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.core.text.bounded_output import LIMIT, MOST, BoundedOutputs, HeadAndTail, merge_outputs
from autogen_nb.outputs import Cleared, Display, Failure, Output, Result, Stream


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


def test_more_may_come_after_a_look() -> None:
    found = HeadAndTail(4)
    for piece in ("ab", "cd", "ef", "gh"):
        found.add(piece)
        found.text()

    assert found.text("all of it is in out.txt") == ("ab\n... [4 characters left out; all of it is in out.txt] ...\ngh")


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


any_output = st.one_of(
    st.builds(Stream, st.sampled_from(["stdout", "stderr"]), st.text("ab", max_size=5)),
    st.builds(
        Display,
        st.fixed_dictionaries({"text/plain": st.text("xyz", max_size=1)}),
        st.just({}),
        st.sampled_from([None, "1", "2"]),
        st.booleans(),
    ),
    st.builds(Result, st.just({"text/plain": "5"})),
    st.just(Failure("KeyError", "x")),
    st.builds(Cleared, st.booleans()),
)


@given(st.lists(any_output, max_size=30))
def test_little_output_is_kept_as_it_settles(outputs: list[Output]) -> None:
    settled = merge_outputs(outputs)

    assert list(kept(outputs)) == settled
    assert merge_outputs(settled) == settled
    assert not any(isinstance(each, Display) and each.update for each in settled)


@pytest.mark.slow
def test_of_many_outputs_the_first_and_the_last_are_kept() -> None:
    outputs = kept([Display({"text/plain": str(n)}, display_id=str(n)) for n in range(100_000)])

    assert len(outputs) == MOST + 1
    assert outputs[0] == Display({"text/plain": "0"}, display_id="0")
    assert outputs[MOST // 2] == Stream("stderr", "... [99,800 outputs left out] ...\n")
    assert outputs[-1] == Display({"text/plain": "99999"}, display_id="99999")


def test_an_output_that_was_left_out_can_be_updated() -> None:
    bounded = BoundedOutputs(most=2)
    for display_id in ("a", "b", "b", "c"):
        bounded.add(Display({"text/plain": "old"}, display_id=display_id))
    bounded.add(Display({"text/plain": "new"}, display_id="b", update=True))
    bounded.add(Display({"text/plain": "new"}, display_id="c", update=True))

    assert bounded.all("see out.txt") == (
        Display({"text/plain": "old"}, display_id="a"),
        Stream("stderr", "... [2 outputs left out; see out.txt] ...\n"),
        Display({"text/plain": "new"}, display_id="c"),
    )


def test_all_kinds_of_output_may_be_left_out() -> None:
    outputs = kept([Result({"text/plain": str(n)}) for n in range(5)], most=2)

    assert outputs[1:] == (Stream("stderr", "... [3 outputs left out] ...\n"), Result({"text/plain": "4"}))


def test_text_is_bounded_run_by_run() -> None:
    pieces = [Stream("stdout" if n % 2 else "stderr", "x" * 1000) for n in range(100)]

    outputs = kept(list(pieces), limit=1000)

    assert len(outputs) == 100
    assert sum(len(each.text) for each in outputs if isinstance(each, Stream)) < 8 * 1000 + 100 * 50
    assert outputs[0] == pieces[0]


def test_one_of_several_updated_outputs_may_be_left_out() -> None:
    bounded = BoundedOutputs(most=4)
    for _ in range(6):
        bounded.add(Display({"text/plain": "old"}, display_id="a"))
    bounded.add(Display({"text/plain": "new"}, display_id="a", update=True))

    shown = [each.data["text/plain"] for each in bounded.all() if isinstance(each, Display)]
    assert shown == ["new"] * 4
