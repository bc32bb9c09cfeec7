import json
import re
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.messages import CodeBlock
from autogen_nb.notebook.rendering import mime
from autogen_nb.notebook.rendering.chat_html import Content, card, code, line, question
from autogen_nb.notebook.rendering.markdown import LONGEST, clean_html, code_html, harmless_tex, markdown
from autogen_nb.notebook.rendering.mime import safe
from autogen_nb.notebook.view.slots import merged
from tests.driven import in_process
from tests.notebook.markup import DANGEROUS_TEX, HOSTILE, code_of, live_tex, problems, text_of

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


def test_message_shows_the_code_that_runs() -> None:
    html = markdown("Run *this*: ```python\nx = '''\n```\n'''\n```</answer>")

    assert text_of(html).split("\n") == ["Run this: pythonx = '''", "```", "'''", "</answer>"]


def test_very_long_text_is_shown_as_it_is() -> None:
    text = "**x** " * LONGEST

    assert text_of(markdown(text)) == text


@pytest.mark.parametrize(
    "tex",
    [
        r"$\href{http://evil.invalid}{x}$", r"$\def\x{\x\x}\x$", r"$\newcommand{\frac}{x}$", r"$\require{html}$",
        r"$\class{lm-Widget}{x}$", r"$\begin{CD}x\end{CD}$", r"$\begin x$", r"$a\\[-50em]b$", r"$\hspace{-50em}x$",
        r"$\begin{array}{*{99999}{c}}\end{array}$", "${{x}$", "$}x{$", "$" + "{" * 50 + "}" * 50 + "$",
        "$" + "x" * 5000 + "$", "$x\\",
    ],
)  # fmt: skip
def test_whatever_acts_or_sprawls_does_not(tex: str) -> None:
    assert not harmless_tex(tex)


languages = st.sampled_from(["python", "sh", "json", "sql", "html", "c++", "", "no such language", "Python"])
# What disguises code is written out instead (a test of its own), and HTML cannot hold lone surrogates.
plain_text = st.text(st.characters(blacklist_categories=("Cc", "Cf", "Cs", "Lo", "Zl", "Zp")) | st.sampled_from("\n\t"))


@given(plain_text, languages)
def test_no_character_of_code_is_lost(source: str, language: str) -> None:
    assert code_of(code_html(source, language)) == source


markup = st.lists(
    st.text(max_size=8) | st.sampled_from(HOSTILE) | st.sampled_from(["<pre>", "\n", "<p", "'", '"', ">"])
)

STYLED = """<style type="text/css">
#T_ab1_row0_col0, #T_ab1_row1_col0 { background-color: #fff7fb; color: #000000; }
#T_ab1_row0_col1 { background: url(http://evil.invalid); position: fixed; font-weight: bold; }
#T_ab1 th { color: red; }
</style><table id="T_ab1"><tbody><tr>
<td id="T_ab1_row0_col0" class="data row0 col0" >1</td><td id="T_ab1_row0_col1" class="data" >2</td>
</tr></tbody></table>"""


@pytest.mark.slow
@given(markup.map("".join))
def test_any_markup_becomes_safe(html: str) -> None:
    cleaned = clean_html(html)

    assert problems(cleaned) == []
    assert live_tex(cleaned) == []
    assert clean_html(cleaned) == cleaned


def test_a_data_frame_keeps_its_table() -> None:
    frame = pd.DataFrame({"price": ["$5", "$6"]}, index=["a", "b"])

    cleaned = clean_html(frame.to_html())

    assert '<table border="1" class="dataframe">' in cleaned
    assert "style>" not in cleaned
    assert text_of(cleaned).split() == ["price", "a", "$5", "b", "$6"]


def test_colours_of_a_styled_table_move_into_its_cells() -> None:
    cleaned = clean_html(STYLED)

    assert '<td style="background-color:#fff7fb;color:#000000">1</td>' in cleaned
    assert '<td style="font-weight:bold">2</td>' in cleaned


FIRST_IN_THREADS = """
import sys, threading
from autogen_nb.notebook.rendering.markdown import code_html
sys.setswitchinterval(1e-6)
threads = [threading.Thread(target=code_html, args=("x = 1", "python")) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def test_threads_highlight_first_at_the_same_time() -> None:
    ran = in_process(FIRST_IN_THREADS)

    assert (ran.returncode, ran.stderr) == (0, "")


LINE: Content = ({"text/html": "<p>line</p>", "text/plain": "line"}, {})
IMAGE: Content = ({"image/png": "AAAA", "text/plain": "<Figure>"}, {})


def test_images_are_joined_where_there_is_no_room() -> None:
    [(data, _)] = merged([LINE, IMAGE] * 4, few=5)

    assert data["text/html"].count('src="data:image/png;base64,AAAA"') == 4


MIMES = ["text/plain", "text/html", "text/markdown", "text/latex", "image/png", "image/svg+xml", "application/json"]
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(st.characters()) | st.binary() | st.integers(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(MIMES) | st.text(), json_values), json_values)
def test_no_bundle_raises_and_every_bundle_can_be_sent(data: dict[str, Any], metadata: object) -> None:
    kept, about = safe(data, metadata)

    assert json.dumps([kept, about], allow_nan=False, ensure_ascii=False).encode()
    assert isinstance(kept["text/plain"], str)
    assert problems(kept.get("text/html", "")) == []


def test_json_and_harmless_tex_pass() -> None:
    data, _ = safe({"application/json": {"a": [1, "\ud800"]}, "text/latex": "$x^2$", "text/plain": "{}"})

    assert data == {"application/json": {"a": [1, "\ufffd"]}, "text/latex": "$x^2$", "text/plain": "{}"}


def test_huge_html_gives_way_to_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mime, "LARGEST", 4)

    data, _ = safe({"text/html": "<p>long</p>", "text/plain": "long"})

    assert text_of(data["text/html"]) == "HTML of 11 characters is not shown: the limit is 4.long"
    assert data["text/plain"] == "long\nHTML of 11 characters is not shown: the limit is 4."


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
    "a question is live": lambda vector: problems(question(vector)) or live_tex(question(vector)),
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
