"""A page as HTML for a cell's output.

1. The page is in a frame without an origin (``sandbox="allow-scripts"``), inside another one, whose policy keeps both
   from the network and from other addresses: a frame of its own could go elsewhere by itself.
2. A library is an element of the cell's output, once for all frames; `page.js` hands it to them.
3. A line stands in its place where the notebook's page shows no frames: not trusted, or on GitHub.
"""

import json
from html import escape

from autogen_nb.notebook.rendering.chat_html import line
from autogen_nb.notebook.rendering.frames.documents import Document
from autogen_nb.notebook.rendering.frames.libraries import LIBRARIES, load, pack
from autogen_nb.notebook.rendering.scripts import script

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:; "
    "font-src data:; media-src data: blob:; frame-src 'none'; form-action 'none'; base-uri 'none'"
)
_NOT_TRUSTED = "An interactive chart, which an untrusted page does not show: trust the notebook, or run the cell."
_MISSING = (
    "An interactive chart is not shown: the notebook's environment lacks its JavaScript. "
    "`%pip install {}` brings it; then run the cell again."
)


def frame_html(document: Document) -> str:
    """The frame of a page; `library_html` of each of its libraries must be in the same cell."""
    libraries = [LIBRARIES[name] for name in document.libraries]
    if missing := [library.distribution for library in libraries if not library.version]:
        return line(_MISSING.format(" ".join(dict.fromkeys(missing))), tone="warning")
    keys = escape(json.dumps([library.key for library in libraries]))
    page = pack(f"<script>{script('frames/inner.js')}</script>{document.body}")
    outer = (
        f'<!doctype html><meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        "<style>html,body,iframe{margin:0;border:0;width:100%;height:100%;display:block}</style>"
        f'<script data-libraries="{keys}" data-page="{page}">{script("frames/outer.js")}</script>'
    )
    return (
        f'<div><iframe data-autogen-nb data-height="{document.height}" title="interactive chart" '
        'sandbox="allow-scripts" style="width:100%;height:0;border:0;display:block" '
        f'srcdoc="{escape(outer)}"></iframe>{line(_NOT_TRUSTED)}<script>{script("frames/page.js")}</script></div>'
    )


def library_html(name: str) -> str:
    """A library for the frames of a cell."""
    element = f'<script type="text/plain" data-autogen-nb-library="{escape(LIBRARIES[name].key)}">'
    return f"{element}{load(name).result()}</script>"
