"""Renders a model's Markdown as inert HTML: none of the model's own HTML, no images, and links only to web and mail.

There are two layers. markdown-it, with HTML disabled, writes the markup. Then nh3 removes all tags and attributes but
those of `sanitize.nh3_arguments`, and all styles but those of this module.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from autogen_nb.core.text.code_blocks import with_fences
from autogen_nb.core.text.visible_text import encodable
from autogen_nb.notebook.rendering import styles, tex
from autogen_nb.notebook.rendering.escaping import WEB_OR_MAIL, escape_plain, escape_text
from autogen_nb.notebook.rendering.highlighting import code_html
from autogen_nb.notebook.rendering.sanitize import nh3_arguments

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
    return rf"{opener}(?!{closer})[^`]{{1,{tex.LONGEST}}}?{closer}"


_FORMULA = re.compile(
    "|".join(
        (
            _between(r"\$\$", r"\$\$"),
            _between(r"\\\(", r"\\\)"),
            _between(r"\\\[", r"\\\]"),
            _between(r"\\begin\{([A-Za-z]+\*?)\}", r"\\end\{\1\}"),
            # Pandoc's rule: "from $5 to $10" contains no formula.
            rf"\$(?![\s$])[^`$]{{1,{tex.LONGEST}}}(?<![\s\\])\$(?![\d$])",
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
            return f"<span>{escape_plain(source)}</span>" if tex.harmless(source) else escape_text(source)

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
    return escape_text(f" ({_shortened(target)})") if target else ""


def _image_in_words(image: "Token", source: str) -> str:
    alt = "".join(child.content for child in image.children or () if not child.children)
    host = _HOST.match(source)
    origin = host[1].lower() if host else "" if source.lower().startswith("data:") else _shortened(source)
    label = ", ".join(filter(None, (alt, origin)))
    return escape_text(f"[image: {label}]" if label else "[image]")


def _shortened(target: str) -> str:
    return target if len(target) <= _SHOWN_TARGET else target[:_SHOWN_TARGET] + "\u2026"
