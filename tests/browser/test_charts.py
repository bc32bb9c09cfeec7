import re
import time
from pathlib import Path

from playwright.sync_api import FrameLocator, Locator, Page, expect

from autogen_nb.testing import FakeOpenAI
from tests.browser.cells import code, connected
from tests.browser.looks import misfits_of, width
from tests.browser.notebook_page import NotebookPage, nbconvert

REDRAWN_SECONDS = 20
"""How long a chart may take to look otherwise."""

PLOTLY = """
import plotly.express as px
px.scatter(x=[1, 2, 3], y=[3, 2, 1], title="plotly").show()
"""
ALTAIR = """
import altair as alt, pandas as pd
table = pd.DataFrame({"a": [1, 2, 3], "b": [3, 1, 2]})
brush = alt.selection_interval()
color = alt.condition(brush, alt.value("red"), alt.value("lightgray"))
alt.Chart(table, title="altair").mark_point(size=200).encode(x="a", y="b", color=color).add_params(brush).show()
"""
BOKEH = """
from bokeh.io import output_notebook
from bokeh.plotting import figure, show
output_notebook()
plot = figure(height=250, width=500, title="bokeh", x_range=(0, 10), y_range=(0, 10))
plot.scatter([1, 5], [3, 4])
show(plot)
"""
FOLIUM = """
import folium
map = folium.Map([45, 5])
folium.Marker([45, 5], icon=folium.Icon(color="red")).add_to(map)
folium.Marker([45, 4.9], popup="the first").add_to(map)
folium.Marker([45, 5.1], popup=folium.Popup("<b>the second</b>"), icon=folium.Icon(icon="cloud")).add_to(map)
display(map)
"""
PAGE = """
from pathlib import Path
from IPython.display import IFrame
page = "<p id=out>waiting</p><script>document.getElementById('out').textContent = 'ran'</script>"
Path("page.html").write_text(page)
display(IFrame("page.html", width="100%", height=300))
"""
LINES = {
    "setTimeout(() => { throw new Error('late') }); missing()": "ReferenceError: missing is not defined",
    "Promise.reject(new Error('rejected'))": "Error: rejected",
    "throw '<b>not bold\\n\\u202eand not reversed' + '!'.repeat(9999)": "<b>not bold and not reversed!{150,200}$",
    "fetch('https://example.org/data.json').catch(() => 0)": "Pictures or data from the web are blocked",
    "new ResizeObserver(() => document.body.append('more')).observe(document.body)": None,
}
"""Scripts, and a pattern of the only line below each."""

PROGRAMS = (PLOTLY, ALTAIR, BOKEH, FOLIUM, PAGE)


def _charts(area: Locator | Page) -> list[FrameLocator]:
    frames = area.locator("iframe[data-autogen-nb]")
    expect(frames).to_have_count(len(PROGRAMS))
    return [frames.nth(index).content_frame.frame_locator("iframe") for index in range(len(PROGRAMS))]


def _are_alive(area: Locator | Page) -> None:
    """Hovers, brushes and pans; fails where a chart does not answer."""
    plotly, altair, bokeh, folium, page = _charts(area)
    _await_sight(plotly.locator(".nsewdrag"), area.locator("iframe[data-autogen-nb]").first)
    plotly.locator(".nsewdrag").hover()
    expect(plotly.locator(".hoverlayer .hovertext")).to_contain_text("x=2")
    expect(page.locator("#out")).to_have_text("ran")
    _await_sight(folium.locator(".leaflet-control-zoom-in"), area.locator("iframe[data-autogen-nb]").nth(3))
    expect(area.locator("[data-autogen-nb-line]")).to_have_text(re.compile(r"tiles are blocked.* map\.save"))
    expect(folium.locator(".leaflet-marker-icon")).to_have_count(3)
    folium.locator(".leaflet-marker-icon").nth(2).click(force=True)
    expect(folium.locator(".leaflet-popup-content")).to_have_text("the second")

    _drag(altair.locator("svg.marks"), (60, 60), (200, 200))
    _drag(bokeh.locator("canvas").first, (150, 100), (250, 150))


def _await_sight(part: Locator, frame: Locator) -> None:
    """Scrolls to a frame, which is laid out only in sight, until a part of it is visible: the page may still grow."""
    until = time.monotonic() + REDRAWN_SECONDS
    frame.scroll_into_view_if_needed()
    while not part.is_visible():
        assert time.monotonic() < until, "the frame is not laid out"
        frame.scroll_into_view_if_needed()


def _drag(chart: Locator, start: tuple[int, int], end: tuple[int, int]) -> None:
    """Drags the mouse over a chart until it looks otherwise: one that is just drawn does not listen yet."""
    until = time.monotonic() + REDRAWN_SECONDS
    # A frame out of sight draws nothing, and never becomes stable.
    chart.hover(position={"x": start[0], "y": start[1]}, force=True)
    before = chart.screenshot()
    while chart.screenshot() == before:
        assert time.monotonic() < until, "the chart looks as before"
        chart.hover(position={"x": start[0], "y": start[1]}, force=True)
        chart.page.mouse.down()
        chart.hover(position={"x": end[0], "y": end[1]}, force=True)
        chart.page.mouse.up()
        # An earlier drag may have selected the same.
        end = (end[0] - 10, end[1] - 10)


def test_charts_are_alive_and_stay_so(notebook: NotebookPage, fake: FakeOpenAI, folder: Path) -> None:
    fake.add(code(*(program.strip() for program in PROGRAMS)), "There they are.")
    notebook.create(connected(fake), "%%autogen --confirm never\nDraw.")
    notebook.finish_all()
    _are_alive(notebook.output(1))
    for theme in ("dark", "light"):
        notebook.set_theme(theme)
        for chart in _charts(notebook.output(1)):
            expect(chart.locator(f'meta[name="color-scheme"][content="{theme}"]')).to_be_attached()
        for pixels in (1400, 700):
            with width(notebook, pixels):
                _are_alive(notebook.output(1))
                assert not misfits_of(notebook)
                notebook.screenshot(f"charts-{theme}-{pixels}", 1)
    assert "not shown" not in notebook.output(1).inner_text()

    notebook.reopen()
    _are_alive(notebook.output(1))

    html = nbconvert(folder / "story.ipynb")
    with notebook.page.context.new_page() as page:
        page.goto(html.as_uri())
        _are_alive(page)


def test_charts_are_alive_in_an_exported_page(notebook: NotebookPage, fake: FakeOpenAI, folder: Path) -> None:
    fake.add(code(*(program.strip() for program in PROGRAMS)), "There they are.")
    task = "%%autogen --confirm never\nDraw."
    notebook.create(connected(fake), task, "%autogen export charts.html --yes")
    notebook.finish_all()

    with notebook.page.context.new_page() as page:
        page.goto((folder / "charts.html").as_uri())
        _are_alive(page)


def test_a_line_says_what_fails_in_a_frame(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    pages = [f"<p>page</p><script>{script}</script>" for script in LINES]
    fake.add(code(f"from IPython.display import HTML\ndisplay(*map(HTML, {pages}))"), "There they are.")
    notebook.create(connected(fake), "%%autogen --confirm never\nDraw.")
    notebook.finish_all()

    lines = [re.compile(line) for line in LINES.values() if line]
    expect(notebook.output(1).locator("iframe ~ [data-autogen-nb-line]")).to_have_text(lines)
    notebook.screenshot("charts-failing", 1)
    notebook.save()
    notebook.reload()
    expect(notebook.output(1).locator("iframe ~ [data-autogen-nb-line]")).to_have_text(lines)


def test_a_long_table_scrolls_below_its_head(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add(code("import pandas as pd\npd.DataFrame({'number': range(50)})"), "There it is.")
    notebook.create(connected(fake), "%%autogen --confirm never\nDraw.")
    notebook.finish_all()
    table = notebook.output(1).locator("table.dataframe")
    last = table.locator("tr").last
    expect(last).not_to_be_in_viewport()
    last.scroll_into_view_if_needed()

    expect(table.locator("th >> text=number")).to_be_in_viewport()
    notebook.screenshot("long-table", 1)
    # The box alone scrolls, and nothing sticks out.
    assert ["resize:vertical" in part for part in misfits_of(notebook)] == [True]
