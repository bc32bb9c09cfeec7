"""How often what a cell shows is replaced while code prints."""

import re
from datetime import UTC, datetime

import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.front_end import FrontEnd
from tests.notebook.scripts import python

pytestmark = pytest.mark.kernel

_DATE = re.compile(r"'date': datetime\.datetime\(([\d, ]+)")


def updates(messages: list[str]) -> list[float]:
    """When the notebook's kernel sent each update of a display, in seconds."""
    dates = [_DATE.search(text) for text in messages if "'msg_type': 'update_display_data'" in text]
    found = [datetime(*map(int, date[1].strip(" ,").split(",")), tzinfo=UTC) for date in dates if date is not None]  # type: ignore[misc, arg-type]  # as many parts as a date has
    return sorted(moment.timestamp() for moment in found)


@pytest.mark.slow
def test_a_cell_is_updated_twelve_times_a_second_at_most(notebook: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("import time\nfor i in range(600):\n    print(i)\n    time.sleep(0.005)"), "Done.")

    cell = notebook.run("%%autogen --confirm never\nCount.")
    times = updates(notebook.messages)

    assert cell.about("stream")[0].splitlines()[-1] == "599"
    assert max(sum(first <= other < first + 1 for other in times) for first in times) <= 12
    assert len(times) >= 5
