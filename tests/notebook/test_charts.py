"""Charts of the agent's code as outputs of a cell: each in a frame, and each library once."""

import base64
import gzip
import json
import re
from html import unescape
from typing import Any

import pytest

from autogen_nb.events import CodeAsked, CodeRan, OutputAdded
from autogen_nb.messages import CodeBlock
from autogen_nb.notebook.rendering.frames import LIBRARIES, Document, Library, frame_html
from autogen_nb.notebook.view.notebook_view import NotebookView
from autogen_nb.outputs import Display

PLOTLY = {
    "application/vnd.plotly.v1+json": {"data": [{"y": [1, 2]}], "layout": {"height": 300}},
    "text/plain": "Figure",
}
ALTAIR = {"text/html": '<div></div><script>const paths = {vega: "https://cdn.jsdelivr.net/npm/vega@6?noext"}</script>'}
FOLIUM = {
    "text/html": '<div><span>Trust</span><iframe srcdoc="&lt;script src=&quot;https://cdn.jsdelivr.net/npm/'
    'leaflet@1.9.3/dist/leaflet.js&quot;&gt;&lt;/script&gt;&lt;p&gt;map"></iframe></div>'
}
BOKEH = {
    "application/javascript": 'const render_items = [{"roots":{"p1":"place-1"}}];',
    "application/vnd.bokehjs_exec.v0+json": "",
}
BOKEH_LOAD = {"application/javascript": "load()", "application/vnd.bokehjs_load.v0+json": "load()"}
SCRIPT = {"text/html": "<p id=a></p><script>a.textContent = 1</script>", "text/plain": "<HTML>"}
STYLED = {"text/html": "<style>#x {color: red}</style><table id=x><tr><td>1</td></tr></table>"}
TABLE = {"text/html": "<style scoped>\n.dataframe tbody {}</style><table class=dataframe><tr><td>1</td></tr></table>"}


def shown(*bundles: dict[str, Any]) -> list[str]:
    """The HTML of each place of a cell in which code displayed these."""
    places: dict[str, str] = {}

    def publish(data: dict[str, Any], metadata: dict[str, Any], display_id: str, *, update: bool = False) -> None:
        places[display_id] = data.get("text/html", data.get("text/plain", ""))

    view = NotebookView(publish=publish)
    view.show(CodeAsked("user", (CodeBlock("python", "draw()"),)))
    for data in bundles:
        view.show(OutputAdded("user", Display(data)))
    view.show(CodeRan(0))
    return list(filter(None, places.values()))


def page_of(html: str) -> str:
    """The page in the inner frame."""
    packed = re.search(r'data-page="([^"]*)"', unescape(html))
    assert packed is not None
    return gzip.decompress(base64.b64decode(packed[1])).decode()


def frames(places: list[str]) -> list[str]:
    return [html for html in places if "<iframe" in html]


def libraries(places: list[str]) -> list[str]:
    return [name for html in places for name in re.findall(r'data-autogen-nb-library="([a-z-]+)-\d', html)]


@pytest.mark.parametrize(
    ("data", "names"),
    [(PLOTLY, ["plotly"]), (ALTAIR, ["vega"]), (FOLIUM, ["leaflet"]), (BOKEH, ["bokeh"]), (SCRIPT, []), (STYLED, [])],
    ids=["plotly", "altair", "folium", "bokeh", "script", "style"],
)
def test_a_chart_is_in_a_frame_without_an_origin(data: dict[str, Any], names: list[str]) -> None:
    places = shown(data)

    (frame,) = frames(places)
    assert re.findall(r'sandbox="([^"]*)"', frame) == ["allow-scripts"]
    assert "default-src 'none'" in unescape(frame)
    assert "frame-src 'none'" in unescape(frame)
    assert libraries(places) == names


def test_a_page_in_a_frame_is_shown_by_itself() -> None:
    assert page_of(frames(shown(FOLIUM))[0]).endswith("<p>map")


def test_a_bokeh_plot_has_the_place_that_its_script_names() -> None:
    assert '<div id="place-1" data-root-id="p1"' in page_of(frames(shown(BOKEH))[0])


def test_ten_charts_share_a_library() -> None:
    places = shown(*[PLOTLY] * 10)

    assert len(frames(places)) == 10
    assert libraries(places) == ["plotly"]
    assert sum(map(len, frames(places))) < 100_000


def test_tables_and_preparations_need_no_frame() -> None:
    places = shown(TABLE, BOKEH_LOAD)

    assert frames(places) == []
    assert any("<td>1</td>" in html for html in places)
    assert not any("not shown" in html for html in places)


@pytest.mark.parametrize("place", ['<div id="a" data-root-id="p"></div>', '<p class="logo-block">x</p>'])
def test_a_page_that_looks_like_a_preparation_is_shown(place: str) -> None:
    html = f"{place}<script>draw()</script>"

    assert "draw()" in page_of(frames(shown({"text/html": html}))[0])


def test_a_missing_library_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LIBRARIES, "plotly", Library("plotly", "no-such-distribution", (), ""))

    places = shown(PLOTLY)

    assert frames(places) == libraries(places) == []
    assert any("%pip install no-such-distribution" in html for html in places)


@pytest.mark.parametrize("text", ["</script><img src=x>", "\"'></iframe><img src=x>", "&quot;<img src=x>"])
def test_untrusted_text_is_in_the_packed_page_only(text: str) -> None:
    bundle = {"application/vnd.plotly.v1+json": {"data": [], "layout": {"title": text}}}
    html = frame_html(Document(f"<script></script>{text}")) + "".join(
        shown(bundle, {"text/html": f"<script></script>{text}"})
    )

    assert "<img" not in html
    assert "<img" not in unescape(html)
    assert json.dumps(text).replace("<", "\\u003c") in page_of(frames(shown(bundle))[0])
