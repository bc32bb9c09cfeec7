"""Escapes text for HTML, and hides it from MathJax, which would render TeX.

JupyterLab 4 passes each ``text/html`` output to MathJax, which looks for pairs of delimiters such as ``$`` between two
tags. `escape_text` wraps each delimiter in an element of its own, so that MathJax finds no pairs. The visible and the
copied text stay the same.
"""

import re
from html import escape

from autogen_nb.core.text.visible_text import encodable

WEB_OR_MAIL = re.compile(r"https?://[^/?#\s]|mailto:", re.IGNORECASE)
"""Only links with such addresses are rendered. A relative link would open a page of the notebook's own server."""

_TAGS_AND_TEXT = re.compile(r"(<[^>\"']*(?:\"[^\"]*\"[^>\"']*|'[^']*'[^>\"']*)*>)")
_DELIMITER = re.compile(r"[$\\]")


def escape_plain(text: str) -> str:
    """Escapes text for places that MathJax skips: attributes, ``pre`` and ``code``."""
    return escape(encodable(text).replace("\x00", "\ufffd"))


def escape_text(text: str) -> str:
    """Escapes text so that MathJax ignores it."""
    return wrap_delimiters(escape_plain(text))


def wrap_delimiters(escaped: str) -> str:
    """Wraps each TeX delimiter in an element; the text must be escaped, and contain no tags."""
    return _DELIMITER.sub(r"<span>\g<0></span>", escaped)


def wrap_delimiters_in_markup(markup: str) -> str:
    """Wraps the TeX delimiters in nh3's output; idempotent."""
    if not _DELIMITER.search(markup):
        return markup
    pieces = _TAGS_AND_TEXT.split(markup)
    for index in range(0, len(pieces), 2):
        wrapped = pieces[index] in {"$", "\\"} and pieces[index - 1 : index + 2 : 2] == ["<span>", "</span>"]
        if not wrapped:
            pieces[index] = wrap_delimiters(pieces[index])
    return "".join(pieces)
