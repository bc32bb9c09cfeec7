import base64
import time
from collections.abc import Callable

import pytest

from autogen_nb.core import analysis
from autogen_nb.core.analysis import sql_effects
from autogen_nb.core.chats.termination_checks import without
from autogen_nb.core.policy import effect_targets
from autogen_nb.core.text.reasoning import split_unopened
from autogen_nb.messages import CodeBlock
from autogen_nb.notebook.rendering.frames import document
from autogen_nb.notebook.rendering.highlighting import code_html
from autogen_nb.notebook.rendering.mime import safe
from autogen_nb.notebook.rendering.sanitize import clean_html

LENGTH = 400_000
MOST_SECONDS = 5
"""Of processor time; each of them took minutes, or hours."""


def _html(html: str) -> Callable[[], object]:
    return lambda: safe({"text/html": html})


def _python(code: str) -> Callable[[], object]:
    return lambda: analysis.effects(CodeBlock("python", code))


TEXTS: dict[str, Callable[[], object]] = {
    "spaces": lambda: safe({"text/plain": " " * LENGTH + "x"}),
    "an address of brackets": _html(f'<a href="http://a/{">" * LENGTH}">x</a>'),
    "elements in elements": _html("<div>" * (LENGTH // 5)),
    "links in bold in links": _html("<a><b>" * (LENGTH // 6)),
    "bold that each paragraph begins anew": _html(
        "<p>" + "".join(f"<b id={number}>" for number in range(4_000)) + "<p>x" * (LENGTH // 4)
    ),
    "bold whose end is in an attribute": _html(
        "<p>" + "".join(f"<b id='></b>{number}'>" for number in range(4_000)) + "<p>x" * (LENGTH // 4)
    ),
    "bold that a cell begins": _html(
        "<table>" + "".join(f"<b id={number}><td></b>" for number in range(4_000)) + "</table>" + "<p>x" * (LENGTH // 4)
    ),
    "attributes": _html("<td " + " ".join(f"a{number}" for number in range(LENGTH // 2)) + ">x"),
    "attributes with signs of tags": _html(
        "<td " + " ".join(f"a{number}='<b>'" for number in range(LENGTH // 4)) + ">x"
    ),
    "frames that do not end": lambda: document({"text/html": "<iframe " * (LENGTH // 8)}),
    "scripts that do not end": lambda: document({"text/html": "<script " * (LENGTH // 8)}),
    "a script of many sources": lambda: document({"text/html": "<script " + "src=" * (LENGTH // 4)}),
    "empty lines of Python": lambda: code_html("\n " * 9_900, "python"),
    "a JPEG of one byte": lambda: safe({"image/jpeg": base64.b64encode(b"\xff\xd8" + b"\xff" * LENGTH).decode()}),
    "signs of thoughts in code": lambda: split_unopened("\n```<think>" * (LENGTH // 11)),
    "signs of thoughts in a line": lambda: split_unopened("`</think>" * (LENGTH // 9)),
    "empty lines": lambda: without("TERMINATE", "\n" * LENGTH),
    "spaces as SQL": _python(f"c.execute({' ' * LENGTH + '!'!r})"),
    "SQL that copies": _python(f"pd.read_sql({'copy ' * (LENGTH // 5)!r}, c)"),
    "a module of dots": _python(f"importlib.import_module({'a.' * (LENGTH // 20)!r})"),
    "a host of colons": lambda: effect_targets.address(":" * LENGTH + "!"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_slow_reading_is_cut_short(name: str) -> None:
    begun = time.process_time()

    TEXTS[name]()

    assert time.process_time() - begun < MOST_SECONDS


@pytest.mark.parametrize(
    "cell",
    [
        '<td id="T_a_row0" class="data row0 col0" style="color: red">x</td>',
        "<td><b>x</b> and <span title='it'>y</span></td>",
        '<td><div><a href="http://a"><code>x</code></a></div><!-- a cell --><td>y',
    ],
)
def test_a_large_table_is_cleaned(cell: str) -> None:
    row = f"<tr>{cell * 10}</tr>"

    shown = clean_html(f"<style type='text/css'>a {{b: c}}</style><table>{row * 300}</table>")

    assert shown.count("<td") >= 3_000


def test_a_long_statement_is_asked_about() -> None:
    found = analysis.effects(CodeBlock("python", f"pd.read_sql({'select 1 -- ' + 'x' * 10_000!r}, c)"))

    assert not sql_effects.is_query_prefix("select 1 -- " + "x" * 10_000)
    assert any("too long to be read" in effect.words for effect in found)
