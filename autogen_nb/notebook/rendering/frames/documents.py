"""Pages for frames, made from MIME bundles of the agent's kernel.

A page may hold any script: it is shown only in a frame without an origin and without network (`frame.py`).
"""

import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from autogen_nb.core.text.execution_report import joined_text
from autogen_nb.notebook.rendering.frames.libraries import named_in

LIBRARIES_HERE = "@libraries@"
"""The place in a page where its libraries go."""

_HEIGHT = 400
_HIGHEST = 4_000
_LIMIT = 2_000_000
"""Characters of HTML, or of a script."""

_PLOTLY = "application/vnd.plotly.v1+json"
_VEGA = re.compile(r"application/vnd\.(vega|vegalite)\.v\d+\+json\Z")
_JAVASCRIPT = "application/javascript"
_EXECUTES = frozenset({"application/vnd.bokehjs_exec.v0+json", "application/vnd.holoviews_exec.v0+json"})
_LOADS = frozenset({"application/vnd.bokehjs_load.v0+json", "application/vnd.holoviews_load.v0+json"})
_ACTIVE = re.compile(
    r"<(?:script|style|iframe|canvas|svg|video|audio|object|embed|button|input|select)\b|<\w[^<>]*\son\w+\s*=",
    re.IGNORECASE,
)
_PANDAS = re.compile(r"<style(?: scoped)?(?: type=\"text/css\")?>\s*(?:\.dataframe|#T_)")
"""The style sheet of a table, whose colours the sanitizer moves into the cells."""

_PREPARATION = re.compile(
    r'class="bk-notebook-logo"|<div class="logo-block">\s*<a href="https://(?:holoviews|panel|bokeh)\.'
    r'|\A\s*<script type="esms-options">|\A\s*<div id="[\w-]+" data-root-id="[^<>]*>\s*</div>\s*\Z'
)
"""HTML of `output_notebook()` and `hv.extension()`, and the empty place of a Bokeh plot whose script comes next."""

# Bounded, since each unfinished tag would be read to the end of the text.
_IFRAME = re.compile(r'<iframe\b[^<>]{0,1000}?\bsrcdoc="([^"]*)"', re.IGNORECASE)
_EMPTY_SCRIPT = re.compile(r"<script\b([^<>]{0,2000})>\s*</script\s*>", re.IGNORECASE)
_BOKEH_ROOTS = re.compile(r'"roots":(\{[^{}]*\})')

# The default templates are white; the figure's own settings override its template.
_PLOTLY_SCRIPT = """
const figure = %s, look = figure.layout?.template?.layout;
if (autogenNbTheme === "dark" && look?.paper_bgcolor === "white") {
  Object.assign(look, {paper_bgcolor: "#111", plot_bgcolor: "#111", font: {...look.font, color: "#ddd"}});
  for (const name of ["xaxis", "yaxis"])
    Object.assign(look[name] ??= {}, {gridcolor: "#333", linecolor: "#333", zerolinecolor: "#555"});
}
figure.config = {responsive: true, ...figure.config, displaylogo: false, modeBarButtonsToRemove: ["toImage"]};
Plotly.newPlot("chart", figure);
"""
_VEGA_SCRIPT = 'vegaEmbed("#chart", %s, {mode: "%s"}).catch((error) => document.body.append(error.message));'


@dataclass(frozen=True, slots=True)
class Document:
    """A page, the libraries that it needs, and its first height in pixels."""

    body: str
    libraries: tuple[str, ...] = ()
    height: int = _HEIGHT


def document(data: Mapping[str, Any]) -> Document | None:
    """The page of a bundle; None if nothing in it needs a frame."""
    if isinstance(figure := data.get(_PLOTLY), Mapping):
        return _plotly(figure)
    for mime, spec in data.items():
        if (vega := _VEGA.match(mime)) and isinstance(spec, Mapping):
            script = _VEGA_SCRIPT % (_json(spec), "vega-lite" if vega[1] == "vegalite" else "vega")
            return Document(_chart("width:100%", script), ("vega",))
    text, script = joined_text(data.get("text/html")) or "", joined_text(data.get(_JAVASCRIPT)) or ""
    if max(len(text), len(script)) > _LIMIT:
        return None
    if script and not text:
        return _of_script(script)
    if not _ACTIVE.search(text) or (_PANDAS.search(text) and "<script" not in text):
        return None
    return _of_html(text, ("bokeh", "panel") if _EXECUTES & data.keys() else None)


def is_preparation(data: Mapping[str, Any]) -> bool:
    """True if a bundle shows nothing and only prepares a page for later charts."""
    if _EXECUTES & data.keys():
        return False
    text = joined_text(data.get("text/html")) or ""
    return bool(_LOADS & data.keys() or _PREPARATION.search(text))


def _plotly(figure: Mapping[str, Any]) -> Document:
    layout = figure.get("layout")
    height = layout.get("height") if isinstance(layout, Mapping) else None
    pixels = int(height) if isinstance(height, int | float) and 0 < height <= _HIGHEST else 450
    return Document(_chart(f"height:{pixels}px", _PLOTLY_SCRIPT % _json(figure)), ("plotly",), pixels)


def _chart(style: str, script: str) -> str:
    return f'<div id="chart" style="{style}"></div>{LIBRARIES_HERE}<script>{script}</script>'


def _of_script(script: str) -> Document:
    roots = [root for text in _BOKEH_ROOTS.findall(script) for root in _bokeh_roots(text).items()]
    # Scripts of IPython's `Javascript` write their output to `element`.
    places = '<div id="element"></div>' + "".join(
        f'<div id="{html.escape(place)}" data-root-id="{html.escape(root)}" style="display:contents"></div>'
        for root, place in roots
    )
    script = re.sub(r"</(script)", r"<\\/\1", script, flags=re.IGNORECASE)
    return Document(f"{places}{LIBRARIES_HERE}<script>{script}</script>", ("bokeh",) if roots else ())


def _bokeh_roots(text: str) -> dict[str, str]:
    try:
        roots = json.loads(text)
    except ValueError:
        return {}
    return {root: place for root, place in roots.items() if isinstance(place, str)}


def _of_html(text: str, libraries: tuple[str, ...] | None) -> Document:
    # Folium embeds its page in a frame; our frame shows that page directly.
    frame = _IFRAME.search(text)
    if frame is not None and "<script" not in text[: frame.start()]:
        text = html.unescape(frame[1])
    local = _EMPTY_SCRIPT.sub(lambda script: "" if "src" in script[1].lower() else script[0], text)
    return Document(LIBRARIES_HERE + local, libraries or named_in(text))


def _json(value: object) -> str:
    """JSON that is safe in a script element."""
    return json.dumps(value).replace("<", r"\u003c")
