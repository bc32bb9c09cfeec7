"""Makes the state of a widget of the agent's kernel safe for the notebook's page, and renders it as plain HTML.

1. Only ipywidgets' own models are shown, with the traits and the view that ipywidgets defines for them.
2. A reference to a widget becomes a reference to the widget's copy in the page. A state can therefore not name a
   widget of the notebook, such as a button of a panel.
3. HTML is sanitised, harmful TeX loses its backslashes, and only simple CSS values stay. A widget can therefore not
   load data, or cover other outputs.
4. Pages without a kernel show plain HTML and text (`static_form`), made from states that are already safe.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from html import unescape
from typing import Any

from autogen_nb.core.text.visible_text import encodable
from autogen_nb.notebook.rendering import styles
from autogen_nb.notebook.rendering.chat_html import static_html
from autogen_nb.notebook.rendering.markdown import clean_html, escape_text, harmless_tex, text_of

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
    safe, name = {}, str(model.identity["_model_name"])
    for key in model.names & state.keys():
        value = state[key]
        if key == "outputs" and name == "OutputModel":
            safe[key] = outputs(value)
        elif (checked := _safe_value(name, key, _resolved(value, page_id))) is not None or value is None:
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
    if isinstance(value, str) and "\\" in value and not harmless_tex(value):
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


_DEEPEST = 20
_COLOURS = {"success": "#4caf50", "danger": "#f44336", "warning": "#ff9800"}
_PASSIVE = frozenset(
    "HTMLModel HTMLMathModel LabelModel FloatProgressModel IntProgressModel ImageModel ValidModel".split()
)

States = Mapping[str, Mapping[str, Any]]


def has_controls(states: States) -> bool:
    """Returns whether a person can change one of the widgets."""
    return any(
        {"value", "index", "icon"} & state.keys() and state["_model_name"] not in _PASSIVE for state in states.values()
    )


def static_form(identifier: str, states: States, depth: int = _DEEPEST) -> tuple[str, str]:
    state = states.get(identifier, {})
    name = state.get("_model_name", "")
    if "children" in state:
        forms = [static_form(child.removeprefix(REFERENCE), states, depth - 1) for child in state["children"] if depth]
        direction = "row" if name == "HBoxModel" else "column"
        html = "".join(f"<div>{html}</div>" for html, _ in forms if html)
        style = f"display:flex;flex-direction:{direction};gap:4px 8px;align-items:flex-start"
        text = (" " if name == "HBoxModel" else "\n").join(text for _, text in forms if text)
        return f'<div style="{style}">{html}</div>' if html else "", text
    if name == "OutputModel":
        return _outputs(state.get("outputs") or ())
    if name == "ImageModel" or not {"value", "index"} & state.keys():
        return "", ""
    if name in {"HTMLModel", "HTMLMathModel"}:
        return str(state["value"]), unescape(text_of(str(state["value"]))).strip()
    label = str(state.get("description") or "").rstrip(":")
    value = _value(state)
    text = f"{label}: {value}" if label else value
    if name in {"FloatProgressModel", "IntProgressModel"}:
        return f"<div>{escape_text(label)}{_bar(state)}</div>", text
    return f'<div style="{styles.LINE}">{escape_text(text)}</div>', text


def _value(state: Mapping[str, Any]) -> str:
    labels, index = state.get("_options_labels"), state.get("index")
    if isinstance(labels, list) and isinstance(index, int) and 0 <= index < len(labels):
        return str(labels[index])
    return str(state.get("value", index))


def _bar(state: Mapping[str, Any]) -> str:
    try:
        low, high, value = (float(state[key]) for key in ("min", "max", "value"))
        percent = max(0.0, min(100.0, 100 * (value - low) / (high - low)))
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        percent = 0.0
    colour = _COLOURS.get(str(state.get("bar_style")), "#2196f3")
    return (
        '<div style="width:240px;height:14px;margin-top:4px;background:rgba(127,127,127,0.2)">'
        f'<div style="width:{percent:.1f}%;height:100%;background:{colour}"></div></div>'
    )


def _outputs(outputs: Any) -> tuple[str, str]:
    html, lines = "", []
    for output in outputs:
        data = output.get("data", {"text/plain": output.get("text", "\n".join(output.get("traceback", ())))})
        html += static_html(data)
        lines.append(data.get("text/plain", "").rstrip("\n"))
    return html, "\n".join(filter(None, lines))
