"""Tables and lines that a line magic answers with: HTML in a page, text where there is none."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from html import escape
from itertools import zip_longest
from typing import Any, TypeAlias

from autogen_nb.core.text.visible_text import visible
from autogen_nb.notebook.rendering import chat_html, styles
from autogen_nb.notebook.rendering.escaping import escape_plain, escape_text

DisplayData: TypeAlias = tuple[dict[str, Any], dict[str, Any]]
"""Data and metadata of a display."""
Names: TypeAlias = AbstractSet[str]
_NONE: Names = frozenset()


def line(text: str, *, kind: str = "note") -> DisplayData:
    """One line; words between backticks are shown as code."""
    return chat_html.bundle(chat_html.line(text), text, kind=kind)


def table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], *, kind: str, numbers: Names = _NONE, code: Names = _NONE
) -> DisplayData:
    """A table of any text; nothing in it can disguise what it says.

    Parameters
    ----------
    numbers
        Heads of columns whose cells stand at the right.
    code
        Heads of columns whose cells keep their lines, and are shown in the code font.
    """
    seen = [
        [visible(cell if head in code else " ".join(cell.split())) for head, cell in zip(heads, row, strict=True)]
        for row in rows
    ]
    return chat_html.bundle(_html(heads, seen, numbers, code), _text(heads, seen), kind=kind)


def _html(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Names, code: Names) -> str:
    """The front end's own style draws the lines."""
    styled = [f"text-align:{'right' if head in numbers else 'left'};vertical-align:top" for head in heads]
    # Long words may break anywhere in a cell, and a narrow column would break short ones.
    widths = ["" if head in numbers else ";min-width:4em" for head in heads]
    top = "".join(
        f'<th style="{style};white-space:nowrap{width}">{escape(head)}</th>'
        for head, style, width in zip(heads, styled, widths, strict=True)
    )
    shows = [_as_code if head in code else escape_text for head in heads]
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="{style}">{show(cell) if cell else ""}</td>'
            for cell, style, show in zip(row, styled, shows, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return f'<div style="{styles.LINE}"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def _as_code(text: str) -> str:
    style = f"{styles.PLAIN_PRE};background:none"
    return f'<pre style="{style}"><code style="{styles.PRE_CODE}">{escape_plain(text)}</code></pre>'


def _text(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The cells side by side, those of several lines below one another."""
    lines = [line for row in (heads, *rows) for line in _lines(row)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
    return "\n".join(each.rstrip() for each in padded)


def _lines(row: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return zip_longest(*(cell.split("\n") for cell in row), fillvalue="")
