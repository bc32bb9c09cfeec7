"""Which parts of a chat count: the tests run its code in a real IPython shell, whose errors name their lines."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

from autogen_nb.events import CodeAsked, CodeRan, Recorded, Said
from autogen_nb.messages import CodeBlock, Message
from autogen_nb.outputs import Display, Failure, Output, Result, Stream
from autogen_nb.sessions.document import Code, Document, code_of, difference, parts_of_run


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    yield InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    InteractiveShell.clear_instance()


def ran(shell: InteractiveShell, *codes: str) -> list[Recorded]:
    """The events of a message with these blocks, run in order until one fails."""
    asked = CodeAsked("user", tuple(CodeBlock("python", code) for code in codes))
    fences = "\n".join(f"```python\n{code}\n```" for code in codes)
    said = Said("assistant", "user", Message(f"About {codes[0].split()[0]}.\n{fences}"))
    for number, code in enumerate(codes, 1):
        with capture_output() as captured:
            result = shell.run_cell(code)
        if not result.success:
            error = result.error_before_exec or result.error_in_exec
            failure = Failure(type(error).__name__, str(error), tuple(captured.stdout.split("\n")))
            return [said, asked, CodeRan(1, (failure,), number)]
    return [said, asked, CodeRan(0, (), len(codes))]


def found(*log: Recorded) -> list[str]:
    task = Said("user", "assistant", Message("Go on."))
    return [
        code_of(part.asked.blocks) if isinstance(part, Code) else f"{part.author}: {part.text}"
        for part in parts_of_run("Go on.", [task, *log])
    ]


@pytest.mark.parametrize(
    ("failing", "rest"),
    [
        ("x = 1\ny = 1 / 0", "x = 1"),
        ("x = (\n    1\n)\nif x:\n    z = 1\n    nowhere\n", "x = (\n    1\n)"),
        ("x = []\ndef f():\n    raise ValueError\n\nf()\nx = 2", "x = []\ndef f():\n    raise ValueError\n"),
        ("unrelated = 1\nnowhere", None),
        ("nowhere\nx = 1", None),
        ("x = = 1", None),
        ("%nomagic x\nx = 1", None),
    ],
)
def test_statements_before_an_error_stay_if_they_are_used(
    shell: InteractiveShell, failing: str, rest: str | None
) -> None:
    again = "x = 3\nx"

    shown = found(*ran(shell, failing), *ran(shell, again))

    assert [text.rstrip() for text in shown[1:]] == [*([rest.rstrip()] if rest else []), "assistant: About x.", again]


def test_words_and_code_are_in_order_with_the_blocks_before_a_failed_one(shell: InteractiveShell) -> None:
    last = Said("assistant", "user", Message("It is 1.\nTERMINATE"))

    assert found(*ran(shell, "x = 1", "y = 2", "v = 1\nnowhere", "z = 1"), *ran(shell, "print(x)"), last) == [
        ": Go on.",
        "x = 1\n\ny = 2",
        "assistant: About print(x).",
        "print(x)",
        "assistant: It is 1.",
    ]


def test_shell_block_is_a_cell_magic() -> None:
    assert code_of([CodeBlock("bash", "ls 'a'\n")]) == "get_ipython().run_cell_magic('bash', '', \"ls 'a'\\n\")"


@pytest.mark.parametrize("suffix", [".ipynb", ".py", ".md", ".html"])
def test_half_an_emoji_leaves_the_rest_of_a_document(suffix: str) -> None:
    document = Document()
    document.add_words("Half \ud83d")
    document.add_code("print('all')")

    assert b"all" in document.files(Path(f"chat{suffix}"))[f"chat{suffix}"]


PLOTLY = "application/vnd.plotly.v1+json"
VEGA = "application/vnd.vegalite.v5+json"


def html(text: str) -> Output:
    return Display({"text/html": text})


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([Stream("stdout", "a"), Stream("stdout", "b")], [Stream("stdout", "ab")], ""),
        ([Stream("stdout", "a")], [Stream("stderr", "a\n")], "outputs"),
        ([Result({"text/plain": "<A at 0x7f0012345678>"})], [Result({"text/plain": "<A at 0x7f0087654321>"})], ""),
        ([Stream("stdout", "took 1.5 s")], [Stream("stdout", "took 2.25 ms")], "time"),
        ([Stream("stdout", "2026-11-25 10:00")], [Stream("stdout", "2026-11-26 11:30")], "time"),
        ([Stream("stdout", "1.5")], [Stream("stdout", "1.6")], "outputs"),
        ([Display({PLOTLY: {"y": [1]}})], [Display({PLOTLY: {"y": [2]}})], "outputs"),
        ([Display({VEGA: {"b": 1, "a": 2}})], [Display({VEGA: {"a": 2, "b": 1}})], ""),
        ([Display({VEGA: {"data": 1}})], [Display({VEGA: {"data": 2}})], "outputs"),
        ([html("<p id=a1>6</p><script>x('a1')</script>")], [html("<p id=b2>6</p><script>x('b2')</script>")], ""),
        ([html("<td id=a1>6</td>")], [html("<td id=a1>7</td>")], "outputs"),
        ([Display({"image/png": "AA"})], [Display({"image/png": "AB"})], "outputs"),
        ([Display({"a/b": "1"})], [Display({"c/d": "1"})], "outputs"),
    ],
)
def test_outputs_are_compared(before: list[Output], after: list[Output], expected: str) -> None:
    assert difference(before, after) == expected
