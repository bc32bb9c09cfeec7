"""Text on its way into HTML or JSON: escaped, encodable, and out of reach of JupyterLab's TeX typesetter.

JupyterLab 4 hands every ``text/html`` output to MathJax, which looks for ``$``, backslash delimiters and
environments in each run of text between two tags. A delimiter in an element of its own can never find its
partner, so `escape_text` puts it there; the text that a person reads or copies stays the same.
"""

import re
from html import escape

from autogen_nb.core.text.visible_text import encodable

WEB_OR_MAIL = re.compile(r"https?://[^/?#\s]|mailto:", re.IGNORECASE)
"""How a link begins that may be followed: never a relative one, which would reach the notebook's own server."""

_TAGS_AND_TEXT = re.compile(r"(<[^>\"']*(?:\"[^\"]*\"[^>\"']*|'[^']*'[^>\"']*)*>)")
_DELIMITER = re.compile(r"[$\\]")


def escape_plain(text: str) -> str:
    """The text as HTML for a place that no typesetter looks at: an attribute, ``pre`` or ``code``."""
    return escape(encodable(text).replace("\x00", "\ufffd"))


def escape_text(text: str) -> str:
    """The text as HTML that shows exactly this text, also where TeX would be typeset."""
    return still(escape_plain(text))


def still(escaped: str) -> str:
    """Escaped text without tags, each TeX delimiter in an element of its own."""
    return _DELIMITER.sub(r"<span>\g<0></span>", escaped)


def still_markup(markup: str) -> str:
    """Well-formed HTML, as nh3 writes it, in which no text is typeset as TeX; doing it twice changes nothing."""
    if not _DELIMITER.search(markup):
        return markup
    pieces = _TAGS_AND_TEXT.split(markup)
    for index in range(0, len(pieces), 2):
        alone = pieces[index] in {"$", "\\"} and pieces[index - 1 : index + 2 : 2] == ["<span>", "</span>"]
        if not alone:
            pieces[index] = still(pieces[index])
    return "".join(pieces)
