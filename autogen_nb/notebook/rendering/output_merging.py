"""Many outputs as few: JupyterLab shows the first 50 of a cell, and folds what comes after them.

Neighbours that are text or HTML become one HTML output. Images stay outputs of their own as long as there is
room for them.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, TypeAlias

from autogen_nb.notebook.rendering.chat_html import bundle, picture, preformatted
from autogen_nb.notebook.rendering.terminal_text import without_colours

Content: TypeAlias = tuple[dict[str, Any], dict[str, Any]]
"""Data and metadata of an output."""

_TEXT = frozenset({"text/html", "text/plain"})
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_LARGEST = 300_000
"""Characters of one output that is merged; a larger one stays by itself."""


def merged(contents: Iterable[Content], *, few: int) -> list[Content]:
    """The same to be seen in fewer outputs; images among them only where there would be more than `few`."""
    kept = _merged(list(contents), _TEXT)
    return kept if len(kept) <= few else _merged(kept, _TEXT | set(_IMAGES))


def _merged(contents: list[Content], mimes: frozenset[str]) -> list[Content]:
    return list(_groups(contents, mimes))


def _groups(contents: list[Content], mimes: frozenset[str]) -> Iterator[Content]:
    for joins, group in groupby(contents, lambda content: _joins(content, mimes)):
        members = list(group)
        if joins and len(members) > 1:
            yield _joined(members)
        else:
            yield from members


def _joins(content: Content, mimes: frozenset[str]) -> bool:
    data, _ = content
    large = sum(len(data.get(mime, "")) for mime in _TEXT) > _LARGEST
    return not large and mimes.issuperset(data)


def _joined(members: list[Content]) -> Content:
    html = "".join(_html(data) for data, _ in members)
    text = "\n".join(str(data.get("text/plain", "")) for data, _ in members)
    return bundle(html, text, kind="earlier")


def _html(data: dict[str, Any]) -> str:
    image = next((mime for mime in _IMAGES if mime in data), None)
    if image is not None:
        return picture(image, data[image])
    if "text/html" in data:
        return f"<div>{data['text/html']}</div>"
    return preformatted(without_colours(data.get("text/plain", "")), inset="8px")
