import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.notebook.rendering import mime
from autogen_nb.notebook.rendering.mime import safe
from tests.notebook.markup import problems, text_of

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\nrest").decode()
SVG = '<svg xmlns="http://www.w3.org/2000/svg" onload="x()"><script>x()</script></svg>'
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


@pytest.mark.parametrize("value", ["not base64!", base64.b64encode(b"<svg>").decode(), 3, [3], None, ""])
def test_what_is_no_picture_is_said(value: object) -> None:
    data, _ = safe({"image/png": value, "text/plain": "<Figure>"})

    assert data["text/plain"] == "A PNG image is not shown here."
    assert text_of(data["text/html"]) == "A PNG image is not shown here."


def test_svg_gives_way_to_a_picture() -> None:
    data, _ = safe({"image/svg+xml": SVG, "image/png": PNG})

    assert set(data) == {"image/png", "text/plain"}


def test_markdown_is_laid_out_and_readable_as_text() -> None:
    data, _ = safe({"text/markdown": "**b**", "text/plain": "<IPython.core.display.Markdown object>"})

    assert "<strong>b</strong>" in data["text/html"]
    assert data["text/plain"] == "**b**"


def test_tex_passes_when_harmless() -> None:
    assert safe({"text/latex": "$x^2$", "text/plain": "x**2"})[0] == {"text/latex": "$x^2$", "text/plain": "x**2"}


def test_json_passes() -> None:
    data, _ = safe({"application/json": {"a": [1, "\ud800"]}, "text/plain": "{}"})

    assert data["application/json"] == {"a": [1, "\ufffd"]}


def test_huge_html_gives_way_to_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mime, "HTML_LIMIT", 3)

    data, _ = safe({"text/html": "<p>long</p>", "text/plain": "long"})

    assert text_of(data["text/html"]) == "HTML of 11 characters is not shown: the limit is 3.long"
    assert data["text/plain"] == "long\nHTML of 11 characters is not shown: the limit is 3."


def test_terminal_sequences_are_dropped_from_text() -> None:
    assert safe({"text/plain": "\x1b[2J\x1b[31mx\x1b[0m"})[0] == {"text/plain": "\x1b[31mx\x1b[0m"}
