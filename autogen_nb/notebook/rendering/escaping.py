"""Escapes text for HTML and JSON, and hides it from JupyterLab's TeX typesetter.

JupyterLab 4 passes each ``text/html`` output to MathJax, which looks for ``$``, backslash delimiters and environments
in each run of text between two tags. A delimiter inside its own element never finds its partner, so `escape_text` wraps
it; the visible and copied text stays the same.
"""

import re
from html import escape

from autogen_nb.core.text.visible_text import encodable

WEB_OR_MAIL = re.compile(r"https?://[^/?#\s]|mailto:", re.IGNORECASE)
"""Links that may be followed; a relative one would reach the notebook's own server."""

_TAGS_AND_TEXT = re.compile(r"(<[^>\"']*(?:\"[^\"]*\"[^>\"']*|'[^']*'[^>\"']*)*>)")
_DELIMITER = re.compile(r"[$\\]")


def escape_plain(text: str) -> str:
    """Escapes text for places that MathJax skips: attributes, ``pre`` and ``code``."""
    return escape(encodable(text).replace("\x00", "\ufffd"))


def escape_text(text: str) -> str:
    """Escapes text so that MathJax leaves it alone."""
    return still(escape_plain(text))


def still(escaped: str) -> str:
    """Wraps each TeX delimiter of escaped text without tags in an element."""
    return _DELIMITER.sub(r"<span>\g<0></span>", escaped)


def still_markup(markup: str) -> str:
    """Wraps the TeX delimiters in nh3's output; idempotent."""
    if not _DELIMITER.search(markup):
        return markup
    pieces = _TAGS_AND_TEXT.split(markup)
    for index in range(0, len(pieces), 2):
        wrapped = pieces[index] in {"$", "\\"} and pieces[index - 1 : index + 2 : 2] == ["<span>", "</span>"]
        if not wrapped:
            pieces[index] = still(pieces[index])
    return "".join(pieces)
