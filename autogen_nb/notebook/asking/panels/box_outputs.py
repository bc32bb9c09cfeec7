"""What a chat shows in the box of a panel that was answered in a page which was loaded again.

Such a page knows the panel's widgets, and drops what the cell of the page before prints: so the widgets carry it.
"""

from typing import Any

import ipywidgets as widgets
from ipykernel.jsonutil import encode_images, json_clean


class BoxOutputs:
    """Outputs in the order in which they first came, in place of what the box held; each is a widget of its own."""

    def __init__(self, box: widgets.Box) -> None:
        self._box = box
        self._shown: dict[str, widgets.Output] = {}
        box.children = ()

    def publish(self, data: dict[str, Any], metadata: dict[str, Any], display_id: str, *, update: bool = False) -> None:
        """Shows a bundle below the others, or in the place of what has this id."""
        shown = self._shown.get(display_id)
        if update and shown is None:
            # The page has it, as it was when it was saved.
            return
        output = {"output_type": "display_data", "data": encode_images(data), "metadata": metadata}
        outputs = (json_clean(output),)
        if shown is not None:
            shown.outputs = outputs
            return
        self._shown[display_id] = widgets.Output(outputs=outputs)
        self._box.children = tuple(self._shown.values())
