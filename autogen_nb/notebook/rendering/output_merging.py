"""Merges outputs, because JupyterLab shows only the first 50 of a cell.

Adjacent text and HTML outputs become one HTML output. Images stay separate outputs as long as possible.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, TypeAlias

from autogen_nb.notebook.rendering.chat_html import bundle, picture, preformatted
from autogen_nb.notebook.rendering.terminal_text import without_colours

Content: TypeAlias = tuple[dict[str, Any], dict[str, Any]]

_TEXT = frozenset({"text/html", "text/plain"})
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_LARGEST = 300_000


def merged(contents: Sequence[Content], *, few: int) -> list[Content]:
    """Merges outputs; images only if there would be more than `few`."""
    groups_kept = list(_groups(contents, _TEXT))
    return groups_kept if len(groups_kept) <= few else list(_groups(groups_kept, _TEXT.union(_IMAGES)))


def _groups(contents: Sequence[Content], mimes: frozenset[str]) -> Iterator[Content]:
    for joins, group in groupby(contents, lambda content: mimes.issuperset(content[0]) and _is_small(content[0])):
        members = list(group)
        if joins and len(members) > 1:
            html = "".join(_html(data) for data, _ in members)
            yield bundle(html, "\n".join(str(data.get("text/plain", "")) for data, _ in members), kind="earlier")
        else:
            yield from members


def _is_small(data: dict[str, Any]) -> bool:
    return sum(len(data.get(mime, "")) for mime in (*_TEXT, *_IMAGES)) <= _LARGEST


def _html(data: dict[str, Any]) -> str:
    image = next((mime for mime in _IMAGES if mime in data), None)
    if image is not None:
        return picture(image, data[image])
    if "text/html" in data:
        return f"<div>{data['text/html']}</div>"
    return preformatted(without_colours(data.get("text/plain", "")), inset="8px")
