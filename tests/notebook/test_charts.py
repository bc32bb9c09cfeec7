import base64
import gzip
import json
import re
import subprocess
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from autogen_nb.events import CodeAsked, CodeRan, OutputAdded
from autogen_nb.kernels.inside.service import DRAW
from autogen_nb.messages import CodeBlock
from autogen_nb.notebook.rendering.mime import LIBRARIES, Document, Library, frame_html
from autogen_nb.notebook.rendering.widgets import VIEW
from autogen_nb.notebook.view.notebook_view import NotebookView
from autogen_nb.notebook.view.outputs import shown_as
from autogen_nb.outputs import Display
from autogen_nb.testing import FakeOpenAI
from tests.canary import canary
from tests.notebook.conftest import python, run_chat
from tests.notebook.front_end import FrontEnd

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
ALTAIR_CODE = """
import altair as alt, pandas as pd
table = pd.DataFrame({"a": [1, 2], "picture": ["URL/picture.png"] * 2})
alt.Chart(table[["a"]]).mark_point().encode(x="a").display()
alt.Chart("URL/data.csv").mark_point().encode(x="a:Q").display()
alt.Chart(table).mark_image().encode(x="a", url="picture").display()
"""
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01").decode()
SVG = '<svg width="1" height="1"><rect id="a" /><use xlink:href="#a" /></svg>'
BOKEH_LOAD = {"application/javascript": "load()", "application/vnd.bokehjs_load.v0+json": "load()"}
SCRIPT = {"text/html": "<p id=a></p><script>a.textContent = 1</script>", "text/plain": "<HTML>"}
JQUERY = {"text/html": '<script src="https://cdn.org/jquery-3.7.1.min.js"></script><p>page'}
STYLED = {"text/html": "<style>#x {color: red}</style><table id=x><tr><td>1</td></tr></table>"}
TABLE = {"text/html": "<style scoped>\n.dataframe tbody {}</style><table class=dataframe><tr><td>1</td></tr></table>"}


def shown(*outputs: dict[str, Any] | Display) -> list[str]:
    """The HTML of each place of a cell in which code displayed these."""
    places: dict[str, str] = {}

    def publish(data: dict[str, Any], metadata: dict[str, Any], display_id: str, *, update: bool = False) -> None:
        places[display_id] = data.get("text/html", data.get("text/plain", ""))

    view = NotebookView(publish=publish)
    view.show(CodeAsked("user", (CodeBlock("python", "draw()"),)))
    for output in outputs:
        view.show(OutputAdded("user", output if isinstance(output, Display) else Display(output)))
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
    ("data", "names", "part"),
    [
        (PLOTLY, ["plotly"], '"y": [1, 2]'),
        (ALTAIR, ["vega"], "<div></div><script>"),
        (FOLIUM, ["leaflet"], "<p>map"),
        (BOKEH, ["bokeh"], '<div id="place-1" data-root-id="p1"'),
        (SCRIPT, [], SCRIPT["text/html"]),
        (STYLED, [], STYLED["text/html"]),
        (JQUERY, ["jquery"], "<p>page"),
    ],
    ids=["plotly", "altair", "folium", "bokeh", "script", "style", "jquery"],
)
def test_a_chart_is_in_a_frame_without_an_origin(data: dict[str, Any], names: list[str], part: str) -> None:
    places = shown(data)

    (frame,) = frames(places)
    assert re.findall(r'sandbox="([^"]*)"', frame) == ["allow-scripts"]
    assert "default-src 'none'" in unescape(frame)
    assert "frame-src 'none'" in unescape(frame)
    assert libraries(places) == names
    assert part in page_of(frame)
    # Of a page within a frame, that page alone.
    assert "Trust" not in page_of(frame)


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


@pytest.mark.parametrize(("rows", "boxes"), [(30, 0), (31, 1)])
def test_a_table_of_more_than_thirty_rows_scrolls(rows: int, boxes: int) -> None:
    body = "<tr><td>1</td></tr>" * rows
    html = f"<table class=dataframe><thead><tr><th>a</th></tr></thead><tbody>{body}</tbody></table>"

    (table,) = [place for place in shown({"text/html": html}) if "<table" in place]

    assert [table.count(part) for part in ("overflow:auto", "sticky", f"{rows} rows", "<td>")] == [*[boxes] * 3, rows]


@pytest.mark.parametrize("place", ['<div id="a" data-root-id="p"></div>', '<p class="logo-block">x</p>'])
def test_a_page_that_looks_like_a_preparation_is_shown(place: str) -> None:
    html = f"{place}<script>draw()</script>"

    assert "draw()" in page_of(frames(shown({"text/html": html}))[0])


def test_a_missing_library_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LIBRARIES, "plotly", Library("plotly", "no-such-distribution", (), ""))

    places = shown(PLOTLY)

    assert frames(places) == libraries(places) == []
    assert any("%pip install no-such-distribution" in html for html in places)


def test_model_is_told_what_was_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    told = [shown_as(data) for data in (PLOTLY, SCRIPT, TABLE, {VIEW: {"model_id": "unknown"}})]
    monkeypatch.setitem(LIBRARIES, "plotly", Library("plotly", "no-such-distribution", (), ""))

    chart = "shown to the person as an interactive chart or page"
    assert told == [chart, chart, "", "shown to the person as text"]
    assert shown_as(PLOTLY) == "not shown to the person, because the notebook's environment lacks no-such-distribution"


def test_a_picture_of_a_chart_stands_in_its_place() -> None:
    (frame,) = frames(shown({**ALTAIR, "image/png": PNG}))

    assert re.search(rf'</iframe><div><img src="data:image/png;base64,{re.escape(PNG)}"', frame)
    assert "untrusted page" not in frame


def test_file_of_a_large_chart_is_a_link() -> None:
    output = Display({"image/png": PNG, "text/plain": "[It is in 'output-1.html'.]"}, file="output-1.html")

    (html,) = [html for html in shown(output) if "<img" in html]

    assert '<a href="output-1.html"' in html


def test_svg_without_namespaces_is_a_picture() -> None:
    (html,) = [html for html in shown({"image/svg+xml": SVG}) if "<img" in html]

    svg = ET.fromstring(base64.b64decode(html.split("base64,")[1].split('"')[0]))
    assert svg.tag == "{http://www.w3.org/2000/svg}svg"


@pytest.mark.slow
def test_altair_chart_has_a_picture_that_loads_nothing(notebook: FrontEnd, model: FakeOpenAI) -> None:
    with canary() as (url, paths):
        cell = run_chat(notebook, model, python(ALTAIR_CODE.replace("URL", url)), "Done.")

    message = str(model.requests[-1].body["messages"][-1]["content"])
    assert message.count("[shown to the person as an interactive chart or page: image/png, alt.Chart(...)]") == 1
    assert cell.html().count('</iframe><div><img src="data:image/png;base64,') == 1
    assert paths == []


def test_the_command_that_draws_an_altair_chart_reads_no_file(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("a,b\nhello,1\nworld,2\n")
    encoding = {"text": {"field": "a"}, "y": {"field": "b", "type": "quantitative"}}

    def drawn(address: str) -> bytes:
        data = {"url": address, "format": {"type": "csv"}}
        chart = json.dumps(
            {
                "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
                "data": data,
                "mark": "text",
                "encoding": encoding,
            }
        )
        return subprocess.run(DRAW, input=chart.encode(), capture_output=True, check=False, cwd=tmp_path).stdout

    assert drawn((tmp_path / "secret.csv").as_uri()) == drawn((tmp_path / "missing.csv").as_uri())
    assert drawn("secret.csv") == b""


@pytest.mark.parametrize("text", ["</script><img src=x>", "\"'></iframe><img src=x>", "&quot;<img src=x>"])
def test_untrusted_text_is_in_the_packed_page_only(text: str) -> None:
    bundle = {"application/vnd.plotly.v1+json": {"data": [], "layout": {"title": text}}}
    html = frame_html(Document(f"<script></script>{text}")) + "".join(
        shown(bundle, {"text/html": f"<script></script>{text}"})
    )

    assert "<img" not in html
    assert "<img" not in unescape(html)
    assert json.dumps(text).replace("<", "\\u003c") in page_of(frames(shown(bundle))[0])
