"""For any small frame the analysis ends."""

import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.models.offline.harness import Chat, with_frames

NAMES = st.text(max_size=12) | st.sampled_from(["date", "year", "id", "by", "plot", "```", "a b", "A_B", "count"])
VALUES = st.one_of(
    st.none(),
    st.integers(-(10**6), 10**6),
    st.floats(-1e9, 1e9) | st.just(float("nan")) | st.just(float("inf")),
    st.booleans(),
    st.text(max_size=6),
    st.dates().map(str),
    st.sampled_from(["a", "b", "1,5", "$3", "2024/01/01", "01.02.2024", "NA", ""]),
)
KINDS = st.sampled_from(["any", "number", "text", "date"])


@st.composite
def frames(draw: st.DrawFn) -> pd.DataFrame:
    """A frame of a few columns, each of one kind or of any."""
    rows = draw(st.integers(0, 8))
    labels = draw(st.lists(NAMES, max_size=4))
    pool = {
        "any": VALUES,
        "number": st.floats(-1e6, 1e6) | st.none(),
        "text": st.sampled_from(["x", "y", "z$", "```"]),
        "date": st.dates().map(str) | st.sampled_from(["2024/01/01", "1.2.2024"]),
    }
    columns = [draw(st.lists(pool[draw(KINDS)], min_size=rows, max_size=rows)) for _ in labels]
    frame = pd.DataFrame(dict(enumerate(columns)), index=range(rows))
    frame.columns = pd.Index(labels, dtype=object)
    return frame


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    frame=frames(), task=st.sampled_from(["Explore", "Plot count by year over time", "correlation and outliers", ""])
)
def test_any_small_frame_comes_to_an_end(frame: pd.DataFrame, task: str) -> None:
    """Whatever the columns are named and hold, it ends, every block compiles, and no step is given up."""
    answer = Chat({"df": frame}).say(with_frames(task, df=frame))

    assert answer
    assert "Given up" not in answer
