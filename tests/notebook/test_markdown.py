from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.notebook.rendering.markdown import LONGEST, markdown
from tests.notebook.corpus import DANGEROUS_TEX, HOSTILE
from tests.notebook.markup import live_tex, text_of

pieces = st.one_of(
    st.text(max_size=20),
    st.sampled_from(HOSTILE),
    st.sampled_from(["\n", "\n\n", "```", "~~~", "`", "$", "\\(", "\\)", "|", "---|---", "](", "![", "[", "# ", "> "]),
)


@given(st.lists(pieces, max_size=12).map("".join))
def test_any_text_keeps_dangerous_tex_from_the_typesetter(text: str) -> None:
    assert [run for run in live_tex(markdown(text)) if DANGEROUS_TEX.search(run)] == []


def test_tables_keep_their_alignment() -> None:
    html = markdown("| a | b |\n|---|--:|\n| 1 | 2 |\n")

    assert '<th style="text-align:left">a</th>' in html
    assert '<td style="text-align:right">2</td>' in html


def test_very_long_text_is_shown_as_it_is() -> None:
    text = "**x** " * LONGEST

    assert text_of(markdown(text)) == text
