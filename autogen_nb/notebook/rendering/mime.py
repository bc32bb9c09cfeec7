"""Makes MIME bundles from the agent's kernel safe for the notebook's page.

1. Each bundle has ``text/plain``; richer forms are kept only for known types with valid values.
2. HTML is sanitised, Markdown is rendered here, SVG is shown as an image (where no script runs), and TeX is kept if
   harmless.
3. A line reports what was dropped or cut, unless another rich form of the same output is shown.
4. A value of the wrong type or shape counts as missing; no bundle raises an error.
"""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from autogen_nb.core.text.execution_report import joined_text
from autogen_nb.core.text.output_images import MAGIC, MOST_PIXELS, image_base64, image_bytes, pixels
from autogen_nb.core.text.visible_text import encodable
from autogen_nb.notebook.rendering import tex
from autogen_nb.notebook.rendering.chat_html import line, picture, preformatted
from autogen_nb.notebook.rendering.markdown import markdown
from autogen_nb.notebook.rendering.sanitize import clean_html, has_content
from autogen_nb.notebook.rendering.terminal_text import only_colours
from autogen_nb.views.in_words import held_picture, picture_in_words

TEXT_LIMIT = 1_000_000
HTML_LIMIT = 2_000_000
IMAGE_LIMIT = 16_000_000
JSON_LIMIT = 1_000_000

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
_MIME = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,60}\Z", re.ASCII)
_MOST_NOTES = 3
_REPR = re.compile(r"\s*(?:<[^<>]{0,300}>\s*)?\Z")
_LARGEST_SIDE = 20_000

_Bundle = dict[str, Any]


def safe(data: object, metadata: object = None) -> tuple[_Bundle, _Bundle]:
    bundle_data: Mapping[Any, Any] = data if isinstance(data, Mapping) else {}
    about: Mapping[Any, Any] = metadata if isinstance(metadata, Mapping) else {}
    safe_types = _KeptTypes()
    for mime in sorted(key for key in bundle_data if isinstance(key, str) and key != "text/plain"):
        safe_types.add_type(mime, bundle_data[mime])
    shown = safe_types.data(_plain(bundle_data.get("text/plain")))
    sizes = {mime: _size(about.get(mime)) for mime in shown if mime in MAGIC}
    return shown, {mime: size for mime, size in sizes.items() if size}


def message_pictures(urls: Sequence[str]) -> str:
    """Returns a message's pictures as HTML: embedded ones are checked, and remote ones are named and never loaded."""
    return "".join(map(_message_picture, urls))


def _message_picture(url: str) -> str:
    mime, text = held_picture(url) or ("", "")
    checked = safe({mime: text})[0].get(mime)
    return picture(mime, checked) if checked else line(picture_in_words(url))


class _KeptTypes:
    """The safe part of a bundle, and sentences about the rest.

    `_cuts` are always shown, `_drops` only if nothing else is left. `_source` is Markdown or TeX, shown if the bundle's
    ``text/plain`` is empty.
    """

    def __init__(self) -> None:
        self._rich: _Bundle = {}
        self._cuts: list[str] = []
        self._drops: list[str] = []
        self._source = ""

    def add_type(self, mime: str, value: object) -> None:
        """Adds the checked form of an entry, or a sentence about it."""
        text, limit = (_json_text if mime == _JSON else joined_text)(value), _limit(mime)
        checked = None
        if text is not None and limit is not None:
            if len(text) > limit:
                self._cuts.append(f"{_named(mime)} of {len(text):,} characters is not shown: the limit is {limit:,}.")
                return
            if mime in {"text/markdown", "text/latex"}:
                self._source = _plain(text)
            checked = _checked(mime, text)
        if checked is None and text is not None and mime in MAGIC and pixels(mime, image_bytes(mime, text)):
            self._cuts.append(f"{_named(mime)} of more than {MOST_PIXELS:,} pixels is not shown.")
        elif checked is None:
            self._drops.append(f"{_named(mime)} is not shown here.")
        else:
            self._rich[mime] = json.loads(checked) if mime == _JSON else checked

    def data(self, text: str) -> _Bundle:
        """Returns the bundle; the sentences are below its HTML, or above its text."""
        rich = self._rich
        # Front ends show one form only, so an SVG image or Markdown becomes the HTML form if the bundle has none.
        rendered = [rich.pop(mime, None) for mime in ("image/svg+xml", "text/markdown")]
        if any(rendered) and rich.keys().isdisjoint(("text/html", *MAGIC)):
            rich["text/html"] = rendered[0] or rendered[1]
        no_text = bool(_REPR.match(text))
        if no_text and self._source:
            text, no_text = self._source, False
        sentences = (self._cuts + (self._drops if no_text and not rich else []))[:_MOST_NOTES]
        if not sentences:
            # Terminals show this for an output without text.
            return {**rich, "text/plain": text or (f"[{', '.join(rich)}]" if rich else "")}
        lines = "".join(map(line, sentences))
        if "text/html" in rich:
            rich["text/html"] += lines
        elif not rich:
            rich["text/html"] = lines + ("" if no_text else preformatted(text))
        return {**rich, "text/plain": "\n".join(sentences if no_text else [text, *sentences])}


def _limit(mime: str) -> int | None:
    """Returns the maximum length for this type; None for an unsupported type."""
    if mime in MAGIC or mime == "image/svg+xml":
        return IMAGE_LIMIT
    if mime == _JSON:
        return JSON_LIMIT
    return HTML_LIMIT if mime in {"text/html", "text/markdown", "text/latex"} else None


def _checked(mime: str, text: str) -> str | None:
    """Returns the safe form of the text, if any."""
    match mime:
        case "text/html":
            cleaned = clean_html(text)
            return cleaned if has_content(cleaned) else None
        case "text/markdown":
            return markdown(text)
        case "text/latex":
            return encodable(text) if tex.harmless(text) else None
        case "image/svg+xml":
            return _svg_image(text)
        case "application/json":
            return encodable(text)
        case _:
            return image_base64(mime, text) or None


def _svg_image(text: str) -> str | None:
    if "<svg" not in text:
        return None
    encoded = base64.b64encode(encodable(text).encode()).decode("ascii")
    return f'<img src="data:image/svg+xml;base64,{encoded}" alt="SVG image" style="max-width:100%">'


def _json_text(value: object) -> str | None:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return None


def _plain(value: object) -> str:
    text = joined_text(value) or ""
    shown = only_colours(text[:TEXT_LIMIT])
    cut = len(text) - TEXT_LIMIT
    return f"{shown}\n\u2026 {cut:,} more characters are not shown." if cut > 0 else shown


def _named(mime: str) -> str:
    name = _NAMES.get(mime) or (f"output of type `{mime}`" if _MIME.match(mime) else "output of an unknown type")
    return name[0].upper() + name[1:]


def _size(bundle_data: object) -> dict[str, int]:
    about = bundle_data if isinstance(bundle_data, Mapping) else {}
    sides = {side: about.get(side) for side in ("width", "height")}
    # A bool is an int in Python, but not a size.
    return {side: value for side, value in sides.items() if type(value) is int and 0 < value <= _LARGEST_SIDE}
