import base64
import gc
import time
from collections.abc import Callable

import pytest

from autogen_nb.core import analysis
from autogen_nb.core.chats.termination_checks import without
from autogen_nb.core.policy.rules import host_and_port
from autogen_nb.core.text.reasoning import split_unopened
from autogen_nb.messages import CodeBlock
from autogen_nb.notebook.rendering.markdown import clean_html, code_html
from autogen_nb.notebook.rendering.mime import document, safe

LENGTH = 400_000


def _html(text: Callable[[int], str]) -> Callable[[int], object]:
    return lambda length: safe({"text/html": text(length)})


def _python(code: Callable[[int], str]) -> Callable[[int], object]:
    return lambda length: analysis.effects.__wrapped__(CodeBlock("python", code(length)))


def _bold(form: str, length: int) -> str:
    return "".join(form.format(number) for number in range(length // 100))


TEXTS: dict[str, Callable[[int], object]] = {
    "spaces": lambda length: safe({"text/plain": " " * length + "x"}),
    "an address of brackets": _html(lambda length: f'<a href="http://a/{">" * length}">x</a>'),
    "elements in elements": _html(lambda length: "<div>" * (length // 5)),
    "links in bold in links": _html(lambda length: "<a><b>" * (length // 6)),
    "bold that each paragraph begins anew": _html(
        lambda length: "<p>" + _bold("<b id={}>", length) + "<p>x" * (length // 4)
    ),
    "bold whose end is in an attribute": _html(
        lambda length: "<p>" + _bold("<b id='></b>{}'>", length) + "<p>x" * (length // 4)
    ),
    "bold that a cell begins": _html(
        lambda length: "<table>" + _bold("<b id={}><td></b>", length) + "</table>" + "<p>x" * (length // 4)
    ),
    "attributes": _html(lambda length: "<td " + " ".join(f"a{number}" for number in range(length // 2)) + ">x"),
    "attributes with signs of tags": _html(
        lambda length: "<td " + " ".join(f"a{number}='<b>'" for number in range(length // 4)) + ">x"
    ),
    "frames that do not end": lambda length: document({"text/html": "<iframe " * (length // 8)}),
    "scripts that do not end": lambda length: document({"text/html": "<script " * (length // 8)}),
    "a script of many sources": lambda length: document({"text/html": "<script " + "src=" * (length // 4)}),
    "empty lines of Python": lambda length: code_html("\n " * (length // 41), "python"),
    "a JPEG of one byte": lambda length: safe(
        {"image/jpeg": base64.b64encode(b"\xff\xd8" + b"\xff" * length).decode()}
    ),
    "signs of thoughts in code": lambda length: split_unopened("\n```<think>" * (length // 11)),
    "signs of thoughts in a line": lambda length: split_unopened("`</think>" * (length // 9)),
    "empty lines": lambda length: without("TERMINATE", "\n" * length),
    "spaces as SQL": _python(lambda length: f"c.execute({' ' * length + '!'!r})"),
    "SQL that copies": _python(lambda length: f"pd.read_sql({'copy ' * (length // 5)!r}, c)"),
    "SQL that copies much": _python(lambda length: f"pd.read_sql({'copy ' * 1_900!r}, c)\n" * (length // 10_000)),
    "a module of dots": _python(lambda length: f"importlib.import_module({'a.' * (length // 20)!r})"),
    "names of names": _python(lambda length: "\n".join(f"a{n} = a{n + 1}.b" for n in range(length // 20))),
    "texts of texts": _python(lambda length: "\n".join(f"a{n} = a{n + 1} + a{n + 1}" for n in range(length // 40))),
    "calls of calls": _python(lambda length: "x" + "()" * 500 + "\n" + "x.a().b('c')\n" * (length // 20)),
    "quotes in a shell": lambda length: analysis.effects.__wrapped__(CodeBlock("sh", "echo '\n" * (length // 7))),
    "substitutions in a shell": lambda length: analysis.effects.__wrapped__(CodeBlock("sh", "$(" * (length // 2))),
    "lines of magics": _python(lambda length: "%cd x\n" * (length // 6)),
    "a host of colons": lambda length: host_and_port(":" * length + "!"),
}
"""Each of them took minutes, or hours."""


def seconds(read: Callable[[int], object], length: int) -> float:
    # A collection of garbage would count what other tests have left.
    gc.disable()
    try:
        begun = time.process_time()
        read(length)
        return time.process_time() - begun
    finally:
        gc.enable()


@pytest.mark.parametrize("name", TEXTS)
def test_work_grows_with_the_length_alone(name: str) -> None:
    read = TEXTS[name]
    read(LENGTH // 4)

    few, many = seconds(read, LENGTH // 4), seconds(read, LENGTH)

    # Work that grows with the square takes sixteen times as long; what takes no time at all is no matter.
    assert many < 9 * few + 0.1


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

    assert any("too long to be read" in effect.words for effect in found)
