import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.notebook.rendering.sanitize import clean_html
from tests.notebook.corpus import HOSTILE
from tests.notebook.markup import live_tex, problems, text_of

markup = st.lists(
    st.text(max_size=8) | st.sampled_from(HOSTILE) | st.sampled_from(["<pre>", "\n", "<p", "'", '"', ">"])
)

STYLED = """<style type="text/css">
#T_ab1_row0_col0, #T_ab1_row1_col0 { background-color: #fff7fb; color: #000000; }
#T_ab1_row0_col1 { background: url(http://evil.invalid); position: fixed; font-weight: bold; }
#T_ab1 th { color: red; }
</style><table id="T_ab1"><tbody><tr>
<td id="T_ab1_row0_col0" class="data row0 col0" >1</td><td id="T_ab1_row0_col1" class="data" >2</td>
</tr></tbody></table>"""


@pytest.mark.slow
@given(markup.map("".join))
def test_any_markup_becomes_safe(html: str) -> None:
    cleaned = clean_html(html)

    assert problems(cleaned) == []
    assert live_tex(cleaned) == []


@given(markup.map("".join))
def test_cleaning_is_idempotent(html: str) -> None:
    once = clean_html(html)

    assert clean_html(once) == once


def test_a_data_frame_keeps_its_table() -> None:
    frame = pd.DataFrame({"price": ["$5", "$6"]}, index=["a", "b"])

    cleaned = clean_html(frame.to_html())

    assert '<table border="1" class="dataframe">' in cleaned
    assert "style>" not in cleaned
    assert text_of(cleaned).split() == ["price", "a", "$5", "b", "$6"]


def test_colours_of_a_styled_table_move_into_its_cells() -> None:
    cleaned = clean_html(STYLED)

    assert '<td style="background-color:#fff7fb;color:#000000">1</td>' in cleaned
    assert '<td style="font-weight:bold">2</td>' in cleaned
