"""Messages and lines."""

import subprocess
import sys

from autogen_nb.messages import CodeBlock
from autogen_nb.notebook.rendering.chat_html import bundle, card, code, folded, line, preformatted, question
from tests.notebook.markup import code_of, problems, text_of


def test_a_card_says_who_speaks() -> None:
    html = card("assistant", "<p>hello</p>", detail="gpt-4o, 2.1 s")

    assert "<strong>assistant</strong>" in html
    assert text_of(html) == "\u25cf assistant \u00b7 gpt-4o, 2.1 shello"
    assert problems(html) == []


def test_a_line_shows_code_spans() -> None:
    html = line("`x<y` is <b>")

    assert "<code>x&lt;y</code> is &lt;b&gt;" in html


def test_a_lines_meaning_does_not_hang_on_colour() -> None:
    assert [text_of(line("x", tone=tone)) for tone in ("muted", "good", "warning", "bad")] == [
        "x",
        "\u2713 x",
        "! x",
        "\u2715 x",
    ]


def test_code_stands_under_its_label() -> None:
    assert text_of(code(CodeBlock("python", "x"))) == "pythonx"
    assert text_of(code(CodeBlock("python", "x"), label="block 1 of 2")) == "block 1 of 2x"
    assert text_of(code(CodeBlock("", "x"))) == "x"


def test_preformatted_text_is_kept() -> None:
    assert code_of(preformatted("\n a  <b>\n")) == "\n a  <b>\n"


def test_a_bundle_names_its_kind() -> None:
    assert bundle("<p>x</p>", "x", kind="message") == (
        {"text/html": "<p>x</p>", "text/plain": "x"},
        {"autogen_nb": {"kind": "message"}},
    )


def test_importing_loads_nothing_heavy() -> None:
    source = (
        "import sys, autogen_nb.notebook.rendering.mime;"
        "print(sorted({'nh3', 'markdown_it', 'pygments', 'IPython'} & set(sys.modules)))"
    )

    shown = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)

    assert shown.stdout.strip() == "[]"


def test_folded_text_stands_behind_its_summary() -> None:
    html = folded("`KeyError: '<b>'` of it", "<i>traceback")

    assert html.startswith("<details><summary")
    assert text_of(html.split("</summary>")[0]) == "\u2715 KeyError: '<b>' of it"
    assert problems(html) == []
    assert code_of(html.split("</summary>")[1]) == "<i>traceback"


def test_a_question_is_escaped() -> None:
    assert text_of(question("Run `a<b` now?")) == "Run a<b now?"
