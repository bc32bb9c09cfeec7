"""Inline styles with JupyterLab's CSS variables; text is also readable in a front end that drops styles.

Each variable has a fallback that suits light and dark themes, such as the inherited colour or a translucent grey.
"""

from typing import Literal, TypeAlias

Tone: TypeAlias = Literal["muted", "good", "warning", "bad"]
SpeakerTone: TypeAlias = Literal["assistant", "user", "second", "third", "fourth", "fifth", "sixth"]

TEXT = "var(--jp-content-font-color1,inherit)"
MUTED = "var(--jp-content-font-color2,var(--vscode-descriptionForeground,inherit))"
FAINT = "rgba(128,128,128,.35)"
CODE_BACKGROUND = "var(--jp-cell-editor-background,rgba(128,128,128,.09))"
CODE_FONT = "var(--jp-code-font-family,ui-monospace,monospace)"
SMALL = "font-size:var(--jp-ui-font-size1,13px)"

MARKS: dict[Tone, tuple[str, str]] = {
    "muted": ("", ""),
    "good": ("\u2713", "color-mix(in srgb,var(--jp-success-color1,#388e3c) 80%,currentcolor)"),
    "warning": ("!", "color-mix(in srgb,var(--jp-warn-color0,#d9650a) 75%,currentcolor)"),
    "bad": ("\u2715", "var(--jp-error-color1,#d64545)"),
}
"""The mark and colour of a line; without colours, the mark shows the tone."""

RULES: dict[SpeakerTone, str] = {
    "assistant": "var(--jp-brand-color1,#2a7fd4)",
    "user": "var(--jp-border-color1,#8c8c8c)",
    "second": "var(--md-orange-700,#d9771a)",
    "third": "var(--md-purple-400,#ab47bc)",
    "fourth": "var(--md-green-600,#43a047)",
    "fifth": "var(--md-pink-400,#ec407a)",
    "sixth": "var(--jp-info-color1,#2490a0)",
}

SEATS: tuple[SpeakerTone, ...] = ("assistant", "second", "third", "fourth", "fifth", "sixth")
"""The colours of a team's members in order; a larger team repeats them."""

# In untrusted notebooks, JupyterLab's sanitiser removes `border-left-color`, and the grey of `border-left` remains.
CARD = (
    "margin:10px 0 4px;padding:1px 0 1px 12px;overflow-wrap:anywhere;"
    f"border-left:2px solid {FAINT};border-left-color:{{colour}}"
)
MARK = "font-size:.75em;color:{colour}"
HEAD = f"margin:0 0 4px;{SMALL};line-height:1.5"
DETAIL = f"color:{MUTED}"
_LINE = f"margin:3px 0;{SMALL};line-height:1.5;overflow-wrap:anywhere"
LINE = f"{_LINE};color:{TEXT}"
MUTED_LINE = f"{_LINE};color:{MUTED}"

THOUGHT = f"margin:2px 0 8px;padding:0 0 0 10px;border-left:2px solid {FAINT};{SMALL};color:{MUTED}"

INSET = "20px"
CALL = f"margin:6px 0 0;{SMALL};line-height:1.5;overflow-wrap:anywhere;color:{TEXT}"
RETURNED = f"margin:2px 0 4px;padding-left:{INSET};{SMALL};line-height:1.5;overflow-wrap:anywhere;color:{TEXT}"

LABEL = f"margin:6px 0 2px;{SMALL};line-height:1.4;color:{MUTED}"
# Long lines wrap. Otherwise, a person might approve code that is scrolled out of sight.
PRE = (
    f"margin:0 0 8px;padding:7px 10px;background:{CODE_BACKGROUND};border:1px solid {FAINT};border-radius:2px;"
    f"color:{TEXT};font-family:{CODE_FONT};font-size:var(--jp-code-font-size,13px);line-height:1.45;"
    "white-space:pre-wrap;overflow-wrap:anywhere;tab-size:4"
)
WAITING_PRE = f"{PRE};max-height:max(calc(60vh / {{}}),7em);overflow:auto"
"""The style of code above a question; more blocks get less height each, so that the buttons stay visible."""

EDITOR = f"font-family:{CODE_FONT};font-size:var(--jp-code-font-size,13px);line-height:1.45;padding:7px 10px;tab-size:4"
DIFFERENCE = {"-": "background:rgba(214,69,69,.18)", "+": "background:rgba(56,142,60,.18)"}
"""The styles of removed and added lines."""

PRE_CODE = "background:none;padding:0;font:inherit;color:inherit;white-space:inherit"
SUMMARY = f"{SMALL};line-height:1.5;color:{TEXT}"
PLAIN_PRE = f"margin:0;font-family:{CODE_FONT};font-size:var(--jp-code-font-size,13px);white-space:pre-wrap"
# Such a table is higher than its box, which a person may enlarge by its corner.
LONG_TABLE = "height:28em;width:fit-content;max-width:100%;overflow:auto;resize:vertical"
TABLE_HEAD = "position:sticky;top:0;background:var(--jp-layout-color0,Canvas)"
DISGUISED = "outline:1px solid var(--jp-error-color1,#d64545)"

# Notebook 7 puts a long output into a scrolling box of 24em, which would hide an open question.
_BOXED = "[data-notebook] .jp-CodeCell.jp-mod-outputsScrolled:has(style.autogen-nb) .jp-Cell-outputArea"
_AREA = ".jp-OutputArea:has(style.autogen-nb)"
_PLOT = ":has(> .jp-RenderedImage)"
_FRAME = ":has(> .jp-RenderedHTML table.dataframe)"
_PLOT_WIDTH = "calc(360px + var(--jp-cell-prompt-width,64px))"
# Two adjacent pictures are side by side if each can be 360 px wide. A data frame and a picture are side by side if the
# picture can be 360 px wide beside the full data frame. Front ends without `:has()` stack the outputs.
_SIDE_BY_SIDE = (
    f"{_AREA} {{display:flex;flex-flow:row wrap;align-content:flex-start}} "
    f"{_AREA} > .jp-OutputArea-child {{flex:0 0 100%;min-width:0;box-sizing:border-box}} "
    f"{_AREA} > {_FRAME}:has(+ * > .jp-RenderedImage) {{flex:0 1 auto;width:auto}} "
    f"{_AREA} > {_PLOT}:is(:has(+ * > .jp-RenderedImage), {_PLOT} + *, {_FRAME} + *) "
    f"{{flex:1 1 {_PLOT_WIDTH};width:auto;max-width:max(50%,{_PLOT_WIDTH})}}"
)
PAGE = (
    f'<style class="autogen-nb">{_BOXED} {{max-height:none;overflow-y:visible;resize:none}} '
    f"{_BOXED}::after {{display:none}} {_BOXED} .jp-OutputArea-child {{padding-top:0}} "
    # Below this width, a prompt is above its output, and the prompt's width in such a box would be its height.
    f"@media (max-width:760px) {{{_BOXED} .jp-OutputArea-prompt {{flex-basis:auto}}}} {_SIDE_BY_SIDE}</style>"
)

PARAGRAPH = "margin:0 0 8px"
LIST = "margin:0 0 8px;padding-left:24px"
QUOTE = f"margin:0 0 8px;padding:0 0 0 10px;border-left:2px solid {FAINT};color:{MUTED}"
TABLE = "margin:0 0 8px;border-collapse:collapse"
RULE = f"margin:10px 0;border:0;border-top:1px solid {FAINT}"
_SMALL_HEADING = "margin:8px 0 4px;font-size:1em;line-height:1.3;font-weight:600"
HEADINGS = {
    "h1": ("h3", "margin:10px 0 6px;font-size:1.2em;line-height:1.3;font-weight:600"),
    "h2": ("h4", "margin:10px 0 6px;font-size:1.1em;line-height:1.3;font-weight:600"),
    "h3": ("h5", _SMALL_HEADING),
    **dict.fromkeys(("h4", "h5", "h6"), ("h6", _SMALL_HEADING)),
}
"""The tag and style of each Markdown heading."""

# Mixed with the text colour, each of JupyterLab's colours has the contrast of WCAG AA in light and dark themes. The
# fallbacks have this contrast, too, because their lightness is medium.
_MIXED = "color:color-mix(in srgb,var(--jp-mirror-editor-{name}-color,{fallback}) {share}%,currentcolor)"

CODE_STYLES: dict[str, str] = {
    "keyword": _MIXED.format(name="keyword", fallback="#3a9a4a", share=75) + ";font-weight:bold",
    "string": _MIXED.format(name="string", fallback="#d05a5a", share=78),
    "comment": _MIXED.format(name="comment", fallback="#5f8f8f", share=70) + ";font-style:italic",
    "number": _MIXED.format(name="number", fallback="#3a9a4a", share=75),
    "operator": _MIXED.format(name="operator", fallback="#a060d8", share=70),
    "def": _MIXED.format(name="def", fallback="#5585e8", share=75),
    "builtin": _MIXED.format(name="builtin", fallback="#3a9a4a", share=75),
    "meta": _MIXED.format(name="meta", fallback="#a060d8", share=65),
    "property": _MIXED.format(name="property", fallback="#4a88c8", share=75),
}
