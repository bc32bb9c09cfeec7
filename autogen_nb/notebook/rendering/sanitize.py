r"""Makes untrusted text, formulas and HTML safe for the notebook's page.

1. JupyterLab 4 passes each ``text/html`` output to MathJax, which looks for pairs of delimiters such as ``$`` between
   two tags. `escape_text` wraps each delimiter in an element of its own, so that MathJax finds no pairs. The visible
   and the copied text stay the same.
2. Only formulas of an allow-list of TeX commands reach MathJax. JupyterLab's MathJax loads all its packages, with
   commands such as ``\href``, ``\require`` and ``\style``, and macros that also affect later outputs. MathJax's own
   filter stops scripts, but not links, overlays, redefinitions or loops.
3. HTML from the agent's kernel is reduced to tables, text and a few colours. No script, style sheet, form, frame,
   picture, id, ``data-*`` attribute or event handler passes. Only a few style properties pass, and only with plain
   values: no URLs, and no functions except colours.
4. The colours of pandas' Styler move from the style sheet into the cells; the rest of the style sheet is dropped.
"""

import re
from collections.abc import Callable
from functools import cache
from html import escape
from typing import Any

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


LONGEST_FORMULA = 4_000

_DEEPEST = 12
_COMMAND = re.compile(r"\\([A-Za-z]+|.|\Z)", re.DOTALL)
_ENVIRONMENT = re.compile(r"\\(?:begin|end)(?:\s*\{([A-Za-z]+\*?)\})?")
# A line break with a distance can move text over other outputs, and "*{n}" can repeat a column without limit.
_FAR = re.compile(r"\\\\\s*\*?\s*\[|\*\s*\{")
_ENVIRONMENTS = frozenset(
    "align align* aligned alignedat array bmatrix Bmatrix cases eqnarray equation equation* gather gather* "
    "gathered matrix pmatrix smallmatrix split vmatrix Vmatrix".split()
)
_SYMBOLS = frozenset(",;: {}|_%&#$\\()[]>")
_COMMANDS = """
alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi omicron pi varpi rho
varrho sigma varsigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi
Omega aleph beth hbar ell imath jmath wp Re Im partial nabla infty emptyset varnothing prime forall exists nexists
neg lnot top bot angle triangle square blacksquare checkmark dagger ddagger degree
frac dfrac tfrac cfrac sqrt binom dbinom tbinom over choose
sum prod coprod int iint iiint oint bigcup bigcap bigvee bigwedge bigoplus bigotimes bigodot biguplus limits nolimits
pm mp times div cdot ast star circ bullet oplus ominus otimes oslash odot cup cap uplus sqcup sqcap vee wedge land lor
setminus smallsetminus wr amalg diamond bigcirc
leq le geq ge neq ne equiv sim simeq approx cong propto ll gg prec succ preceq succeq subset supset subseteq supseteq
subsetneq supsetneq in ni notin mid nmid parallel perp models vdash dashv asymp doteq lesssim gtrsim leqslant geqslant
triangleq not lt gt
leftarrow rightarrow to gets leftrightarrow Leftarrow Rightarrow Leftrightarrow longleftarrow longrightarrow
Longleftarrow Longrightarrow longleftrightarrow Longleftrightarrow mapsto longmapsto uparrow downarrow updownarrow
Uparrow Downarrow implies impliedby iff nearrow searrow swarrow nwarrow rightharpoonup leftharpoonup rightleftharpoons
xrightarrow xleftarrow
left right middle big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr bigm Bigm lbrace rbrace lbrack rbrack
langle rangle lvert rvert lVert rVert vert Vert lfloor rfloor lceil rceil backslash
hat widehat bar overline underline vec tilde widetilde dot ddot check breve acute grave mathring overrightarrow
overleftarrow overbrace underbrace overset underset stackrel substack boxed
mathrm mathbf mathit mathsf mathtt mathcal mathbb mathfrak mathscr boldsymbol bm bf rm it text textrm textbf textit
textsf texttt operatorname mathop mathrel mathbin mathord mathopen mathclose displaystyle textstyle scriptstyle
scriptscriptstyle
sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh coth exp log ln lg max min sup inf lim limsup liminf det
dim ker deg gcd hom arg Pr bmod pmod mod
ldots cdots vdots ddots dots dotsc dotsb dotsm dotsi quad qquad thinspace enspace space nonumber notag hline
begin end
"""


def harmless_tex(tex: str) -> bool:
    """Returns whether TeX is short, uses only known commands and environments, and has balanced, shallow braces."""
    return len(tex) <= LONGEST_FORMULA and _balanced(tex) and _known(tex)


@cache
def _commands() -> frozenset[str]:
    return frozenset(_COMMANDS.split()) | _SYMBOLS


def _known(tex: str) -> bool:
    commands = all(match[1] in _commands() for match in _COMMAND.finditer(tex))
    environments = all(match[1] in _ENVIRONMENTS for match in _ENVIRONMENT.finditer(tex))
    return commands and environments and not _FAR.search(tex)


def _balanced(tex: str) -> bool:
    depth = 0
    for brace in re.findall(r"\\.|[{}]", tex, re.DOTALL):
        depth += {"{": 1, "}": -1}.get(brace, 0)
        if not 0 <= depth <= _DEEPEST:
            return False
    return depth == 0


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
