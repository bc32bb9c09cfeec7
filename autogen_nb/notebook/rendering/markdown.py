"""Renders a model's Markdown as inert HTML: none of the model's own HTML, no images, and links only to web and mail.

There are two layers. markdown-it, with HTML disabled, writes the markup. Then nh3 removes all tags and attributes but
those of `sanitize.nh3_arguments`, and all styles but those of this module. Code is highlighted by Pygments, and every
character of its source is shown.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar

from autogen_nb.core.text.code_blocks import with_fences
from autogen_nb.core.text.visible_text import encodable, visible
from autogen_nb.notebook.rendering import styles
from autogen_nb.notebook.rendering.sanitize import (
    LONGEST_FORMULA,
    WEB_OR_MAIL,
    escape_plain,
    escape_text,
    harmless_tex,
    nh3_arguments,
)
from autogen_nb.views.in_words import shortened

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


if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererProtocol
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

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


def markdown(text: str) -> str:
    """Renders the Markdown as safe HTML; fences are highlighted, and MathJax renders harmless TeX."""
    text = encodable(text)
    if len(text) > LONGEST:
        return f'<pre style="{styles.PLAIN_PRE}">{escape_plain(text)}</pre>'
    import nh3

    return nh3.clean(_parser().render(text), **nh3_arguments(lambda style: style if style in _own_styles() else None))


def code_block(source: str, language: str, label: str = "") -> str:
    """Renders a code block below a small label, by default its language."""
    name, lines = label or language, source.rstrip("\n").count("\n") + 1
    if lines > _LONG:
        name = f"{name or 'code'} \u00b7 {lines} lines"
    head = f'<div style="{styles.LABEL}">{escape_text(name)}</div>' if name else ""
    return head + code_html(source, language)


@cache
def _own_styles() -> frozenset[str]:
    tag_styles = (style for _, style in _TAG_STYLES.values())
    alignments = ("text-align:center", "text-align:right")
    blocks = (styles.PRE, styles.PRE_CODE, styles.LABEL, styles.DISGUISED, styles.PLAIN_PRE)
    return frozenset((*tag_styles, *alignments, *blocks, *styles.CODE_STYLES.values()))


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
            return _link_end(env.pop("link"))

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


def _link_end(target: str) -> str:
    if WEB_OR_MAIL.match(target):
        return "</a>"
    return escape_text(f" ({shortened(target, _SHOWN_TARGET)})") if target else ""


def _image_in_words(image: "Token", source: str) -> str:
    alt = "".join(child.content for child in image.children or () if not child.children)
    host = _HOST.match(source)
    origin = host[1].lower() if host else "" if source.lower().startswith("data:") else shortened(source, _SHOWN_TARGET)
    label = ", ".join(filter(None, (alt, origin)))
    return escape_text(f"[image: {label}]" if label else "[image]")
