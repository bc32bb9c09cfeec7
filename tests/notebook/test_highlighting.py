"""Code is shown whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.notebook.rendering.highlighting import code_html
from tests.notebook.markup import code_of, problems

languages = st.sampled_from(["python", "sh", "json", "sql", "html", "c++", "", "no such language", "Python"])
# What disguises code is written out instead (a test of its own), and HTML cannot hold lone surrogates.
plain_text = st.text(st.characters(blacklist_categories=("Cc", "Cf", "Cs", "Lo", "Zl", "Zp")) | st.sampled_from("\n\t"))
quoted_text = st.lists(st.sampled_from(["'", '"', "'''", '"""', "\\", "\n", "#", "f", "rb", " ", "x=1", "@a.b"]))


@given(plain_text, languages)
def test_no_character_of_code_is_lost(source: str, language: str) -> None:
    assert code_of(code_html(source, language)) == source


@given(quoted_text.map("".join))
def test_no_character_of_python_is_lost(source: str) -> None:
    assert code_of(code_html(source, "python")) == source


@given(st.text(), languages)
def test_code_is_never_live(source: str, language: str) -> None:
    assert problems(code_html(source, language)) == []


@pytest.mark.parametrize(
    ("source", "piece"),
    [
        ("for x in y:", "for"),
        ("x = 'a'", "&#x27;a&#x27;"),
        ("x  # note", "# note"),
        ("def f(): ...", "f"),
        ("print(x)", "print"),
        ("@cache\ndef f(): ...", "@cache"),
        ("%matplotlib inline", "%matplotlib inline"),
        ("x = 1.5e-3", "1.5e-3"),
    ],
)
def test_python_is_coloured(source: str, piece: str) -> None:
    assert f'">{piece}</span>' in code_html(source, "python")


def test_other_languages_are_coloured() -> None:
    assert "--jp-mirror-editor-" in code_html("for f in *; do echo $f; done", "bash")


@pytest.mark.parametrize("character", ["\u202e", "\u2066", "\u200b", "\r", "\x1b", "\x08", "\ufeff", "\U000e0041"])
def test_characters_that_disguise_code_are_written_out(character: str) -> None:
    shown = code_of(code_html(f"x = 1  # {character}import os", "python"))

    assert shown == f"x = 1  # [U+{ord(character):04X}]import os"


def test_long_lines_wrap() -> None:
    assert "white-space:pre-wrap" in code_html("x" + " " * 500 + "; import os", "python")
