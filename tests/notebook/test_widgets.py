from typing import Any

import pytest

from autogen_nb.notebook.rendering.mime import safe
from autogen_nb.notebook.rendering.widgets import VIEW, static_form
from autogen_nb.testing import FakeOpenAI
from tests.notebook.conftest import python, run_chat
from tests.notebook.front_end import FrontEnd, Run

SLIDER = """
import matplotlib.pyplot as plt
from ipywidgets import interact
@interact(power=(1, 4))
def draw(power=2):
    print("power", power)
    plt.plot([number**power for number in range(5)])
    plt.show()
"""
HOSTILE = """
import ipywidgets as w
from IPython.display import display
from traitlets import Unicode
class Foreign(w.DOMWidget):
    _model_module = Unicode("evil").tag(sync=True)
    _view_name = Unicode("EvilView").tag(sync=True)
class Disguised(w.Label):
    _view_name = Unicode("HTMLView").tag(sync=True)
    more = Unicode("not a trait of a label").tag(sync=True)
markup = "<b>bold</b><script>alert(1)</script><img src=x onerror=alert(1)>"
box = w.VBox([
    w.HTML(markup, layout=w.Layout(margin="-300px 0 0 0", width="50%")),
    w.HTMLMath(r"$\\\\href{javascript:alert(1)}{x}$"),
    Disguised(markup, style={"background": "url(http://example.org)"}),
    w.IntSlider(description=markup, description_allow_html=True),
    w.Video.from_url("http://example.org/video"),
    w.Image(value=b"http://example.org/picture", format="url"),
    Foreign(),
])
box.add_class("jp-Dialog")
for child in ("IPY_MODEL_ours", "IPY_MODEL_" + box.model_id):
    box.comm.send({"method": "update", "state": {"box_style": child}, "buffer_paths": []})
display(box, Foreign())
"""
MALFORMED = """
from comm import create_comm
import ipywidgets as w
deep = 1
for _ in range(700):
    deep = [deep]
for model, key, value in (("VBox", "children", 5), ("VBox", "children", [5, None]), ("Image", "format", []),
                          ("HBox", "children", None), ("IntSlider", "value", deep), ("Layout", "width", {}),
                          ("Dropdown", "_options_labels", 5), ("FloatProgress", "max", [])):
    box = getattr(w, model)()
    box.comm.send({"method": "update", "state": {key: value}, "buffer_paths": []})
    display(box)
print("through")
"""
BUTTON = """
import ipywidgets as w
from IPython.display import display
button, out = w.Button(description="Write"), w.Output()
@button.on_click
def write(_):
    with out:
        open("/etc/autogen_nb_test", "w")
display(button, out)
"""
FLOOD = """
import ipywidgets as w
bar = w.IntProgress(max=10_000)
display(bar)
for number in range(10_000):
    bar.value = number + 1
"""


def widget(front: FrontEnd, model: str) -> tuple[str, dict[str, Any]]:
    return next(each for each in front.visible() if each[1]["_model_name"] == model)


def outputs(front: FrontEnd) -> list[dict[str, Any]]:
    return list(widget(front, "OutputModel")[1]["outputs"])


def static(cell: Run) -> str:
    return "".join(
        output.data.get("text/html", "")
        for output in cell.outputs
        if output.about == "widget" and len(output.data) == 2
    )


@pytest.mark.parametrize("either", ["sub", pytest.param("main", marks=pytest.mark.slow)], indirect=True)
def test_slider_draws_again_after_the_chat(either: FrontEnd, model: FakeOpenAI) -> None:
    cell = run_chat(either, model, python(SLIDER), "Done.")
    name, state = widget(either, "IntSliderModel")
    assert (state["value"], outputs(either)[0]["text"]) == (2, "power 2\n")
    before = outputs(either)[1]["data"]["image/png"]
    either.set(name, value=4)
    either.wait(lambda: outputs(either)[0]["text"] == "power 4\n" and len(outputs(either)) == 2, "another plot")
    assert outputs(either)[1]["data"]["image/png"] != before

    either.run("%autogen kernel restart", "restart")

    either.wait(lambda: name not in either.widgets, "the widgets to be closed")
    assert "power: 4" in static(cell)
    assert static(cell).count("<img src=") == 1


def test_hostile_widgets(notebook: FrontEnd, model: FakeOpenAI) -> None:
    cell = run_chat(notebook, model, python(HOSTILE), "Done.")

    states = {state["_model_name"]: state for state in notebook.widgets.values()}
    assert states["HTMLModel"]["value"] == "<b>bold</b>"
    assert "href" not in states["HTMLMathModel"]["value"].split("\\")
    assert states["LabelModel"]["_view_name"] == "LabelView"
    assert "more" not in states["LabelModel"]
    assert states["IntSliderModel"]["description_allow_html"] is False
    assert states["ImageModel"]["format"] == "png"
    assert not {"VideoModel", "DOMWidgetModel"} & states.keys()
    assert len(states["VBoxModel"]["children"]) == 5
    assert not {"_dom_classes", "box_style"} & states["VBoxModel"].keys()
    layouts = [state for state in notebook.widgets.values() if state["_model_name"] == "LayoutModel"]
    assert ("50%", None) in [(layout["width"], layout.get("margin")) for layout in layouts]
    assert "example.org" not in str([state for state in notebook.widgets.values() if "value" not in state])
    assert [output.text for output in cell.outputs if "Foreign" in output.text][-1] == "Foreign()"
    assert len([output for output in cell.outputs if VIEW in output.data]) == 1


def test_malformed_states_end_nothing(notebook: FrontEnd, model: FakeOpenAI) -> None:
    cell = run_chat(notebook, model, python(MALFORMED), "Done.")

    assert "through" in cell.about("stream")[0]
    assert "Done." in cell.about("message")[-1]


def test_callback_has_no_permissions(notebook: FrontEnd, model: FakeOpenAI) -> None:
    notebook.run("%autogen kernel stop", "stop")
    run_chat(notebook, model, python(BUTTON), "Done.")
    model.add("Hello.", python(BUTTON), "Done.")
    unguarded = notebook.run("%%autogen --confirm risky\nHello.")
    notebook.run("%autogen kernel stop", "stop")
    guarded = notebook.run_clicking("%%autogen --confirm risky\nGo on.", click=["Run"])

    notebook.click("Write")

    notebook.wait(lambda: bool(outputs(notebook)), "the callback")
    assert "without a guard" in unguarded.text
    assert "without a guard" not in guarded.text
    assert "Permission denied" in outputs(notebook)[0]["traceback"][-1]


def test_flood_of_updates_is_merged(notebook: FrontEnd, model: FakeOpenAI) -> None:
    before = len(notebook.messages)
    cell = run_chat(notebook, model, python(FLOOD), "Done.")

    assert sum("'value': " in message and "comm_msg" in message for message in notebook.messages[before:]) < 500
    assert "width:100.0%" in static(cell)


def test_html_without_its_tags() -> None:
    states = {"a": {"_model_name": "HTMLModel", "value": "<b>1 &lt; 2</b> "}}

    assert static_form("a", states) == ("<b>1 &lt; 2</b> ", "1 < 2")
    assert safe({"text/html": "<div> </div>", "text/plain": "none"}) == ({"text/plain": "none"}, {})
