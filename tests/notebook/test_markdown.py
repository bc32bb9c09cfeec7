r"""A model's Markdown, as it reads in a cell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.notebook.rendering.markdown import LONGEST, markdown
from tests.notebook.corpus import DANGEROUS_TEX, HOSTILE
from tests.notebook.markup import code_of, live_tex, problems, text_of

pieces = st.one_of(
    st.text(max_size=20),
    st.sampled_from(HOSTILE),
    st.sampled_from(["\n", "\n\n", "```", "~~~", "`", "$", "\\(", "\\)", "|", "---|---", "](", "![", "[", "# ", "> "]),
)


@given(st.lists(pieces, max_size=12).map("".join))
def test_any_text_becomes_safe_markup(text: str) -> None:
    assert problems(markdown(text)) == []


@given(st.lists(pieces, max_size=12).map("".join))
def test_any_text_keeps_dangerous_tex_from_the_typesetter(text: str) -> None:
    assert [run for run in live_tex(markdown(text)) if DANGEROUS_TEX.search(run)] == []


def test_common_markdown_is_laid_out() -> None:
    html = markdown("**b** and *i*\n\n1. one\n2. `two`\n\n- ~~x~~")

    assert "<strong>b</strong> and <em>i</em>" in html
    assert "<code>two</code>" in html
    assert "<s>x</s>" in html


def test_tables_keep_their_alignment() -> None:
    html = markdown("| a | b |\n|---|--:|\n| 1 | 2 |\n")

    assert '<th style="text-align:left">a</th>' in html
    assert '<td style="text-align:right">2</td>' in html


def test_headings_fit_a_cell() -> None:
    assert markdown("# Plan").startswith("<h3 style=")


def test_links_open_elsewhere_and_tell_nothing() -> None:
    html = markdown("[docs](https://example.org/a?b=1&c=2)")

    assert 'href="https://example.org/a?b=1&amp;c=2" target="_blank" rel="noopener noreferrer nofollow"' in html


def test_a_forbidden_link_shows_where_it_leads() -> None:
    assert text_of(markdown("see [plot](sandbox:/plot.png)")) == "see plot (sandbox:/plot.png)\n"


def test_an_image_is_named_with_its_host() -> None:
    html = markdown("![a *cat*](https://pics.example/cat.png?q=1)")

    assert ">[image: a cat, pics.example]</a>" in html


def test_a_fence_is_highlighted_and_named() -> None:
    html = markdown("```python\nx = 1  # one\n```")

    assert text_of(html).startswith("python")
    assert code_of(html) == "x = 1  # one\n"
    assert "--jp-mirror-editor-comment-color" in html


@pytest.mark.parametrize(
    "formula", ["$x^2$", "$$\\frac{a_1}{b_2}$$", "\\(\\alpha * \\beta * c\\)", "\\begin{align}a\\\\b\\end{align}"]
)
def test_harmless_formulas_are_left_to_the_typesetter(formula: str) -> None:
    assert f"<span>{formula.replace('&', '&amp;')}</span>" in markdown(f"so {formula} holds")


@pytest.mark.parametrize(
    "text", ["from $5 to $10", "$5M-$7M", "US$5 and US$6 then", "`$x$`", "$\\href{http://a}{b}$", "C:\\(x\\Users\\)"]
)
def test_money_and_commands_are_not_formulas(text: str) -> None:
    html = markdown(text)

    assert live_tex(html) == []
    assert text_of(html).strip() == text.replace("`", "")


def test_very_long_text_is_shown_as_it_is() -> None:
    text = "**x** " * LONGEST

    assert text_of(markdown(text)) == text
