import re
from collections.abc import Callable

import pytest

from autogen_nb.messages import CodeBlock
from autogen_nb.notebook.rendering.chat_html import card, code, line
from autogen_nb.notebook.rendering.markdown import markdown
from autogen_nb.notebook.rendering.mime import safe
from autogen_nb.notebook.rendering.sanitize import clean_html
from tests.notebook.corpus import DANGEROUS_TEX, HOSTILE
from tests.notebook.markup import live_tex, problems, text_of

MIME_TYPES = ["text/html", "text/markdown", "text/latex", "image/svg+xml"]


def bundles(vector: str) -> list[str]:
    return [str(safe({mime: vector, "text/plain": vector})[0].get("text/html", "")) for mime in MIME_TYPES]


def dangerous(html: str) -> list[str]:
    return [run for run in live_tex(html) if DANGEROUS_TEX.search(run)]


def kept_of_unknown_types(vector: str) -> set[str]:
    live = ("application/javascript", "application/vnd.jupyter.widget-view+json", vector)
    data, _ = safe(dict.fromkeys(live, vector) | {"text/plain": "<x>"})
    return set(data) ^ {"text/plain", "text/html"}


def live_in_a_card(vector: str) -> object:
    html = card(vector, line(vector) + code(CodeBlock(vector, vector)), detail=vector)
    return problems(html) or live_tex(html) or plain(vector) not in plain(text_of(html))


def plain(text: str) -> str:
    return text.replace("`", "").replace("\x01", "")


FAULTS: dict[str, Callable[[str], object]] = {
    "markdown is live": lambda vector: problems(markdown(vector)),
    "markdown loads an image": lambda vector: "<img" in markdown(vector),
    "dangerous TeX of a model is typeset": lambda vector: dangerous(markdown(vector)),
    "HTML of a kernel is live": lambda vector: problems(clean_html(vector)),
    "HTML of a kernel loads an image": lambda vector: "<img" in clean_html(vector),
    "text of a kernel is typeset": lambda vector: live_tex(clean_html(vector)),
    "cleaning twice changes something": lambda vector: clean_html(once := clean_html(vector)) != once,
    "a card is live, or not the whole text": live_in_a_card,
    "an unknown type is kept": kept_of_unknown_types,
    "a bundle is live": lambda vector: [problem for html in bundles(vector) for problem in problems(html)],
}


@pytest.mark.parametrize("fault", FAULTS)
def test_no_hostile_markup_has_a_fault(fault: str) -> None:
    assert len(HOSTILE) >= 80
    assert {vector: what for vector in HOSTILE if (what := FAULTS[fault](vector))} == {}


@pytest.mark.parametrize(
    "shown", [markdown("[a](http://a.b)"), clean_html('<a href="http://a.b" rel=opener target=x>a</a>')]
)
def test_links_open_a_page_that_cannot_reach_the_notebook(shown: str) -> None:
    (link,) = re.findall("<a [^>]*>", shown)

    assert sorted(link[3:-1].split('" ')) == [
        'href="http://a.b',
        'rel="noopener noreferrer nofollow"',
        'target="_blank',
    ]
