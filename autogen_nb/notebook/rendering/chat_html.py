"""HTML for messages, lines, code, tables and buttons, with inline styles."""

import ast
import json
import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from difflib import unified_diff
from functools import cache
from html import escape
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias
from urllib.parse import quote
from uuid import uuid4

from autogen_nb.core.text.code_blocks import parse_python
from autogen_nb.core.text.outputs import MAGIC
from autogen_nb.core.text.visible_text import only_colours, visible, without_controls
from autogen_nb.messages import CodeBlock
from autogen_nb.notebook.rendering import styles
from autogen_nb.notebook.rendering.markdown import code_block, escape_plain, escape_text, markdown
from autogen_nb.notebook.rendering.styles import SpeakerTone, Tone
from autogen_nb.settings import Show
from autogen_nb.views.in_words import counted, joined

_TITLE = re.compile(r"#+[ \t]*(?!!)(\S.*)")
_TITLE_LIMIT = 80
_MAGIC = re.compile(r"^[ \t]*[%!].*", re.MULTILINE)
_CODE_SPAN = re.compile(r"`([^`\n]+)`")


def code(block: CodeBlock, *, label: str = "") -> str:
    """Returns the highlighted block below a small label, by default its language."""
    return code_block(block.code, block.language, label)


def fold(
    html: str, block: CodeBlock, *details: str, tone: Tone, edited: CodeBlock | None = None, opened: bool = False
) -> tuple[str, str]:
    """Folds a block in a message's HTML; returns the HTML up to the block's end ("" if not found), and the rest."""
    longest = max(re.findall("`+", block.code), key=len, default="")
    fence = "`" * max(3, len(longest) + 1)
    shown = markdown(f"{fence}{block.language}\n{block.code}\n{fence}").strip()
    before, is_there, rest = html.partition(shown)
    if not is_there:
        return "", html
    title, is_comment = _title(edited or block)
    words = escape_text(title) if is_comment else f"<code>{escape_plain(visible(title))}</code>"
    about = _with_code_spans(_about(edited or block, *details))
    mark = f"{sign(tone)} " if styles.MARKS[tone][0] else ""
    head = f'{mark}{words}<span style="{styles.DETAIL}">{about}</span>'
    body = (code(edited, label="as edited") if edited else "") + shown
    return before + opened_by(head, body, style=styles.SUMMARY, opened=opened, kind="code"), rest


def block_text(block: CodeBlock, *details: str) -> str:
    """Returns the line of a folded block: the block's title, its length, and details."""
    return block_title(block) + _about(block, *details)


def block_title(block: CodeBlock) -> str:
    """The comment at the beginning of a block, or else its first line that imports nothing."""
    return only_colours(_title(block)[0])


def _title(block: CodeBlock) -> tuple[str, bool]:
    lines = block.code.strip().splitlines() or [""]
    if comment := _TITLE.match(lines[0]):
        return _cut(comment[1]), True
    tree = parse_python(_MAGIC.sub("", "\n".join(lines))) if block.language == "python" else None
    statements = [] if tree is None else tree.body
    numbers = [each.lineno - 1 for each in statements if not isinstance(each, ast.Import | ast.ImportFrom)]
    return _cut(lines[numbers[0] if numbers else 0].strip()), False


def _cut(title: str) -> str:
    return title if len(title) <= _TITLE_LIMIT else f"{title[: _TITLE_LIMIT - 1]}…"


def _about(block: CodeBlock, *details: str) -> str:
    size = counted(len(block.code.strip().splitlines() or [""]), "line", "lines")
    return f" \u00b7 {joined(size, *details)}"


def folded_text(text: str, head: int, tail: int, *, opened: bool) -> str:
    """Returns text as HTML, with its middle lines folded."""
    lines = text.rstrip("\n").split("\n")
    first, others, last = ("\n".join(part) for part in (lines[:head], lines[head:-tail], lines[-tail:]))
    summary = f'<span style="{styles.DETAIL}">{len(lines) - head - tail:,} more lines</span>'
    middle = opened_by(summary, preformatted(others), style=styles.SUMMARY, opened=opened)
    return preformatted(first) + middle + preformatted(last)


def scrolled(table_html: str, rows: int) -> str:
    """Returns a sanitised table in a box that scrolls below the table's head."""
    table = table_html.replace("<thead>", f'<thead style="{styles.TABLE_HEAD}">')
    return f'<div tabindex="0" style="{styles.LONG_TABLE}">{table}</div>{line(f"{rows:,} rows: scroll to see all")}'


def card(
    speaker: str,
    body_html: str,
    *,
    detail: str = "",
    tone: SpeakerTone = "assistant",
    notes: Sequence[str] = (),
) -> str:
    """Returns a message as HTML: the speaker, a detail such as the model and time, the body and notes.

    `body_html` is not escaped, so it must come from this package's functions.
    """
    dot = styles.MARK.format(colour=styles.RULES[tone])
    mark = f'<span aria-hidden="true" style="{dot}">\u25cf</span>'
    detail_html = f' <span style="{styles.DETAIL}">\u00b7 {escape_text(detail)}</span>' if detail else ""
    head = f'<div style="{styles.HEAD}">{mark} <strong>{escape_text(speaker)}</strong>{detail_html}</div>'
    box = styles.CARD.format(colour=styles.RULES[tone])
    feet = "".join(map(line, notes))
    return f'<div style="{box}">{head}<div>{body_html}</div>{feet}</div>'


def limited(html: str, blocks: int) -> str:
    return html.replace(styles.PRE, styles.WAITING_PRE.format(blocks))


def follow() -> str:
    """Returns scripts that scroll to the panel below the code, and that handle keys in the panel's editor."""
    return f'<script data-question="{uuid4().hex}">{script("follow.js")}</script><script>{script("keys.js")}</script>'


def line(text: str, *, tone: Tone = "muted", after: str = "") -> str:
    """Returns a one-line note; text in backticks becomes code, and invisible characters become visible.

    `after` is not escaped, so it must come from this package's functions.
    """
    mark = f"{sign(tone)} " if styles.MARKS[tone][0] else ""
    style = styles.MUTED_LINE if tone == "muted" else styles.LINE
    return f'<div style="{style}">{mark}{_with_code_spans(text)}{after}</div>'


def linked(text: str, words: str, file: str) -> str:
    """Returns a one-line note in which `words` link to a file; JupyterLab resolves paths relative to the notebook."""
    before, _, after = text.partition(words)
    link = f'<a href="{escape_plain(quote(file))}" target="_blank" rel="noopener">{escape_plain(words)}</a>'
    return f'<div style="{styles.MUTED_LINE}">{escape_plain(before)}{link}{escape_plain(after)}</div>'


def question(text: str, *, dangerous: bool = False) -> str:
    mark, style = (
        (f"{sign('warning')} ", f"{styles.LINE};color:{styles.MARKS['warning'][1]}") if dangerous else ("", styles.LINE)
    )
    return f'<div style="{style}">{mark}{_with_code_spans(text)}</div>'


def folded(summary: str, text: str) -> str:
    return opened_by(f"{sign('bad')} {_with_code_spans(summary)}", preformatted(text), style=styles.SUMMARY)


def opened_by(head_html: str, body_html: str, *, style: str, opened: bool = False, kind: str = "") -> str:
    """Folds a body below a head; neither is escaped, so both must come from this package's functions."""
    attributes = (f' data-autogen-nb="{kind}"' if kind else "") + (" open" if opened else "")
    return f'<details{attributes}><summary style="{style};cursor:pointer">{head_html}</summary>{body_html}</details>'


def sign(tone: Tone) -> str:
    mark, colour = styles.MARKS[tone]
    return f'<strong style="color:{colour}">{mark}</strong>'


def first_picture(checked: Mapping[str, Any]) -> str:
    """Returns one image of a MIME bundle that has been checked; "" if it has none."""
    return "".join(picture(mime, checked[mime]) for mime in sorted(MAGIC.keys() & checked.keys())[:1])


def picture(mime: str, base64_text: str) -> str:
    """Returns an image; the base64 text must have been checked."""
    return f'<div><img src="data:{mime};base64,{base64_text}" alt="" style="max-width:100%"></div>'


def preformatted(text: str, *, inset: str = "0") -> str:
    style = f"{styles.PLAIN_PRE};padding-left:{inset}"
    return f'<pre style="{style}"><code style="{styles.PRE_CODE}">{escape_plain(text)}</code></pre>'


def static_html(data: Mapping[str, Any]) -> str:
    """Returns an output's image, else its HTML, else its text, as HTML; the output must have been checked."""
    if (image := next((mime for mime in MAGIC if mime in data), None)) is not None:
        return picture(image, data[image])
    if "text/html" in data:
        return f"<div>{data['text/html']}</div>"
    return preformatted(without_controls(data.get("text/plain", "")), inset="8px")


def bundle(html: str, text: str, *, kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the data and metadata of a display; `kind` identifies the output for tools."""
    return {"text/html": html, "text/plain": text}, {"autogen_nb": {"kind": kind}}


class CellButton(NamedTuple):
    """A button that puts `text` into a new cell below, and runs the cell if `runs`."""

    label: str
    text: str
    runs: bool = True


def end_buttons(show: Show | Literal[""], buttons: Sequence[CellButton], next_magic: str = "") -> str:
    """Returns a script that adds buttons and a field, which work only in a trusted notebook.

    With `show`, buttons select what the cell shows. The field asks the next question in a new cell with the first line
    `next_magic`.
    """
    data = f'data-show="{show}" data-buttons="{escape(json.dumps(buttons))}" data-next="{escape(next_magic)}"'
    return f"<span {data}></span><script>{script('show.js')}</script>"


@cache
def script(name: str) -> str:
    """Returns a script of this folder without its comments and indentation."""
    lines = (text.strip() for text in (Path(__file__).parent / name).read_text("utf-8").splitlines())
    return "\n".join(text for text in lines if text and not text.startswith("//"))


def warm_up() -> None:
    """Imports what the first message needs; safe in any thread."""
    markdown("A `word`, **another** and $x^2$.\n\n```python\nprint(f'{1:.2f}')  # one\n```\n\n```sh\nls\n```\n")


def _with_code_spans(text: str) -> str:
    pieces = _CODE_SPAN.split(visible(text))
    pieces[::2] = map(escape_text, pieces[::2])
    pieces[1::2] = [f"<code>{escape_plain(piece)}</code>" for piece in pieces[1::2]]
    return "".join(pieces)


Content: TypeAlias = tuple[dict[str, Any], dict[str, Any]]
"""The data and metadata of a display."""


def note_display(text: str, *, tone: Tone = "muted", kind: str = "note") -> Content:
    return bundle(line(text, tone=tone), text, kind=kind)


def folded_note(summary: str, text: str, *, kind: str) -> Content:
    """A muted line that opens to the text; in plain text, only the line."""
    return bundle(opened_by(_with_code_spans(summary), preformatted(text), style=styles.MUTED_LINE), summary, kind=kind)


def difference(old: str, new: str) -> Content:
    """The lines that differ, with a few lines around them; in text, as a unified diff."""
    changes = list(unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=3))[2:]
    lines = [only_colours(visible(line)) for line in changes if not line.startswith("@@")] or ["The cell is the same."]
    spans = (f'<span style="{styles.DIFFERENCE.get(line[:1], "")}">{escape_plain(line)}</span>' for line in lines)
    return bundle(f'<pre style="{styles.PRE}">{"<br>".join(spans)}</pre>', "\n".join(lines), kind="difference")


def table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    kind: str,
    numbers: AbstractSet[str] = frozenset(),
    code: AbstractSet[str] = frozenset(),
    prose: AbstractSet[str] = frozenset(),
) -> Content:
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
    return bundle(html, _text(heads, visible_rows), kind=kind)


def stacked(*parts: Content) -> Content:
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
