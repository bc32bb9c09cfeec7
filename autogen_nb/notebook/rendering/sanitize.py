"""Reduces HTML from the agent's kernel to tables, text and a few colours.

1. No script, style sheet, form, frame, picture, id, ``data-*`` attribute or event handler passes.
2. Only a few style properties pass, and only with plain values: no URLs, and no functions except colours.
3. The colours of pandas' Styler move from the style sheet into the cells; the rest of the style sheet is dropped.
"""

import re
from collections.abc import Callable
from html import escape
from typing import Any

from autogen_nb.core.text.visible_text import encodable
from autogen_nb.notebook.rendering.escaping import WEB_OR_MAIL, wrap_delimiters_in_markup

_TAGS = frozenset(
    "a abbr b blockquote br caption code col colgroup dd del details div dl dt em figcaption figure h1 h2 h3 h4 "
    "h5 h6 hr i ins kbd li mark ol p pre q s samp small span strong sub summary sup table tbody td tfoot th thead "
    "tr u ul var".split()
)
_DROPPED_WITH_CONTENT = frozenset("script style template noscript iframe object svg math title textarea select".split())
_CELL = frozenset({"colspan", "rowspan", "scope", "style"})
_DECLARATION = re.compile(
    r"(?:\A|;)\s*(text-align|vertical-align|color|background-color|font-weight|font-style|text-decoration|white-space)"
    r"\s*:\s*(#[0-9a-f]{3,8}|[a-z-]+|[0-9.]+%?|(?:rgb|hsl)a?\([0-9.,%\s/]+\))\s*(?=;|\Z)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d{1,4}\Z")
_STYLER_ID = re.compile(r"\s*#(T_\w{1,80})\s*\Z")
_STYLER_CELL = re.compile(r'\sid="(T_\w{1,80})"')
_LONGEST_STYLE = 300
# All parsers agree on these tags, and on the text between them.
_SIMPLE = re.compile(
    r"<!(?!\[)[^<>]*>|<(/?)([a-zA-Z][a-zA-Z0-9-]*+)"
    r"(?:\s++[a-zA-Z@:_][\w.:@-]*+(?:\s*+=\s*+(?:\"[^\"<>]*+\"|'[^'<>]*+'|[^\s\"'<>=`]++))?){0,30}\s*+/?>"
)
_TAG = re.compile(rf"{_SIMPLE.pattern}|(<)")
_TABLE_PARTS = frozenset("td th tr thead tbody tfoot col".split())
_WITHOUT_END_TAG = frozenset("p li dd dt br hr img".split())
"""Elements that need no end tag."""
_SMALL = 4_000
"""HTML up to this length is always sanitised."""
_MOST_STEPS = 2_000_000
"""The maximum number of open elements, summed over all tags: at each tag, a parser may visit all open elements."""
_MOST_UNKNOWN_TEXT = 60_000
"""The maximum length of text that may be one tag, because a parser compares all attributes of a tag with each other."""


def clean_html(html: str) -> str:
    """Sanitises the HTML (idempotent); returns "" if parsing would take too much time or memory."""
    import nh3

    if len(html) > _SMALL and _is_costly(html):
        return ""
    cleaned = nh3.clean(_with_styler_colours(encodable(html)), **nh3_arguments(_plain_style))
    # nh3 writes the attributes of a link in an order that depends on the input; idempotence needs one order.
    cleaned = re.sub(r'<a (rel="[^"]*") (target="_blank")', r"<a \2 \1", cleaned)
    # Parsers drop a newline at the start of `pre`, so a newline that must stay is written twice.
    return wrap_delimiters_in_markup(re.sub(r"(<pre[^<>]*>)\n", r"\1\n\n", cleaned))


def text_of(html: str) -> str:
    """Returns sanitised HTML without its tags."""
    return "".join(part.partition(">")[2] for part in f">{html}".split("<"))


def _is_costly(html: str) -> bool:
    unknown_text = _SIMPLE.sub("", html)
    if "<" in unknown_text and len(unknown_text) - unknown_text.find("<") > _MOST_UNKNOWN_TEXT:
        return True
    steps, still_open = 0, [""]
    for end, name, unknown in _TAG.findall(html.lower()):
        if name in _TABLE_PARTS:
            # A part of a table outside of a table leaves the enclosing elements open.
            still_open += [] if end or still_open[-1] == "table" else [""]
        elif end and name == still_open[-1]:
            still_open.pop()
        elif unknown or (name and not end and name not in _WITHOUT_END_TAG):
            still_open.append(name)
        steps += len(still_open)
    return steps > _MOST_STEPS


def nh3_arguments(style: Callable[[str], str | None]) -> dict[str, Any]:
    """Returns nh3's arguments, which pass only inert tags and attributes; `style` checks the value of each style."""
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
        "attribute_filter": lambda _, name, value: style(value) if name == "style" else _attribute(name, value),
        "url_schemes": {"http", "https", "mailto"},
        "link_rel": "noopener noreferrer nofollow",
        "set_tag_attribute_values": {"a": {"target": "_blank"}},
    }


def _attribute(attribute: str, value: str) -> str | None:
    match attribute:
        case "class":
            return "dataframe" if "dataframe" in value.split() else None
        case "href":
            return value if WEB_OR_MAIL.match(value) else None
        case "target" | "rel":
            return value
        case "scope":
            return value if value in {"row", "col", "rowgroup", "colgroup"} else None
        case _:
            return value if _NUMBER.match(value) else None


def _plain_style(style: str) -> str | None:
    return ";".join(f"{name.lower()}:{value}" for name, value in _DECLARATION.findall(style)) or None


def _with_styler_colours(html: str) -> str:
    """Moves the style rules for single cells of a Styler's table into the cells; the sanitiser checks the result."""
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
            for match in map(_STYLER_ID.match, selectors.split(",")):
                if match:
                    # Many cells may share a long rule, so its length is limited.
                    rules[match[1]] = (rules.get(match[1], "") + declarations + ";")[:_LONGEST_STYLE]
    return rules
