"""MIME bundles of the agent's kernel, made safe to show in the notebook's own page.

1. Every bundle has ``text/plain``; a richer form is kept only as a known type whose value has been checked.
2. HTML is cleaned, Markdown rendered by us, SVG shown as an image (where no script runs), TeX kept when harmless.
3. What is dropped or cut is said in words, in a line, unless another rich form of the same output is shown.
4. A value of the wrong type or shape is treated as absent; nothing in a bundle raises.
"""

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autogen_nb.notebook.rendering import tex
from autogen_nb.notebook.rendering.chat_html import line, markdown, picture, preformatted
from autogen_nb.notebook.rendering.escaping import encodable
from autogen_nb.notebook.rendering.sanitize import clean_html, has_content
from autogen_nb.notebook.rendering.terminal_text import only_colours
from autogen_nb.views.images_in_words import held, in_words

TEXT_LIMIT = 1_000_000
"""Characters of plain text."""
HTML_LIMIT = 2_000_000
"""Characters of HTML, before cleaning."""
IMAGE_LIMIT = 16_000_000
"""Characters of an image: its base64 text, or an SVG's source."""
JSON_LIMIT = 1_000_000
"""Characters of JSON."""

_MAGIC: Mapping[str, re.Pattern[bytes]] = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
}
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
_MIME = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,60}\Z", re.ASCII)
_MOST_NOTES = 3
_REPR = re.compile(r"\s*(?:<[^<>]{0,300}>)?\s*\Z")
_LARGEST_SIDE = 20_000

_Bundle = dict[str, Any]


def safe(data: object, metadata: object = None) -> tuple[_Bundle, _Bundle]:
    """Data and metadata of the same output that are safe to hand to ``display_data``."""
    given: Mapping[Any, Any] = data if isinstance(data, Mapping) else {}
    about: Mapping[Any, Any] = metadata if isinstance(metadata, Mapping) else {}
    kept = _KeptType()
    for mime in sorted(key for key in given if isinstance(key, str)):
        _keep(kept, mime, given[mime])
    kept.drop_doubles()
    return kept.data(_plain(given.get("text/plain"))), _sizes(kept.rich, about)


def message_pictures(urls: Sequence[str]) -> str:
    """The pictures of a message as HTML: those that it holds, checked; the rest are told of and never loaded."""
    return "".join(map(_message_picture, urls))


def _message_picture(url: str) -> str:
    given = held(url)
    if given is not None and given[0] in (kept := safe({given[0]: given[1]})[0]):
        return picture(given[0], kept[given[0]])
    return line(in_words(url))


@dataclass(slots=True)
class _KeptType:
    """What is left of a bundle, and the sentences about what is not.

    `cuts` are always said, `drops` only where nothing else is left to see. `source` is the text of a form
    whose ``text/plain`` says nothing.
    """

    rich: _Bundle = field(default_factory=dict)
    cuts: list[str] = field(default_factory=list)
    drops: list[str] = field(default_factory=list)
    source: str = ""

    def cut(self, mime: str, size: int, limit: int) -> None:
        self.cuts.append(f"{_named(mime)} of {size:,} characters is not shown: the limit is {limit:,}.")

    def drop(self, mime: str) -> None:
        self.drops.append(f"{_named(mime)} is not shown here.")

    def drop_doubles(self) -> None:
        """Leaves out what would hide, or be hidden by, a better form of the same output."""
        svg = self.rich.pop("image/svg+xml", None)
        written = self.rich.pop("text/markdown", None)
        if not any(mime in self.rich for mime in ("text/html", *_MAGIC)):
            self.rich.update({"text/html": svg or written} if svg or written else {})

    def data(self, text: str) -> _Bundle:
        """The bundle; what has to be said stands below its HTML, or above its text."""
        silent = bool(_REPR.match(text))
        if silent and self.source:
            text, silent = self.source, False
        said = (self.cuts + (self.drops if silent and not self.rich else []))[:_MOST_NOTES]
        if not said:
            return {**self.rich, "text/plain": text or _stand_in(self.rich)}
        lines = "".join(line(note) for note in said)
        spoken = "\n".join(said if silent else [text, *said])
        if "text/html" in self.rich:
            return {**self.rich, "text/html": self.rich["text/html"] + lines, "text/plain": spoken}
        html = {} if self.rich else {"text/html": lines + ("" if silent else preformatted(text))}
        return {**self.rich, **html, "text/plain": spoken}


def _keep(kept: _KeptType, mime: str, value: object) -> None:
    """Adds the checked form of one entry of a bundle, or the sentence about it."""
    if mime == "text/plain":
        return
    if mime == "application/json":
        _keep_json(kept, value)
        return
    text, limit = _text(value), _limit(mime)
    if text is None or limit is None:
        kept.drop(mime)
    elif len(text) > limit:
        kept.cut(mime, len(text), limit)
    else:
        _keep_text(kept, mime, text)


def _limit(mime: str) -> int | None:
    """How long the text of this type may be; None for a type that is not shown."""
    if mime in _MAGIC or mime == "image/svg+xml":
        return IMAGE_LIMIT
    return HTML_LIMIT if mime in {"text/html", "text/markdown", "text/latex"} else None


def _keep_text(kept: _KeptType, mime: str, text: str) -> None:
    if mime in {"text/markdown", "text/latex"}:
        kept.source = _plain(text)
    checked = _checked(mime, text)
    if checked is None:
        kept.drop(mime)
    else:
        kept.rich[mime] = checked


def _checked(mime: str, text: str) -> str | None:
    """The safe form of the text; None where there is none."""
    match mime:
        case "text/html":
            cleaned = clean_html(text)
            return cleaned if has_content(cleaned) else None
        case "text/markdown":
            return markdown(text)
        case "text/latex":
            return text if tex.harmless(text) else None
        case "image/svg+xml":
            return _svg_image(text)
        case _:
            return _image(text, _MAGIC[mime])


def _image(text: str, magic: re.Pattern[bytes]) -> str | None:
    try:
        raw = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None
    return base64.b64encode(raw).decode("ascii") if magic.match(raw) else None


def _svg_image(text: str) -> str | None:
    if "<svg" not in text:
        return None
    encoded = base64.b64encode(encodable(text).encode()).decode("ascii")
    return f'<img src="data:image/svg+xml;base64,{encoded}" alt="SVG image" style="max-width:100%">'


def _keep_json(kept: _KeptType, value: object) -> None:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        kept.drop("application/json")
        return
    if len(text) > JSON_LIMIT:
        kept.cut("application/json", len(text), JSON_LIMIT)
    else:
        kept.rich["application/json"] = json.loads(encodable(text))


def _text(value: object) -> str | None:
    """Text, or the lines of text that nbformat splits it into."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return encodable("".join(value))
    return None


def _plain(value: object) -> str:
    text = _text(value) or ""
    shown = only_colours(text[:TEXT_LIMIT])
    cut = len(text) - TEXT_LIMIT
    return f"{shown}\n\u2026 {cut:,} more characters are not shown." if cut > 0 else shown


def _named(mime: str) -> str:
    name = _NAMES.get(mime) or (f"output of type `{mime}`" if _MIME.match(mime) else "output of an unknown type")
    return name[0].upper() + name[1:]


def _stand_in(rich: _Bundle) -> str:
    """What a terminal shows of an output that came without text."""
    return f"[{', '.join(rich)}]" if rich else ""


def _sizes(rich: _Bundle, metadata: Mapping[Any, Any]) -> _Bundle:
    """The width and height of the images that are shown, in pixels."""
    found = {mime: _size(metadata.get(mime)) for mime in rich if mime in _MAGIC}
    return {mime: size for mime, size in found.items() if size}


def _size(given: object) -> dict[str, int]:
    about = given if isinstance(given, Mapping) else {}
    sides = {side: about.get(side) for side in ("width", "height")}
    # A bool is an int in Python, and no size.
    return {side: value for side, value in sides.items() if type(value) is int and 0 < value <= _LARGEST_SIDE}
