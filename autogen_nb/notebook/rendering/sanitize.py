"""HTML that the agent's kernel produced, reduced to tables, text and a few colours.

1. Nothing that loads, runs, submits, navigates by itself or is acted upon by a front end passes: no script,
   style sheet, form, frame, picture, id, ``data-*`` attribute or event handler.
2. Of inline styles only a few harmless properties with plain values pass; a URL or function is no plain value.
3. The colours that pandas' Styler gives by ``<style>`` and ids are first moved into the cells; what cannot be
   moved is dropped with the style sheet, and the table stays.
"""

import re
from functools import cache
from html import escape
from typing import Any

from autogen_nb.core.text.visible_text import encodable
from autogen_nb.notebook.rendering.escaping import WEB_OR_MAIL, still_markup

_TAGS = frozenset(
    "a abbr b blockquote br caption code col colgroup dd del details div dl dt em figcaption figure h1 h2 h3 h4 "
    "h5 h6 hr i ins kbd li mark ol p pre q s samp small span strong sub summary sup table tbody td tfoot th thead "
    "tr u ul var".split()
)
_DROPPED_WITH_CONTENT = frozenset("script style template noscript iframe object svg math title textarea select".split())
_CELL = frozenset({"colspan", "rowspan", "scope", "style"})
_PROPERTIES = frozenset(
    "text-align vertical-align color background-color font-weight font-style text-decoration white-space".split()
)
_PLAIN_VALUE = re.compile(r"\s*(?:#[0-9a-f]{3,8}|[a-z-]+|[0-9.]+%?|(?:rgb|hsl)a?\([0-9.,%\s/]+\))\s*\Z", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,4}\Z")
_STYLER_ID = re.compile(r"\s*#(T_\w{1,80})\s*\Z")
_STYLER_CELL = re.compile(r'\sid="(T_\w{1,80})"')
_LONGEST_STYLE = 300
# Tags that are read the same by everybody: what is between them is text.
_SIMPLE = re.compile(
    r"<!(?!\[)[^<>]*>|</?[a-zA-Z][a-zA-Z0-9-]*+"
    r"(?:\s++[a-zA-Z@:_][\w.:@-]*+(?:\s*+=\s*+(?:\"[^\"<>]*+\"|'[^'<>]*+'|[^\s\"'<>=`]++))?){0,30}\s*+/?>"
)
_FORMATTING = "a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u"
"""What a parser begins anew in each paragraph until it is ended."""
_NESTING = re.compile(r"<(?!(?:p|li|td|th|tr|thead|tbody|tfoot|dd|dt|br|hr|col|img)[\s/>])[a-z]", re.IGNORECASE)
_FORMATS = re.compile(rf"<(?:{_FORMATTING})[\s/>]", re.IGNORECASE)
_LEAF = re.compile(r"<([a-z][a-z0-9]*+)(?:[^<>\"']|\"[^\"<>]*+\"|'[^'<>]*+')*+>[^<]*+</\1>", re.IGNORECASE)
"""An element that holds text alone."""
_SMALL = 4_000
"""Characters of HTML that is always cleaned."""
_MOST_STEPS = 200_000_000
"""Elements that may hold others, times tags: for each tag, a parser looks through what is open."""
_MOST_COPIES = 2_000_000
"""Formatting that may go on, times tags: a paragraph may begin each anew."""
_MOST_ODD = 60_000
"""Characters in which there may be a tag of as many attributes as fit; each is compared with all before it."""
_DEEPEST_LEAF = 10


def clean_html(html: str) -> str:
    """The HTML without anything that could act; cleaning it again changes nothing.

    It is "" where a parser would take very long, or much memory.
    """
    import nh3

    if _is_costly(html):
        return ""
    cleaned = nh3.clean(_with_styler_colours(encodable(html)), **_net())
    # A parser drops the first newline in `pre`, and nh3 does not write it again.
    return still_markup(re.sub(r"(<pre[^<>]*>)\n", r"\1\n\n", cleaned))


def has_content(html: str) -> bool:
    """Whether cleaned HTML shows anything."""
    return any(part.partition(">")[2].strip() for part in f">{html}".split("<"))


def _is_costly(html: str) -> bool:
    if len(html) <= _SMALL:
        return False
    tags = html.count("<")
    nested, ended = html, 1
    for _ in range(_DEEPEST_LEAF):
        nested, ended = _LEAF.subn("", nested) if ended else (nested, 0)
    if len(_NESTING.findall(nested)) * tags > _MOST_STEPS or len(_FORMATS.findall(nested)) * tags > _MOST_COPIES:
        return True
    odd = _SIMPLE.sub("", html)
    return len(odd) - max(0, odd.find("<")) > _MOST_ODD if "<" in odd else False


@cache
def _net() -> dict[str, Any]:
    return {
        "tags": set(_TAGS),
        "clean_content_tags": set(_DROPPED_WITH_CONTENT),
        "attributes": {
            "*": {"style"},
            "a": {"href"},
            "table": {"border", "class"},
            "td": set(_CELL),
            "th": set(_CELL),
            "col": {"span"},
            "colgroup": {"span"},
            "ol": {"start"},
        },
        "attribute_filter": _plain_attribute,
        "url_schemes": {"http", "https", "mailto"},
        "link_rel": "noopener noreferrer nofollow",
        "set_tag_attribute_values": {"a": {"target": "_blank"}},
    }


def _plain_attribute(_tag: str, attribute: str, value: str) -> str | None:
    match attribute:
        case "style":
            return _plain_style(value)
        case "class":
            return "dataframe" if "dataframe" in value.split() else None
        case "href":
            return value if WEB_OR_MAIL.match(value) else None
        case "target":
            return "_blank"
        case "scope":
            return value if value in {"row", "col", "rowgroup", "colgroup"} else None
        case _:
            return value if _NUMBER.match(value) else None


def _plain_style(style: str) -> str | None:
    parts = (part.partition(":") for part in style.split(";"))
    kept = [
        f"{name.strip().lower()}:{value.strip()}"
        for name, _, value in parts
        if name.strip().lower() in _PROPERTIES and _PLAIN_VALUE.match(value)
    ]
    return ";".join(kept) or None


def _with_styler_colours(html: str) -> str:
    """The HTML with the style rules for single cells of a Styler's table written into those cells.

    Runs before the cleaning, so nothing that it writes is trusted.
    """
    rules = _styler_rules(html) if 'id="T_' in html else {}
    if not rules:
        return html
    return _STYLER_CELL.sub(lambda cell: f' style="{escape(rules.get(cell[1], ""))}"', html)


def _styler_rules(html: str) -> dict[str, str]:
    rules: dict[str, str] = {}
    for part in html.split("<style")[1:]:
        sheet = part.partition("</style>")[0].partition(">")[2]
        for rule in sheet.split("}"):
            selectors, _, declarations = rule.partition("{")
            for found in map(_STYLER_ID.match, selectors.split(",")):
                if found:
                    # Bounded, since many cells may take the same rule.
                    rules[found[1]] = (rules.get(found[1], "") + declarations + ";")[:_LONGEST_STYLE]
    return rules
