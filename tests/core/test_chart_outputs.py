from typing import Any

import pytest

from autogen_nb.core.text.outputs import is_preparation, static

TEXT = {"text/plain": "a chart"}
PLOTLY: dict[str, Any] = {"application/vnd.plotly.v1+json": {"data": []}}
LOADS = {"application/vnd.bokehjs_load.v0+json": "", "application/javascript": "load()"}
EXECUTES = {"application/vnd.bokehjs_exec.v0+json": "", "text/html": '<div id="a" data-root-id="b"></div>'}
LOGO = {"text/html": '<div class="bk-notebook-logo"></div>'}


@pytest.mark.parametrize(
    ("data", "forms"),
    [
        ({**PLOTLY, "image/png": "AAAA", **TEXT}, {"image/png": "AAAA", **TEXT}),
        ({**TEXT, "text/html": ["<p>", "<script>draw()</script>"]}, TEXT),
        ({**TEXT, "text/html": "<table></table>"}, {**TEXT, "text/html": "<table></table>"}),
        (PLOTLY, {"text/plain": "[an interactive chart]"}),
        (LOADS, {}),
        (LOGO, {}),
        ({}, {}),
    ],
    ids=["picture", "script", "table", "chart", "library", "logo", "nothing"],
)
def test_forms_without_scripts(data: dict[str, Any], forms: dict[str, Any]) -> None:
    assert static(data) == forms


def test_a_chart_of_bokeh_is_no_preparation() -> None:
    assert not is_preparation(EXECUTES)
    assert is_preparation({"text/html": EXECUTES["text/html"]})
