"""Shows a chat inside a widget, for a reloaded page.

Such a page ignores the outputs of its earlier cells, but still updates widgets.
"""

from typing import Any

import ipywidgets as widgets
from ipykernel.jsonutil import encode_images, json_clean


class BoxOutputs:
    """Replaces the contents of a box by outputs, each in a widget."""

    def __init__(self, box: widgets.Box) -> None:
        self._box = box
        self._shown: dict[str, widgets.Output] = {}
        box.children = ()

    def publish(self, data: dict[str, Any], metadata: dict[str, Any], display_id: str, *, update: bool = False) -> None:
        """Adds an output, or updates the one with this id."""
        shown = self._shown.get(display_id)
        if update and shown is None:
            # The page shows the saved output.
            return
        output = {"output_type": "display_data", "data": encode_images(data), "metadata": metadata}
        outputs = (json_clean(output),)
        if shown is not None:
            shown.outputs = outputs
            return
        self._shown[display_id] = widgets.Output(outputs=outputs)
        self._box.children = tuple(self._shown.values())
