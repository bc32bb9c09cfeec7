"""No vector of the corpus gets through any of the doors."""

import pytest

from autogen_nb.messages import CodeBlock
from autogen_nb.notebook.rendering.chat_html import card, code, line, markdown
from autogen_nb.notebook.rendering.mime import safe
from autogen_nb.notebook.rendering.sanitize import clean_html
from tests.notebook.corpus import DANGEROUS_TEX, HOSTILE
from tests.notebook.markup import live_tex, problems, text_of

every_vector = pytest.mark.parametrize("vector", HOSTILE, ids=range(len(HOSTILE)))


def test_the_corpus_is_not_small() -> None:
    """At least eighty vectors are tried."""
    assert len(HOSTILE) >= 80


@every_vector
def test_markdown_holds_nothing_live(vector: str) -> None:
    """A model's Markdown becomes markup of known tags, attributes and schemes only."""
    assert problems(markdown(vector)) == []


@every_vector
def test_markdown_loads_no_image(vector: str) -> None:
    """An image in a model's Markdown is named, never loaded."""
    assert "<img" not in markdown(vector)


@every_vector
def test_kernel_html_holds_nothing_live(vector: str) -> None:
    """HTML from the agent's kernel becomes markup of known tags, attributes and schemes only."""
    assert problems(clean_html(vector)) == []


@every_vector
def test_kernel_html_loads_no_image(vector: str) -> None:
    """A picture inside the kernel's HTML is left out: its address could carry data away."""
    assert "<img" not in clean_html(vector)


@every_vector
def test_cleaning_twice_changes_nothing(vector: str) -> None:
    """Cleaned HTML is clean."""
    once = clean_html(vector)

    assert clean_html(once) == once


@every_vector
def test_no_text_of_the_kernel_is_typeset(vector: str) -> None:
    """No two TeX delimiters of the kernel's HTML meet in one run of text."""
    assert live_tex(clean_html(vector)) == []


@every_vector
def test_no_dangerous_tex_of_a_model_is_typeset(vector: str) -> None:
    """What is left for the typesetter in a model's Markdown holds no command that acts."""
    assert [run for run in live_tex(markdown(vector)) if DANGEROUS_TEX.search(run)] == []


@every_vector
@pytest.mark.parametrize("mime", ["text/html", "text/markdown", "text/latex", "image/svg+xml"])
def test_a_bundle_holds_nothing_live(mime: str, vector: str) -> None:
    """Whatever type the vector claims to be, the HTML of the bundle is harmless."""
    data, _ = safe({mime: vector, "text/plain": vector})

    assert problems(data.get("text/html", "")) == []


@every_vector
def test_frames_show_hostile_text_as_text(vector: str) -> None:
    """A vector as a speaker, a detail, a line or code is shown, not obeyed."""
    html = card(vector, line(vector) + code(CodeBlock(vector, vector)), detail=vector)

    assert problems(html) == []
    assert live_tex(html) == []
    assert vector.replace("`", "").replace("\x01", "") in text_of(html).replace("`", "").replace("\x01", "")


@every_vector
def test_nothing_is_kept_of_unknown_types(vector: str) -> None:
    """Scripts and other live types never pass, not even beside something that does."""
    live = ("application/javascript", "application/vnd.jupyter.widget-view+json", vector)
    data, _ = safe(dict.fromkeys(live, vector) | {"text/plain": "<x>"})

    assert set(data) == {"text/plain", "text/html"}
