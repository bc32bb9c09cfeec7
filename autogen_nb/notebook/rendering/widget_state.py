"""Makes the state of a widget of the agent's kernel safe for the notebook's page.

1. Only ipywidgets' own models are shown, with the traits and the view that ipywidgets defines for them.
2. A reference to a widget becomes a reference to the widget's copy in the page. A state can therefore not name a
   widget of the notebook, such as a button of a panel.
3. HTML is sanitised, harmful TeX loses its backslashes, and only simple CSS values stay. A widget can therefore not
   load data, or cover other outputs.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from autogen_nb.core.text.visible_text import encodable
from autogen_nb.notebook.rendering import tex
from autogen_nb.notebook.rendering.sanitize import clean_html

VIEW = "application/vnd.jupyter.widget-view+json"
REFERENCE = "IPY_MODEL_"

_MODULES = frozenset({"@jupyter-widgets/base", "@jupyter-widgets/controls", "@jupyter-widgets/output"})
_LOADING = frozenset({"AudioModel", "VideoModel"})
"""Models that may load data from a URL."""

_IDENTITY = ("model_name", "model_module", "model_module_version", "view_name", "view_module", "view_module_version")
_DROPPED = frozenset({"_dom_classes", "_view_count", "msg_id", *(f"_{name}" for name in _IDENTITY)})
_PICTURES = frozenset({"png", "jpeg", "jpg", "gif", "webp", "svg+xml"})
_PLAIN_CSS = re.compile(r"(?!.*-\s*[\d.])(?:[\w\s.,%#/\"'-]|\b(?:repeat|minmax|rgba?|hsla?)\([\w\s.,%]*\)){0,300}\Z")
_TYPESET = frozenset({"description", "titles", "_options_labels"})  # front ends typeset TeX in these traits


@dataclass(frozen=True, slots=True)
class Model:
    """A model of ipywidgets: the traits that identify it to a front end, and the names of its other traits."""

    identity: Mapping[str, Any]
    names: frozenset[str]

    @property
    def name(self) -> str:
        return str(self.identity["_model_name"])


def model_of(state: Mapping[str, Any]) -> Model | None:
    """Returns the model of a widget's first state; None for a model that is not shown."""
    key = (state.get("_model_module"), state.get("_model_name"))
    return _models().get(key) if all(isinstance(part, str) for part in key) else None


def safe_state(
    model: Model, state: Mapping[str, Any], page_id: Callable[[str], str | None], outputs: Callable[[Any], Any]
) -> dict[str, Any]:
    """Returns the safe part of a state.

    `page_id` maps the identifier of a widget to the identifier of its copy in the page, and `outputs` renders the
    outputs of an Output widget.
    """
    safe = {}
    for key in model.names & state.keys():
        value = state[key]
        if key == "outputs" and model.name == "OutputModel":
            safe[key] = outputs(value)
        elif (checked := _safe_value(model.name, key, _resolved(value, page_id))) is not None or value is None:
            safe[key] = checked
    if "description_allow_html" in safe:
        safe["description_allow_html"] = False
    return safe


@cache
def _models() -> dict[tuple[Any, Any], Model]:
    import ipywidgets

    def subclasses(cls: Any) -> Any:
        return {cls}.union(*map(subclasses, cls.__subclasses__()))

    models: dict[tuple[Any, Any], Model] = {}
    for cls in subclasses(ipywidgets.Widget):
        traits = cls.class_traits(sync=True)
        identity = {f"_{name}": traits[f"_{name}"].default_value for name in _IDENTITY}
        name, module = identity["_model_name"], identity["_model_module"]
        if cls.__module__.startswith("ipywidgets.") and module in _MODULES and name not in _LOADING:
            known = models.get((module, name))
            names = frozenset(traits) - _DROPPED | (known.names if known else frozenset())
            models[module, name] = Model(known.identity if known else identity, names)
    return models


def _safe_value(model: str, key: str, value: Any) -> Any:
    if model in {"HTMLModel", "HTMLMathModel"} and key == "value":
        html = clean_html(str(value))
        return html if model == "HTMLModel" else _harmless(html)
    if key in _TYPESET or (model == "LabelModel" and key == "value"):
        return _harmless(value)
    if key == "children":
        return [child for child in value if isinstance(child, str) and child.startswith(REFERENCE)]
    if model == "ImageModel" and key == "format":
        return value if value in _PICTURES else "png"
    if model == "LayoutModel" or model.endswith("StyleModel"):
        return value if not isinstance(value, str) or _PLAIN_CSS.match(value) else None
    return value


def _harmless(value: Any) -> Any:
    if isinstance(value, list):
        return [_harmless(item) for item in value]
    if isinstance(value, str) and "\\" in value and not tex.harmless(value):
        # The sign for a set difference looks like a backslash, but MathJax does not interpret it.
        return value.replace("\\", "\u2216")
    return value


def _resolved(value: Any, page_id: Callable[[str], str | None]) -> Any:
    """Replaces references to widgets, and drops references to unknown widgets."""
    match value:
        case str():
            if not value.startswith(REFERENCE):
                return encodable(value)
            identifier = page_id(value.removeprefix(REFERENCE))
            return None if identifier is None else REFERENCE + identifier
        case list():
            resolved = ((item, _resolved(item, page_id)) for item in value)
            return [new for old, new in resolved if new is not None or old is None]
        case dict():
            return {str(key): _resolved(item, page_id) for key, item in value.items()}
        case _:
            return value
