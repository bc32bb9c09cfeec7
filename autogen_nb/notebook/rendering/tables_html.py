"""Tables and lines in HTML and plain text, such as the results of a line magic."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from html import escape
from itertools import zip_longest
from typing import Any, TypeAlias

from autogen_nb.core.text.visible_text import visible
from autogen_nb.notebook.rendering import chat_html, styles
from autogen_nb.notebook.rendering.escaping import escape_plain, escape_text
from autogen_nb.notebook.rendering.markdown import markdown
from autogen_nb.notebook.rendering.styles import Tone

DisplayData: TypeAlias = tuple[dict[str, Any], dict[str, Any]]


def line(text: str, *, tone: Tone = "muted", kind: str = "note") -> DisplayData:
    return chat_html.bundle(chat_html.line(text, tone=tone), text, kind=kind)


def table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    kind: str,
    numbers: AbstractSet[str] = frozenset(),
    code: AbstractSet[str] = frozenset(),
    prose: AbstractSet[str] = frozenset(),
) -> DisplayData:
    """Returns a table; deceptive characters become visible, and only the cells of the columns `prose` are Markdown."""
    visible_rows = [
        [
            visible(cell if head in code | prose else " ".join(cell.split()))
            for head, cell in zip(heads, row, strict=True)
        ]
        for row in rows
    ]
    top, columns = "", []
    for head in heads:
        style = f"text-align:{'right' if head in numbers else 'left'};vertical-align:top"
        # Words may break anywhere, so a column without a minimum width would break even short words.
        width = "" if head in numbers else ";min-width:4em"
        width += f";width:{100 // len(heads)}%" if head in prose else ""
        top += f'<th style="{style};white-space:nowrap{width}">{escape(head)}</th>'
        columns.append((style, _as_code if head in code else markdown if head in prose else escape_text))
    body = ""
    for row in visible_rows:
        cells = zip(columns, row, strict=True)
        html_cells = (f'<td style="{style}">{show(cell) if cell else ""}</td>' for (style, show), cell in cells)
        body += f"<tr>{''.join(html_cells)}</tr>"
    html = f'<div style="{styles.LINE}"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'
    return chat_html.bundle(html, _text(heads, visible_rows), kind=kind)


def stacked(*parts: DisplayData) -> DisplayData:
    """Joins displays from top to bottom, with the metadata of the first."""
    html, text = ([data[mime] for data, _ in parts] for mime in ("text/html", "text/plain"))
    return {"text/html": "".join(html), "text/plain": "\n".join(text)}, parts[0][1]


def _as_code(text: str) -> str:
    style = f"{styles.PLAIN_PRE};background:none"
    return f'<pre style="{style}"><code style="{styles.PRE_CODE}">{escape_plain(text)}</code></pre>'


def _text(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    split = ([cell.split("\n") for cell in row] for row in (heads, *rows))
    lines = [line for cells in split for line in zip_longest(*cells, fillvalue="")]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
    return "\n".join(row_text.rstrip() for row_text in padded)
