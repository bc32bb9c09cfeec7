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
    """Whatever a model writes, the markup is of known tags, attributes and schemes."""
    assert problems(markdown(text)) == []


@given(st.lists(pieces, max_size=12).map("".join))
def test_any_text_keeps_dangerous_tex_from_the_typesetter(text: str) -> None:
    """Whatever a model writes, no run of text that could be typeset holds a command that acts."""
    assert [run for run in live_tex(markdown(text)) if DANGEROUS_TEX.search(run)] == []


def test_common_markdown_is_laid_out() -> None:
    """Emphasis, lists and code spans come out as such."""
    html = markdown("**b** and *i*\n\n1. one\n2. `two`\n\n- ~~x~~")

    assert "<strong>b</strong> and <em>i</em>" in html
    assert "<code>two</code>" in html
    assert "<s>x</s>" in html


def test_tables_keep_their_alignment() -> None:
    """A column that the model aligned stays so, and others are set left, as text is."""
    html = markdown("| a | b |\n|---|--:|\n| 1 | 2 |\n")

    assert '<th style="text-align:left">a</th>' in html
    assert '<td style="text-align:right">2</td>' in html


def test_headings_fit_a_cell() -> None:
    """The greatest heading of a message is smaller than a notebook's own."""
    assert markdown("# Plan").startswith("<h3 style=")


def test_links_open_elsewhere_and_tell_nothing() -> None:
    """A link to the web opens a new tab and hands over no opener and no referrer."""
    html = markdown("[docs](https://example.org/a?b=1&c=2)")

    assert 'href="https://example.org/a?b=1&amp;c=2" target="_blank" rel="noopener noreferrer nofollow"' in html


def test_a_forbidden_link_shows_where_it_leads() -> None:
    """A link that is not followed keeps its words and shows its target."""
    assert text_of(markdown("see [plot](sandbox:/plot.png)")) == "see plot (sandbox:/plot.png)\n"


def test_an_image_is_named_with_its_host() -> None:
    """An image becomes a link that says what it is and where it lies."""
    html = markdown("![a *cat*](https://pics.example/cat.png?q=1)")

    assert ">[image: a cat, pics.example]</a>" in html


def test_a_fence_is_highlighted_and_named() -> None:
    """A fenced block stands under its language."""
    html = markdown("```python\nx = 1  # one\n```")

    assert text_of(html).startswith("python")
    assert code_of(html) == "x = 1  # one\n"
    assert "--jp-mirror-editor-comment-color" in html


@pytest.mark.parametrize(
    "formula", ["$x^2$", "$$\\frac{a_1}{b_2}$$", "\\(\\alpha * \\beta * c\\)", "\\begin{align}a\\\\b\\end{align}"]
)
def test_harmless_formulas_are_left_to_the_typesetter(formula: str) -> None:
    """A formula of known commands stays one run of text, untouched by Markdown."""
    assert f"<span>{formula.replace('&', '&amp;')}</span>" in markdown(f"so {formula} holds")


@pytest.mark.parametrize(
    "text", ["from $5 to $10", "$5M-$7M", "US$5 and US$6 then", "`$x$`", "$\\href{http://a}{b}$", "C:\\(x\\Users\\)"]
)
def test_money_and_commands_are_not_formulas(text: str) -> None:
    """Prices stay prices, and a formula with an unknown command stays text."""
    html = markdown(text)

    assert live_tex(html) == []
    assert text_of(html).strip() == text.replace("`", "")


def test_very_long_text_is_shown_as_it_is() -> None:
    """A text beyond the limit is neither cut nor laid out."""
    text = "**x** " * LONGEST

    assert text_of(markdown(text)) == text
