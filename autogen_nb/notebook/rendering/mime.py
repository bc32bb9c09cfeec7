"""Makes MIME bundles from the agent's kernel safe for the notebook's page.

1. Each result has ``text/plain``. Richer forms stay only if their type is known and their value is valid.
2. HTML is sanitised, Markdown becomes HTML, SVG becomes an image (in which no script runs), and harmless TeX stays.
3. A line reports a form that is too large. If the bundle has no other form, a line also reports an unsupported form.
4. A value of the wrong type counts as missing; no bundle raises an error.

Interactive charts and other HTML with scripts become pages, each in its own sandboxed frame (`document`):

1. A page comes from a MIME bundle of the agent's kernel, and may contain any script.
2. The page's frame has no origin (``sandbox="allow-scripts"``). The content security policy of an outer frame
   blocks the network for both frames. Without the outer frame, the page could navigate its own frame elsewhere.
3. A cell contains each JavaScript library once, and `page.js` passes the library to the frames. Libraries come only
   from Python packages in the notebook's environment.
4. Where no frames are shown (in an untrusted notebook, or on GitHub), a picture or a line replaces the page.
"""

import base64
import gzip
import importlib.metadata
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from html import escape, unescape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from autogen_nb.agents.parts.output_collector import LARGEST
from autogen_nb.core.text.outputs import EXECUTES, MAGIC, MOST_PIXELS, image_base64, image_bytes, joined_text, pixels
from autogen_nb.core.text.visible_text import encodable, only_colours
from autogen_nb.notebook.rendering.chat_html import line, picture, preformatted, script
from autogen_nb.notebook.rendering.markdown import clean_html, harmless_tex, markdown, text_of
from autogen_nb.views.in_words import bounded, embedded_picture, picture_in_words

_NAMES: Mapping[str, str] = {
    "image/png": "a PNG image",
    "image/jpeg": "a JPEG image",
    "image/gif": "a GIF image",
    "image/webp": "a WebP image",
    "image/svg+xml": "an SVG image",
    "text/html": "HTML",
    "text/markdown": "Markdown text",
    "text/latex": "a TeX formula",
    "application/json": "a JSON value",
    "application/javascript": "a script",
    "application/vnd.jupyter.widget-view+json": "a widget",
    "application/vnd.plotly.v1+json": "a Plotly figure",
}
_JSON = "application/json"
_SHOWN = frozenset({*MAGIC, "image/svg+xml", "text/html", "text/markdown", "text/latex", _JSON})
_MIME = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,60}\Z", re.ASCII)
_MOST_NOTES = 3
_REPR = re.compile(r"\s*(?:<[^<>]{0,300}>\s*)?\Z")
_LARGEST_SIDE = 20_000

_Bundle = dict[str, Any]


def safe(data: object, metadata: object = None) -> tuple[_Bundle, _Bundle]:
    entries: Mapping[Any, Any] = data if isinstance(data, Mapping) else {}
    about: Mapping[Any, Any] = metadata if isinstance(metadata, Mapping) else {}
    rich: _Bundle = {}
    cuts: list[str] = []
    drops: list[str] = []
    for mime in sorted(key for key in entries if isinstance(key, str) and key != "text/plain"):
        checked, cut = _safe_form(mime, entries[mime])
        if checked is not None:
            rich[mime] = checked
        else:
            (cuts if cut else drops).append(f"{_name_of(mime)} {cut or 'is not shown here.'}")
    # Front ends show only one form, so SVG and Markdown become HTML unless the bundle has HTML or an image.
    rendered = [rich.pop(mime, None) for mime in ("image/svg+xml", "text/markdown")]
    if any(rendered) and rich.keys().isdisjoint(("text/html", *MAGIC)):
        rich["text/html"] = rendered[0] or rendered[1]
    texts = [joined_text(entries.get(mime)) or "" for mime in ("text/plain", "text/markdown", "text/latex")]
    texts = [only_colours(bounded(text, LARGEST)) for text in texts]
    text = next((text for text in texts if not _REPR.match(text)), "")
    sentences = (cuts if text or rich else cuts + drops)[:_MOST_NOTES]
    lines = "".join(map(line, sentences))
    if "text/html" in rich:
        rich["text/html"] += lines
    elif sentences and not rich:
        rich["text/html"] = lines + (preformatted(text) if text else "")
    # Without any text, a terminal shows the types.
    text = "\n".join(filter(None, [text, *sentences])) or texts[0] or (f"[{', '.join(rich)}]" if rich else "")
    sizes = {mime: _size(about.get(mime)) for mime in rich if mime in MAGIC}
    return {**rich, "text/plain": text}, {mime: size for mime, size in sizes.items() if size}


def message_pictures(urls: Sequence[str]) -> str:
    """Returns a message's pictures as HTML; a remote picture is only named, and never loaded."""
    html = ""
    for url in urls:
        mime, text = embedded_picture(url) or ("", "")
        checked = safe({mime: text})[0].get(mime)
        html += picture(mime, checked) if checked else line(picture_in_words(url))
    return html


def _safe_form(mime: str, value: object) -> tuple[Any, str]:
    """Returns the safe form of an entry, or None; the second value says why a large entry is dropped."""
    text = (_json_text if mime == _JSON else joined_text)(value)
    if text is None or mime not in _SHOWN:
        return None, ""
    # `OutputCollector` limits what a run shows, but neither the outputs inside widgets nor the pictures of messages.
    if len(text) > LARGEST:
        return None, f"of {len(text):,} characters is not shown: the limit is {LARGEST:,}."
    match mime:
        case "text/html":
            cleaned = clean_html(text)
            return (cleaned if text_of(cleaned).strip() else None), ""
        case "text/markdown":
            return markdown(text), ""
        case "text/latex":
            return (encodable(text) if harmless_tex(text) else None), ""
        case "image/svg+xml":
            return _svg_image(text), ""
        case "application/json":
            return json.loads(encodable(text)), ""
        case _ if pixels(mime, image_bytes(mime, text)) > MOST_PIXELS:
            return None, f"of more than {MOST_PIXELS:,} pixels is not shown."
        case _:
            return image_base64(mime, text) or None, ""


def _svg_image(text: str) -> str | None:
    if "<svg" not in text:
        return None
    # An SVG picture is XML, and must declare the namespaces that HTML implies.
    names = [("xmlns", "http://www.w3.org/2000/svg")]
    names += [("xmlns:xlink", "http://www.w3.org/1999/xlink")] if "xlink:" in text else []
    missing = "".join(f' {name}="{address}"' for name, address in names if f"{name}=" not in text)
    text = text.replace("<svg", f"<svg{missing}", 1)
    encoded = base64.b64encode(encodable(text).encode()).decode("ascii")
    return f'<img src="data:image/svg+xml;base64,{encoded}" alt="SVG image" style="max-width:100%">'


def _json_text(value: object) -> str | None:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return None


def _name_of(mime: str) -> str:
    name = _NAMES.get(mime) or (f"output of type `{mime}`" if _MIME.match(mime) else "output of an unknown type")
    return name[0].upper() + name[1:]


def _size(bundle_data: object) -> dict[str, int]:
    about = bundle_data if isinstance(bundle_data, Mapping) else {}
    sides = {side: about.get(side) for side in ("width", "height")}
    # A bool is an int in Python, but not a size.
    return {side: value for side, value in sides.items() if type(value) is int and 0 < value <= _LARGEST_SIDE}


_LIBRARIES_HERE = "@libraries@"
"""The placeholder for the libraries in a page."""

_HIGHEST = 4_000
_LIMIT = 2_000_000
"""The maximum length of HTML or of a script."""

_VEGA = re.compile(r"application/vnd\.(vega|vegalite)\.v\d+\+json\Z")
_ACTIVE = re.compile(
    r"<(?:script|style|iframe|canvas|svg|video|audio|object|embed|button|input|select)\b|<\w[^<>]*\son\w+\s*=",
    re.IGNORECASE,
)
_PANDAS = re.compile(r"<style(?: scoped)?(?: type=\"text/css\")?>\s*(?:\.dataframe|#T_)")
"""The style sheet of a pandas table. Such a table needs no frame: `clean_html` keeps its colours."""

# The bounds save time: without them, a search would read from each unfinished tag to the end of the text.
_IFRAME = re.compile(r'<iframe\b[^<>]{0,1000}?\bsrcdoc="([^"]*)"', re.IGNORECASE)
_EMPTY_SCRIPT = re.compile(r"<script\b([^<>]{0,2000})>\s*</script\s*>", re.IGNORECASE)
_BOKEH_ROOTS = re.compile(r'"roots":(\{[^{}]*\})')

# In a dark theme, replaces the white of Plotly's default templates; a figure's own settings override the template.
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
    """A page, the libraries that it needs, and its initial height in pixels."""

    body: str
    libraries: tuple[str, ...] = ()
    height: int = 400

    @property
    def missing(self) -> list[str]:
        """The Python packages that the page needs and the notebook's environment lacks."""
        libraries = [LIBRARIES[name] for name in self.libraries]
        return list(dict.fromkeys(library.distribution for library in libraries if not library.version))


def document(data: Mapping[str, Any]) -> Document | None:
    """Returns the page for a bundle; None if the bundle needs no frame or is too long."""
    if isinstance(figure := data.get("application/vnd.plotly.v1+json"), Mapping):
        layout = figure.get("layout")
        height = layout.get("height") if isinstance(layout, Mapping) else None
        pixels = int(height) if isinstance(height, int | float) and 0 < height <= _HIGHEST else 450
        return Document(_chart(f"height:{pixels}px", _PLOTLY_SCRIPT % _json(figure)), ("plotly",), pixels)
    for mime, spec in data.items():
        if (vega := _VEGA.match(mime)) and isinstance(spec, Mapping):
            script = _VEGA_SCRIPT % (_json(spec), "vega-lite" if vega[1] == "vegalite" else "vega")
            return Document(_chart("width:100%", script), ("vega",))
    text, script = (joined_text(data.get(mime)) or "" for mime in ("text/html", "application/javascript"))
    if max(len(text), len(script)) > _LIMIT:
        return None
    if script and not text:
        return _script_document(script)
    if not _ACTIVE.search(text) or (_PANDAS.search(text) and "<script" not in text):
        return None
    # Folium's HTML is an iframe, whose `srcdoc` is the page.
    frame = _IFRAME.search(text)
    if frame is not None and "<script" not in text[: frame.start()]:
        text = unescape(frame[1])
    local = _EMPTY_SCRIPT.sub(lambda script: "" if "src" in script[1].lower() else script[0], text)
    libraries = ("bokeh", "panel") if EXECUTES & data.keys() else _libraries_of(text)
    return Document(_LIBRARIES_HERE + local, libraries)


def _chart(style: str, script: str) -> str:
    return f'<div id="chart" style="{style}"></div>{_LIBRARIES_HERE}<script>{script}</script>'


def _script_document(script: str) -> Document:
    roots = [root for text in _BOKEH_ROOTS.findall(script) for root in _bokeh_roots(text).items()]
    # Scripts of IPython's `Javascript` write their output to `element`.
    elements = '<div id="element"></div>' + "".join(
        f'<div id="{escape(element)}" data-root-id="{escape(root)}" style="display:contents"></div>'
        for root, element in roots
    )
    script = re.sub(r"</(script)", r"<\\/\1", script, flags=re.IGNORECASE)
    return Document(f"{elements}{_LIBRARIES_HERE}<script>{script}</script>", ("bokeh",) if roots else ())


def _bokeh_roots(text: str) -> dict[str, str]:
    try:
        roots = json.loads(text)
    except ValueError:
        return {}
    return {root: element for root, element in roots.items() if isinstance(element, str)}


def _json(value: object) -> str:
    """Returns JSON that is safe in a script element."""
    return json.dumps(value).replace("<", r"\u003c")


_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:; "
    "font-src data:; media-src data: blob:; frame-src 'none'; form-action 'none'; base-uri 'none'"
)
_NOT_TRUSTED = (
    "An untrusted notebook does not show this interactive chart: trust the notebook, or run the cell. "
    "A picture that the code displays, such as `Image(fig.to_image())`, is shown everywhere."
)
_MISSING = (
    "An interactive chart is not shown: the notebook's environment lacks its JavaScript. "
    "`%pip install {}` installs it; then run the cell again."
)


def frame_html(document: Document, picture: str = "") -> str:
    """Returns the frame of a page, or a line if a library is missing; the cell needs `library_html` of each library.

    A front end that shows no frames shows `picture`, which is HTML.
    """
    if document.missing:
        return picture + line(_MISSING.format(" ".join(document.missing)), tone="warning")
    keys = escape(json.dumps([LIBRARIES[name].key for name in document.libraries]))
    page = _pack(f"<script>{script('inner.js')}</script>{document.body}")
    outer = (
        f'<!doctype html><meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        "<style>html,body,iframe{margin:0;border:0;width:100%;height:100%;display:block}</style>"
        f'<script data-libraries="{keys}" data-page="{page}">{script("outer.js")}</script>'
    )
    return (
        f'<div><iframe data-autogen-nb data-height="{document.height}" title="interactive chart" '
        'sandbox="allow-scripts" style="width:100%;height:0;border:0;display:block" '
        f'srcdoc="{escape(outer)}"></iframe>{picture or line(_NOT_TRUSTED)}<script>{script("page.js")}</script></div>'
    )


def library_html(name: str) -> str:
    element = f'<script type="text/plain" data-autogen-nb-library="{escape(LIBRARIES[name].key)}">'
    return f"{element}{load(name).result()}</script>"


# Draws simple markers, because no Python package contains the library that draws folium's icons.
_LEAFLET_MARKS = """
L.AwesomeMarkers = {icon: ({markerColor = "blue"} = {}) => L.divIcon({className: "", iconAnchor: [9, 9], html:
`<i style="display:block;width:14px;height:14px;border:2px solid #fff;border-radius:50%;box-shadow:0 0 3px #000;
background:${markerColor}"></i>`})};
L.Marker.prototype.options.icon = L.AwesomeMarkers.icon();
"""
# Removes the menu, which opens windows and saves files; the frame's sandbox forbids both.
_VEGA_OPTIONS = """
window.vegaEmbed = ((embed) => (element, spec, options) => embed(element, spec,
{...autogenNbTheme === "dark" && {theme: "dark"}, ...options, actions: false}))(window.vegaEmbed);
"""
_STYLE = "document.head.append(Object.assign(document.createElement('style'), {{textContent: {}}}));"
_ADDRESS = re.compile(r"https?://[^\s\"'<>()]{1,300}")


@dataclass(frozen=True, slots=True)
class Library:
    """A JavaScript library, and the Python distribution that contains it.

    `address` matches the URLs from which pages load the library. `files` are glob patterns that begin with an import
    package, `needs` names the libraries that this library requires, and `extension` is a script that runs after it.
    """

    name: str
    distribution: str
    files: tuple[str, ...]
    address: str
    needs: tuple[str, ...] = ()
    extension: str = ""

    @property
    def version(self) -> str:
        """The version of the distribution; "" if it is not installed."""
        with suppress(importlib.metadata.PackageNotFoundError):
            return importlib.metadata.version(self.distribution)
        return ""

    @property
    def key(self) -> str:
        return f"{self.name}-{self.version}"

    def texts(self) -> Iterator[str]:
        if self.name == "vega":
            from vl_convert import javascript_bundle

            yield javascript_bundle()  # type: ignore[call-arg]  # optional, but required in the stub
        for pattern in self.files:
            package, _, inside = pattern.partition("/")
            spec = find_spec(package)
            for folder in (spec.submodule_search_locations or ()) if spec else ():
                for file in sorted(Path(folder).glob(inside)):
                    text = file.read_text("utf-8")
                    yield _STYLE.format(json.dumps(text)) if file.suffix == ".css" else text


_ALL = (
    Library("plotly", "plotly", ("plotly/package_data/plotly.min.js",), r"plotly[-.\w]*\.js"),
    Library("vega", "vl-convert-python", (), r"[/@]vega(-lite|-embed)?(@|[-.\w]*\.js)", extension=_VEGA_OPTIONS),
    Library(
        "bokeh",
        "bokeh",
        tuple(f"bokeh/server/static/js/bokeh{part}.min.js" for part in ("", "-widgets", "-tables", "-gl")),
        r"bokeh[-.\w]*\.js",
    ),
    Library("panel", "panel", ("panel/dist/panel.min.js",), r"/panel[-.\w]*\.js", needs=("bokeh",)),
    # Folium makes the contents of its popups with jQuery.
    Library(
        "jquery", "XStatic-jQuery", ("xstatic/pkg/jquery/data/jquery.min.js",), r"/jquery(@|[-.\d]*(slim\.)?(min\.)?js)"
    ),
    Library(
        "leaflet",
        "XStatic-Leaflet",
        ("xstatic/pkg/leaflet/data/leaflet.css", "xstatic/pkg/leaflet/data/leaflet.js"),
        r"/leaflet(@|\.js)",
        extension=_LEAFLET_MARKS,
    ),
    Library(
        "vis-network",
        "pyvis",
        ("pyvis/lib/vis-9.1*/vis-network.css", "pyvis/lib/vis-9.1*/vis-network.min.js"),
        r"vis-network[-.\w]*\.js",
    ),
    Library("echarts", "panel", ("panel/dist/bundled/echarts/echarts@*/dist/echarts.min.js",), r"/echarts(@|\.min)"),
)
LIBRARIES = {library.name: library for library in _ALL}


def _libraries_of(html: str) -> tuple[str, ...]:
    """Returns the libraries whose addresses a page contains, each after the libraries in its `needs`."""
    addresses = "\n".join(_ADDRESS.findall(html))
    loaded = [library for library in _ALL if re.search(library.address, addresses)]
    return tuple(dict.fromkeys(name for library in loaded for name in (*library.needs, library.name)))


def _pack(text: str) -> str:
    """Compresses text for the frames' scripts: base64 of a gzip file."""
    return base64.b64encode(gzip.compress(text.encode(errors="replace"), mtime=0)).decode()


_threads = ThreadPoolExecutor(1, "autogen_nb-libraries")


@cache
def load(name: str) -> "Future[str]":
    """Returns the future of a library's packed text; packing takes up to two seconds, and runs in a thread."""
    return _threads.submit(_read, LIBRARIES[name])


def _read(library: Library) -> str:
    try:
        # The text must not end the script element that will contain it.
        return _pack("\n".join([*library.texts(), library.extension]).replace("</script", r"<\/script"))
    except Exception as error:  # noqa: BLE001  # a broken installation must not end the chat
        return _pack(f"document.body.append({json.dumps(f'{library.distribution} cannot be read: {error}')});")
