"""Reads the MIME bundles of interactive charts."""

import re
from collections.abc import Mapping
from typing import Any

from autogen_nb.core.text.execution_report import joined_text

EXECUTES = frozenset({"application/vnd.bokehjs_exec.v0+json", "application/vnd.holoviews_exec.v0+json"})
_LOADS = frozenset({"application/vnd.bokehjs_load.v0+json", "application/vnd.holoviews_load.v0+json"})
_SCRIPT = re.compile(r"<(?:script|iframe)\b", re.IGNORECASE)
_PREPARATION = re.compile(
    r'class="bk-notebook-logo"|<div class="logo-block">\s*<a href="https://(?:holoviews|panel|bokeh)\.'
    r'|\A\s*<script type="esms-options">|\A\s*<div id="[\w-]+" data-root-id="[^<>]*>\s*</div>\s*\Z'
)
"""HTML of `output_notebook()` and `hv.extension()`, and the empty element of a Bokeh plot whose script comes next."""


def is_preparation(data: Mapping[str, Any]) -> bool:
    """Returns whether a bundle only prepares a page for later charts, and shows nothing."""
    if EXECUTES & data.keys():
        return False
    text = joined_text(data.get("text/html")) or ""
    return bool(_LOADS & data.keys() or _PREPARATION.search(text))


def static(data: Mapping[str, Any]) -> dict[str, Any]:
    """The forms of a bundle that need no scripts; empty if the bundle shows nothing."""
    if is_preparation(data) or not data:
        return {}
    forms = {
        mime: form
        for mime, form in data.items()
        if not mime.startswith("application/") and not (mime == "text/html" and _SCRIPT.search(joined_text(form) or ""))
    }
    return forms or {"text/plain": "[an interactive chart]"}
