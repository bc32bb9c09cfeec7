"""Renders the state of widgets as plain HTML and text, for pages without a kernel."""

from collections.abc import Mapping
from html import unescape
from typing import Any

from autogen_nb.notebook.rendering import styles
from autogen_nb.notebook.rendering.chat_html import static_html
from autogen_nb.notebook.rendering.escaping import escape_text
from autogen_nb.notebook.rendering.sanitize import text_of
from autogen_nb.notebook.rendering.widget_state import REFERENCE

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
