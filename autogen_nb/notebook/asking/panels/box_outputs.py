"""What a chat shows in the box of a panel that was answered in a page which was loaded again.

Such a page knows the panel's widgets, and drops what the cell of the page before prints: so the widgets carry it.
"""

import asyncio
from typing import Any

import ipywidgets as widgets
from ipykernel.jsonutil import encode_images, json_clean

_EVERY = 0.2
"""Seconds between two updates: each carries all that is shown in the box."""


class BoxOutputs:
    """Outputs in the order in which they first came, in place of what the box held."""

    def __init__(self, box: widgets.Box) -> None:
        self._loop = asyncio.get_running_loop()
        self._area = widgets.Output()
        self._shown: dict[str, dict[str, Any]] = {}
        self._waits = False
        box.children = (self._area,)

    def publish(self, data: dict[str, Any], metadata: dict[str, Any], display_id: str, *, update: bool = False) -> None:
        """Shows a bundle below the others, or in the place of what has this id."""
        if update and display_id not in self._shown:
            # The page has it, as it was when it was saved.
            return
        output = {"output_type": "display_data", "data": encode_images(data), "metadata": metadata}
        self._shown[display_id] = json_clean(output)
        if not self._waits:
            self._waits = True
            self._loop.call_soon_threadsafe(self._loop.call_later, _EVERY, self._send)

    def _send(self) -> None:
        self._waits = False
        self._area.outputs = tuple(self._shown.values())
