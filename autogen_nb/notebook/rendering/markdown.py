r"""Renders a model's Markdown as inert HTML: none of the model's own HTML, no images, and links only to web and mail.

There are two layers. markdown-it, with HTML disabled, writes the markup. Then nh3 removes all tags and attributes but
those of `_inert`, and all styles but those of this module. Code is highlighted by Pygments, and every
character of its source is shown.

Untrusted text, formulas and HTML become safe as well:

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
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from html import escape
from itertools import accumulate, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar

from autogen_nb.core.text.code_blocks import with_fences
from autogen_nb.core.text.visible_text import encodable, visible
from autogen_nb.notebook.rendering import styles
from autogen_nb.views.in_words import shortened

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererProtocol
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

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
_COMMANDS = frozenset(",;: {}|_%&#$\\()[]>").union(
    """
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
""".split()
)


def harmless_tex(tex: str) -> bool:
    """Returns whether TeX is short, uses only known commands and environments, and has balanced, shallow braces."""
    if len(tex) > LONGEST_FORMULA or _FAR.search(tex):
        return False
    steps = ({"{": 1, "}": -1}.get(brace, 0) for brace in re.findall(r"\\.|[{}]", tex, re.DOTALL))
    depths = list(accumulate(steps, initial=0))
    commands = all(match[1] in _COMMANDS for match in _COMMAND.finditer(tex))
    environments = all(match[1] in _ENVIRONMENTS for match in _ENVIRONMENT.finditer(tex))
    return commands and environments and min(depths) >= 0 and max(depths) <= _DEEPEST and depths[-1] == 0


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
    if len(html) > _SMALL and _is_costly(html):
        return ""
    html = encodable(html)
    # The sanitiser checks the colours that the rules of a Styler's table bring into the cells.
    if 'id="T_' in html and (rules := _styler_rules(html)):
        html = _STYLER_CELL.sub(lambda cell: f' style="{escape(rules.get(cell[1], ""))}"', html)
    cleaned = _inert(
        html, lambda style: ";".join(f"{name.lower()}:{value}" for name, value in _DECLARATION.findall(style)) or None
    )
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


def _inert(html: str, style: Callable[[str], str | None]) -> str:
    """Removes all but inert tags and attributes; `style` checks the value of each style."""
    import nh3

    return nh3.clean(
        html,
        tags=set(_TAGS),
        clean_content_tags=set(_DROPPED_WITH_CONTENT),
        attributes={
            "*": {"style"},
            "a": {"href"},
            "table": {"border", "class"},
            "td": set(_CELL),
            "th": set(_CELL),
            "col": {"span"},
            "colgroup": {"span"},
            "ol": {"start"},
        },
        attribute_filter=lambda _, name, value: style(value) if name == "style" else _attribute(name, value),
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )


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


def _styler_rules(html: str) -> dict[str, str]:
    """Returns the style rules for single cells of a Styler's table."""
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


_LONGEST_CODE = 20_000
"""The maximum length of highlighted code; lexing longer code would cause a delay."""

# Models can only choose these languages, because some of Pygments' lexers never end on crafted text.
_LEXERS = frozenset(
    "sh bash shell console powershell json yaml toml ini sql r julia javascript js typescript ts html xml css "
    "c cpp c++ java go rust diff docker dockerfile make pycon tex python".split()
)
_PYTHON = frozenset({"py", "python3", "ipython", "ipython3", "jupyter"})
# The time of Pygments' Python lexer grows with the square of the length of white space.
_GAP = re.compile(r"\s{1000}")
_STYLES: dict[str, str] = {
    "Token.Keyword.Type": "builtin",
    "Token.Keyword": "keyword",
    "Token.Operator.Word": "keyword",
    "Token.Operator": "operator",
    "Token.Literal.String": "string",
    "Token.Literal.Number": "number",
    "Token.Comment.Preproc": "meta",
    "Token.Comment": "comment",
    "Token.Name.Function": "def",
    "Token.Name.Class": "def",
    "Token.Name.Builtin": "builtin",
    "Token.Name.Exception": "builtin",
    "Token.Name.Decorator": "meta",
    "Token.Name.Tag": "keyword",
    "Token.Name.Attribute": "property",
}
_MARKED = re.compile(r"(\[U\+[0-9A-F]{4,6}\])")


def code_html(source: str, language: str) -> str:
    """Returns code as HTML; deceptive characters appear as codes such as ``[U+202E]``."""
    shown = visible(source.replace("\r\n", "\n"))
    inner = ""
    for name, text in _pieces(shown, language):
        html = escape_plain(text)
        if shown != source:
            html = _MARKED.sub(rf'<span style="{styles.DISGUISED}">\1</span>', html)
        inner += f'<span style="{styles.CODE_STYLES[name]}">{html}</span>' if name else html
    return f'<pre style="{styles.PRE}"><code style="{styles.PRE_CODE}">{inner}</code></pre>'


def _pieces(source: str, language: str) -> Iterable[tuple[str, str]]:
    """Splits the source into pairs of a style's name ("" for none) and text."""
    language = "python" if language.lower() in _PYTHON else language.lower()
    if language not in _LEXERS or len(source) > _LONGEST_CODE or _GAP.search(source):
        return [("", source)]
    pieces = [(_style(kind), text) for _, kind, text in _lexer(language).get_tokens_unprocessed(source)]
    runs = [(name, "".join([text for _, text in run])) for name, run in groupby(pieces, key=itemgetter(0))]
    return runs if "".join([text for _, text in runs]) == source else [("", source)]


@cache
def _style(kind: Any) -> str:
    names = (_STYLES.get(str(ancestor)) for ancestor in reversed(kind.split()))
    return next((name for name in names if name), "")


@cache
def _lexer(language: str) -> Any:
    from pygments.lexer import inherit
    from pygments.lexers import get_lexer_by_name

    # A lookup by name in `pygments.lexers` may fail while another thread imports the module.
    from pygments.lexers.python import PythonLexer
    from pygments.token import Comment

    # Pygments has no types.
    class NotebookLexer(PythonLexer):  # type: ignore[misc]
        tokens: ClassVar = {"root": [(r"^[ \t]*[%!]{1,2}[A-Za-z].*", Comment.Preproc), inherit]}

    return NotebookLexer() if language == "python" else get_lexer_by_name(language)


LONGEST = 50_000
"""The maximum length of rendered Markdown; longer text is shown unrendered."""

_SHOWN_TARGET = 120
_LONG = 25
"""The label of a longer block contains its number of lines."""


def _between(opener: str, closer: str) -> str:
    return rf"{opener}(?!{closer})[^`]{{1,{LONGEST_FORMULA}}}?{closer}"


_FORMULA = re.compile(
    "|".join(
        (
            _between(r"\$\$", r"\$\$"),
            _between(r"\\\(", r"\\\)"),
            _between(r"\\\[", r"\\\]"),
            _between(r"\\begin\{([A-Za-z]+\*?)\}", r"\\end\{\1\}"),
            # Pandoc's rule: "from $5 to $10" contains no formula.
            rf"\$(?![\s$])[^`$]{{1,{LONGEST_FORMULA}}}(?<![\s\\])\$(?![\d$])",
        )
    )
)
_HOST = re.compile(r"https?://(?:[^/?#]*@)?([^/?#:]+)", re.IGNORECASE)
_TAG_STYLES = {
    **styles.HEADINGS,
    "p": ("p", styles.PARAGRAPH),
    "ul": ("ul", styles.LIST),
    "ol": ("ol", styles.LIST),
    "blockquote": ("blockquote", styles.QUOTE),
    "table": ("table", styles.TABLE),
    "hr": ("hr", styles.RULE),
    "th": ("th", "text-align:left"),
    "td": ("td", "text-align:left"),
}
"""Maps tags of markdown-it to our tags and styles."""
_OWN_STYLES = frozenset(
    {
        *(style for _, style in _TAG_STYLES.values()),
        *("text-align:center", "text-align:right"),
        *(styles.PRE, styles.PRE_CODE, styles.LABEL, styles.DISGUISED, styles.PLAIN_PRE),
        *styles.CODE_STYLES.values(),
    }
)


def markdown(text: str) -> str:
    """Renders the Markdown as safe HTML; fences are highlighted, and MathJax renders harmless TeX."""
    text = encodable(text)
    if len(text) > LONGEST:
        return f'<pre style="{styles.PLAIN_PRE}">{escape_plain(text)}</pre>'
    return _inert(_parser().render(text), lambda style: style if style in _OWN_STYLES else None)


def code_block(source: str, language: str, label: str = "") -> str:
    """Renders a code block below a small label, by default its language."""
    name, lines = label or language, source.rstrip("\n").count("\n") + 1
    if lines > _LONG:
        name = f"{name or 'code'} \u00b7 {lines} lines"
    head = f'<div style="{styles.LABEL}">{escape_text(name)}</div>' if name else ""
    return head + code_html(source, language)


def _renderer_class() -> "type[RendererProtocol]":  # noqa: C901  # one method for each token
    from markdown_it.renderer import RendererHTML

    class Renderer(RendererHTML):
        def renderToken(self, tokens: "Sequence[Token]", idx: int, *more: Any) -> str:  # noqa: N802  # markdown-it's name
            token = tokens[idx]
            token.tag, style = _TAG_STYLES.get(token.tag, (token.tag, ""))
            if style and token.nesting >= 0:
                token.attrs.setdefault("style", style)
            return super().renderToken(tokens, idx, *more)

        def text(self, tokens: "Sequence[Token]", idx: int, *_: object) -> str:
            return escape_text(tokens[idx].content)

        def code_inline(self, tokens: "Sequence[Token]", idx: int, *_: object) -> str:
            return f"<code>{escape_plain(tokens[idx].content)}</code>"

        def code_block(self, tokens: "Sequence[Token]", idx: int, *_: object) -> str:
            return code_html(tokens[idx].content, "")

        def fence(self, tokens: "Sequence[Token]", idx: int, *_: object) -> str:
            language = (tokens[idx].info.split() or [""])[0]
            return code_block(tokens[idx].content, language)

        def formula(self, tokens: "Sequence[Token]", idx: int, *_: object) -> str:
            source = tokens[idx].content
            return f"<span>{escape_plain(source)}</span>" if harmless_tex(source) else escape_text(source)

        def link_open(self, tokens: "Sequence[Token]", idx: int, _options: object, env: Any) -> str:
            env["link"] = target = str(tokens[idx].attrs.get("href", ""))
            return _link_start(target)

        def link_close(self, _tokens: object, _idx: int, _options: object, env: Any) -> str:
            if WEB_OR_MAIL.match(target := env.pop("link")):
                return "</a>"
            return escape_text(f" ({shortened(target, _SHOWN_TARGET)})") if target else ""

        def image(self, tokens: "Sequence[Token]", idx: int, _options: object, env: Any) -> str:
            source = str(tokens[idx].attrs.get("src", ""))
            word = _image_in_words(tokens[idx], source)
            linked = "link" in env or not WEB_OR_MAIL.match(source)
            return word if linked else f"{_link_start(source)}{word}</a>"

    return Renderer


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}, renderer_cls=_renderer_class())
    with_fences(parser).enable(["table", "strikethrough"])
    parser.inline.ruler.before("escape", "formula", _formula)
    # All links count as valid, so that the target of a forbidden link can be shown as text. markdown-it's documentation
    # recommends this assignment; mypy rejects assignments to methods.
    parser.validateLink = lambda url: True  # type: ignore[method-assign]  # noqa: ARG005 - the name is part of the interface
    return parser


def _formula(state: "StateInline", silent: bool) -> bool:
    match = _FORMULA.match(state.src, state.pos)
    if match is None:
        return False
    if not silent:
        state.push("formula", "", 0).content = match[0]
    state.pos = match.end()
    return True


def _link_start(target: str) -> str:
    return f'<a href="{escape_plain(target)}">' if WEB_OR_MAIL.match(target) else ""


def _image_in_words(image: "Token", source: str) -> str:
    alt = "".join(child.content for child in image.children or () if not child.children)
    host = _HOST.match(source)
    origin = host[1].lower() if host else "" if source.lower().startswith("data:") else shortened(source, _SHOWN_TARGET)
    label = ", ".join(filter(None, (alt, origin)))
    return escape_text(f"[image: {label}]" if label else "[image]")
