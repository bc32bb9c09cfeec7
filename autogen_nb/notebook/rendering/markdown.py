"""A model's Markdown as HTML that cannot act: no live markup, no remote image, no link but to the web or mail.

Two nets: markdown-it with HTML disabled writes only tags that are named here, and nh3 takes its output
apart again and lets through only tags, attributes and styles that are named here.
"""

import re
from collections.abc import Iterator, MutableMapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from autogen_nb.notebook.rendering import styles, tex
from autogen_nb.notebook.rendering.escaping import WEB_OR_MAIL, encodable, escape_plain, escape_text
from autogen_nb.notebook.rendering.highlighting import code_html

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

LONGEST = 50_000
"""Characters of Markdown that are laid out; a longer text is shown as it is."""

REL = "noopener noreferrer nofollow"

_SHOWN_TARGET = 120
_CLOSERS = {"$$": "$$", "$": "$", "\\(": "\\)", "\\[": "\\]"}
_BEGIN = re.compile(r"\\begin\{([A-Za-z]+\*?)\}")
_LEFT = "text-align:left"
_STYLES = {
    "p": styles.PARAGRAPH,
    "ul": styles.LIST,
    "ol": styles.LIST,
    "blockquote": styles.QUOTE,
    "table": styles.TABLE,
    "hr": styles.RULE,
}
_TAGS = frozenset(
    "p h3 h4 h5 h6 strong em s code pre span div ul ol li blockquote hr br table thead tbody tr th td a".split()
)


def markdown(text: str) -> str:
    """The Markdown as HTML that is safe to show; fences are highlighted, harmless TeX is left to be typeset."""
    text = encodable(text)
    if len(text) > LONGEST:
        return f'<pre style="{styles.PLAIN_PRE}">{escape_plain(text)}</pre>'
    parser = _parser()
    env: dict[str, Any] = {}
    tokens = parser.parse(text, env)
    for token in tokens:
        _dress(token)
        if token.children:
            token.children = list(_tame(token.children))
    return _second_net(parser.renderer.render(tokens, parser.options, env))


def code_block(source: str, language: str, label: str = "") -> str:
    """A code block under a discreet label, by default the language."""
    name = label or language
    head = f'<div style="{styles.LABEL}">{escape_text(name)}</div>' if name else ""
    return head + code_html(source, language)


def _second_net(html: str) -> str:
    import nh3

    return nh3.clean(html, **_net())


@cache
def _net() -> dict[str, Any]:
    return {
        "tags": set(_TAGS),
        "attributes": {"*": {"style"}, "a": {"href", "target"}, "ol": {"start"}},
        "attribute_filter": _known_value,
        "url_schemes": {"http", "https", "mailto"},
        "link_rel": REL,
    }


def _known_value(_tag: str, attribute: str, value: str) -> str | None:
    match attribute:
        case "style":
            return value if value in _own_styles() else None
        case "href":
            return value if WEB_OR_MAIL.match(value) else None
        case "target":
            return "_blank"
        case _:
            return value


@cache
def _own_styles() -> frozenset[str]:
    """Every style that this module or the highlighter writes; a model writes none."""
    headings = (style for _, style in styles.HEADINGS.values())
    alignments = (f"text-align:{side}" for side in ("left", "center", "right"))
    blocks = (styles.PRE, styles.PRE_CODE, styles.LABEL, styles.DISGUISED, styles.PLAIN_PRE)
    return frozenset((*_STYLES.values(), *headings, *alignments, *blocks, *styles.CODE_STYLES.values()))


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML

    class Renderer(RendererHTML):
        """Writes text, code and formulas in this module's way."""

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
            return f"<span>{escape_plain(source)}</span>" if tex.harmless(source) else escape_text(source)

    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}, renderer_cls=Renderer)
    parser.enable(["table", "strikethrough"])
    parser.inline.ruler.before("escape", "formula", _formula)
    # Every link is parsed as one, so that `_tame` can show where a forbidden one leads. markdown-it documents
    # this assignment; mypy cannot know that a method is meant to be replaced.
    parser.validateLink = _any_link  # type: ignore[method-assign,assignment]
    return parser


def _any_link(_url: str) -> bool:
    return True


def _formula(state: "StateInline", silent: bool) -> bool:
    """Takes a formula whole, before Markdown reads its underscores, asterisks and backslashes."""
    end = _formula_end(state.src, state.pos)
    if end < 0:
        return False
    if not silent:
        state.push("formula", "", 0).content = state.src[state.pos : end]
    state.pos = end
    return True


def _formula_end(source: str, start: int) -> int:
    """Where the formula that starts here ends; -1 where none does."""
    if source[start] not in "$\\":
        return -1
    begin = _BEGIN.match(source, start)
    opener = begin[0] if begin else _opener(source, start)
    closer = f"\\end{{{begin[1]}}}" if begin else _CLOSERS.get(opener, "")
    first = start + len(opener)
    last = source.find(closer, first, first + tex.LONGEST) if closer else -1
    body = source[first:last] if last > first else ""
    if not body or "`" in body or (opener == "$" and not _reads_as_formula(body, source[last + 1 : last + 2])):
        return -1
    return last + len(closer)


def _opener(source: str, start: int) -> str:
    two = source[start : start + 2]
    return two if two in _CLOSERS else source[start]


def _reads_as_formula(body: str, following: str) -> bool:
    """Pandoc's rule, by which "from $5 to $10" is about money."""
    touches = not body[0].isspace() and not body[-1].isspace() and body[-1] != "\\"
    return touches and not following.isdigit() and following != "$"


def _dress(token: "Token") -> None:
    if token.tag in styles.HEADINGS:
        token.tag, style = styles.HEADINGS[token.tag]
    elif token.tag in {"th", "td"}:
        style = str(token.attrs.get("style", _LEFT))
    else:
        style = _STYLES.get(token.tag, "")
    if style and token.nesting >= 0:
        token.attrSet("style", style)


def _tame(tokens: "Sequence[Token]") -> "Iterator[Token]":
    """The tokens with links kept only to the web and mail, and images turned to words."""
    targets: list[str] = []
    for token in tokens:
        if token.type == "link_open":
            targets.append(str(token.attrs.get("href", "")))
            yield from _opened(token)
        elif token.type == "link_close":
            yield from _closed(token, targets.pop())
        elif token.type == "image":
            yield from _named_image(token, linked=bool(targets))
        else:
            yield token


def _opened(token: "Token") -> "Iterator[Token]":
    href = str(token.attrs.get("href", ""))
    if WEB_OR_MAIL.match(href):
        token.attrs = {"href": href, "target": "_blank"}
        yield token


def _closed(token: "Token", target: str) -> "Iterator[Token]":
    if WEB_OR_MAIL.match(target):
        yield token
    elif target:
        yield _word(f" ({_shortened(target)})")


def _named_image(token: "Token", *, linked: bool) -> "Iterator[Token]":
    source = str(token.attrs.get("src", ""))
    label = ", ".join(part for part in (_alt(token), _whereabouts(source)) if part)
    word = _word(f"[image: {label}]" if label else "[image]")
    if linked or not WEB_OR_MAIL.match(source):
        yield word
        return
    yield _token("link_open", "a", 1, {"href": source, "target": "_blank"})
    yield word
    yield _token("link_close", "a", -1, {})


def _alt(token: "Token") -> str:
    return "".join(child.content for child in token.children or () if not child.children)


def _whereabouts(source: str) -> str:
    """The host of an image on the web, the path of another; nothing of a data URL."""
    if source.lower().startswith("data:"):
        return ""
    try:
        return urlsplit(source).hostname or _shortened(source)
    except ValueError:
        return _shortened(source)


def _shortened(target: str) -> str:
    return target if len(target) <= _SHOWN_TARGET else target[:_SHOWN_TARGET] + "\u2026"


def _word(text: str) -> "Token":
    word = _token("text", "", 0, {})
    word.content = text
    return word


def _token(kind: str, tag: str, nesting: Any, attrs: MutableMapping[str, Any]) -> "Token":
    from markdown_it.token import Token

    return Token(kind, tag, nesting, attrs=dict(attrs))
