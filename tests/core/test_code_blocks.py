from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.core.text.code_blocks import CodeReading, defined_names, read
from tests.corpus import sections

CODE = st.text(st.characters(blacklist_characters="\r\n\0", blacklist_categories=["Cs"]))
"""A line of anything; a carriage return ends a line, and CommonMark replaces NUL."""


def fences(kind: str) -> list[Any]:
    heads = sections(Path(__file__).with_name("fences.txt"))
    return [pytest.param(text, id=head) for head, text in heads if head.startswith(f"{kind} |")]


def blocks(text: str, *known: str) -> list[tuple[str, str]]:
    return [(block.language, block.code) for block in read(text, frozenset(known)).blocks]


@pytest.mark.parametrize(
    "text",
    [
        *fences("closed"),
        pytest.param("- A list\n```python\nx = 1\n```", id="after a list"),
        pytest.param("``` python\nx = 1\n``` ", id="space before the tag and after the end"),
        pytest.param("```python\r\nx = 1\r\n```\r\n", id="CRLF"),
        pytest.param("```python\rx = 1\r```\r", id="CR"),
        pytest.param("```python\n\tx = 1\n```", id="code after a tab is dedented"),
        pytest.param("text\x0b\u2028more\n```python\nx = 1\n```", id="after what only Python takes for a line end"),
    ],
)
def test_closed_fence_is_code(text: str) -> None:
    assert blocks(text) == [("python", "x = 1")]


@pytest.mark.parametrize("html", "<!-- <pre> <script> <think> <?xml <![CDATA[ <!DOCTYPE <div> <br/> </a>".split())
@pytest.mark.parametrize("indent", ["", "    "])
def test_fence_below_html_is_code(html: str, indent: str) -> None:
    assert blocks(f"{html}\n{indent}~~~python\n{indent}x = 1\n{indent}~~~\n-->") == [("python", "x = 1")]


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("sh", "sh"),
        ("bash", "bash"),
        ("zsh", "bash"),
        ("shell", "sh"),
        ("c++", "c++"),
        ("R", "r"),
        ("javascript", "javascript"),
    ],
)
def test_tag_names_the_language(tag: str, language: str) -> None:
    assert blocks(f"```{tag}\nls\n```") == [(language, "ls")]


@pytest.mark.slow
@given(st.lists(CODE))
def test_no_character_of_code_is_lost(lines: list[str]) -> None:
    code = "\n".join(["start", *lines, "end"])
    fence = "`" * (len(code) + 3)

    assert blocks(f"before\n\n{fence}python\n{code}\n{fence}\nafter\n") == [("python", code)]


BASH = "```bash\nls\n```"


@pytest.mark.parametrize(
    ("tag", "code"),
    [
        pytest.param("python", f'x = f"""It\'s {{y["a"]}}\n{BASH}\n"""\nprint(x)', id="three quotes"),
        pytest.param("python", f"# don't '''\nx = r'''\\'''\n{BASH}\n'''", id="raw, after a comment"),
        pytest.param("", f"x = '''\n{BASH}\n'''", id="without a tag"),
        pytest.param("python", f"%%writefile docs/notes.md\n{BASH}\n```\nls\n```\nend", id="a file of Markdown"),
        pytest.param("python", f'%%writefile -a x.py\nx = """\n{BASH}\n"""', id="a file of Python"),
        pytest.param("python", f"%%bash\ncat <<END\n{BASH}\nEND", id="a cell of bash"),
        pytest.param("bash", f"# don't <<A\ncat <<'END' | wc # it's\n{BASH}\nEND", id="here-document"),
        pytest.param("sh", f'cat <<-"A"; cat <<\\B\n{BASH}\n\tA\n{BASH}\nB\nls', id="two here-documents"),
        pytest.param("sh", f'git commit -m "a \\" b\n{BASH}\n"; grep a <<<b', id="a string of the shell"),
    ],
)
def test_fence_within_code_does_not_close_it(tag: str, code: str) -> None:
    after = "```python\ny\n```"

    assert [found for _, found in blocks(f"```{tag}\n{code}\n```\nThen:\n{after}")] == [code, "y"]


@pytest.mark.parametrize("code", ['x = """', "%%bash\ncat <<END"])
def test_first_fence_closes_a_string_that_never_ends(code: str) -> None:
    assert blocks(f"```python\n{code}\n```\nor\n```\n1\n```") == [("python", code), ("python", "1")]


@pytest.mark.slow
@given(st.text("`~ \t\r\n>-1.xp#\u2028\0=(\"'\\") | st.text())
def test_any_text_can_be_read(text: str) -> None:
    assert isinstance(read(text), CodeReading)


@pytest.mark.parametrize(
    "text",
    [
        *fences("unclosed"),
        pytest.param("```python\nx = 1\n", id="end of the last line"),
        pytest.param("```python\nx = 1\n\n\n", id="empty lines"),
    ],
)
def test_unclosed_fence_is_no_code(text: str) -> None:
    reading = read(text)

    assert reading.blocks == ()
    assert reading.unclosed


@pytest.mark.parametrize(
    "text", [*fences("prose"), pytest.param("```python\n \n\t\n```", id="white space"), pytest.param("", id="nothing")]
)
def test_prose_is_no_code(text: str) -> None:
    assert read(text).blocks == ()
    assert not read(text).unclosed


@pytest.mark.parametrize("tag", ["text", "markdown", "mermaid", "json", "output", "console", "diff", "JSON", "{text}"])
def test_fence_that_shows_something_is_no_code(tag: str) -> None:
    assert blocks(f"```{tag}\nx = 1\n```") == []


@pytest.mark.parametrize(
    ("code", "language"),
    [
        ("pip install pandas", "sh"),
        ("pip3 install pandas", "sh"),
        ("python script.py", "sh"),
        ("python3 -m this", "sh"),
        ("  pip install pandas", "sh"),
        ("pip", "python"),
        ("x = 1\nprint(x)", "python"),
        ("ls -la", "sh"),
        ("df -h", "sh"),
        ("ls ..", "sh"),
        ("cat ./notes", "sh"),
        ("cat /etc/hostname", "sh"),
        ("head data/sales.csv", "sh"),
        ("wc sales.csv", "sh"),
        ("grep -c x sales.csv", "sh"),
        ("sum - total", "python"),
        ("sum", "python"),
        ("sum(x) / 2", "python"),
        ("ls -la\nls", "python"),
        ("x = r'\\d' and '\\d'", "python"),
    ],
)
def test_fence_without_a_tag_is_what_it_looks_like(code: str, language: str) -> None:
    assert blocks(f"```\n{code}\n```")[0][0] == language


@pytest.mark.parametrize("command", ["df -h", "ls -la", "date -u"])
def test_known_name_makes_a_line_python(command: str) -> None:
    assert blocks(f"```\n{command}\n```", command.split(maxsplit=1)[0]) == [("python", command)]


def test_defined_finds_every_binding() -> None:
    code = (
        "import a.b, c as d\nfrom e import f as g\nh = i, j = 1, 2\nfor k in l: pass\n"
        "def m(): pass\nasync def n(): pass\nclass o: pass\nwith p as q: (r := 1)\n"
    )

    assert defined_names(code) == set("adghijkmnoqr")
    assert defined_names("not python") == set()
