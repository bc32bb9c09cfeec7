"""Makes MIME bundles from the agent's kernel safe for the notebook's page.

1. Each result has ``text/plain``. Richer forms stay only if their type is known and their value is valid.
2. HTML is sanitised, Markdown becomes HTML, SVG becomes an image (in which no script runs), and harmless TeX stays.
3. A line reports a form that is too large. If the bundle has no other form, a line also reports an unsupported form.
4. A value of the wrong type counts as missing; no bundle raises an error.
"""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from autogen_nb.agents.parts.output_limits import LARGEST
from autogen_nb.core.text.execution_report import joined_text
from autogen_nb.core.text.output_images import MAGIC, MOST_PIXELS, image_base64, image_bytes, pixels
from autogen_nb.core.text.visible_text import encodable, only_colours
from autogen_nb.notebook.rendering.chat_html import line, picture, preformatted
from autogen_nb.notebook.rendering.markdown import markdown
from autogen_nb.notebook.rendering.sanitize import clean_html, harmless_tex, text_of
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
    texts = [_plain(entries.get(mime)) for mime in ("text/plain", "text/markdown", "text/latex")]
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
    # `RichOutputs` limits what a run shows, but neither the outputs inside widgets nor the pictures of messages.
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


def _plain(value: object) -> str:
    return only_colours(bounded(joined_text(value) or "", LARGEST))


def _name_of(mime: str) -> str:
    name = _NAMES.get(mime) or (f"output of type `{mime}`" if _MIME.match(mime) else "output of an unknown type")
    return name[0].upper() + name[1:]


def _size(bundle_data: object) -> dict[str, int]:
    about = bundle_data if isinstance(bundle_data, Mapping) else {}
    sides = {side: about.get(side) for side in ("width", "height")}
    # A bool is an int in Python, but not a size.
    return {side: value for side, value in sides.items() if type(value) is int and 0 < value <= _LARGEST_SIDE}
