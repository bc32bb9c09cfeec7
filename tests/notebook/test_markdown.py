import subprocess
import sys

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.notebook.rendering.highlighting import code_html
from autogen_nb.notebook.rendering.markdown import LONGEST, markdown
from autogen_nb.notebook.rendering.sanitize import clean_html
from autogen_nb.notebook.rendering.tex import harmless
from tests.notebook.corpus import DANGEROUS_TEX, HOSTILE
from tests.notebook.markup import code_of, live_tex, problems, text_of

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


@pytest.mark.parametrize(
    "tex",
    [
        r"$\href{http://evil.invalid}{x}$",
        r"$\def\x{\x\x}\x$",
        r"$\newcommand{\frac}{x}$",
        r"$\require{html}$",
        r"$\class{lm-Widget}{x}$",
        r"$\begin{CD}x\end{CD}$",
        r"$\begin x$",
        r"$a\\[-50em]b$",
        r"$\hspace{-50em}x$",
        r"$\begin{array}{*{99999}{c}}\end{array}$",
        "${{x}$",
        "$}x{$",
        "$" + "{" * 50 + "}" * 50 + "$",
        "$" + "x" * 5000 + "$",
        "$x\\",
    ],
)
def test_whatever_acts_or_sprawls_does_not(tex: str) -> None:
    assert not harmless(tex)


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


@given(markup.map("".join))
def test_cleaning_is_idempotent(html: str) -> None:
    once = clean_html(html)

    assert clean_html(once) == once


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
from autogen_nb.notebook.rendering.highlighting import code_html
sys.setswitchinterval(1e-6)
threads = [threading.Thread(target=code_html, args=("x = 1", "python")) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def test_threads_highlight_first_at_the_same_time() -> None:
    run = subprocess.run([sys.executable, "-c", FIRST_IN_THREADS], capture_output=True, text=True, check=True)

    assert run.stderr == ""
