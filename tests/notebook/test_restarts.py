from collections.abc import Iterator
from pathlib import Path

import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.conftest import environment
from tests.notebook.front_end import FrontEnd


@pytest.fixture
def front(tmp_path: Path, model: FakeOpenAI) -> Iterator[FrontEnd]:
    with FrontEnd(
        tmp_path, environment(tmp_path, OPENAI_BASE_URL=model.base_url, AUTOGEN_NB_MODEL="scripted")
    ) as front:
        front.run("%load_ext autogen_nb", "load")
        yield front


@pytest.mark.slow
@pytest.mark.kernel
def test_follow_up_after_a_restart_says_what_is_gone(front: FrontEnd, model: FakeOpenAI) -> None:
    model.add("One.", "Two.", "Three.", "Four.")
    front.run("%%autogen\nFirst.", "one")
    front.run("%%autogen\nSecond.", "two")

    front.restart()
    front.run("%load_ext autogen_nb", "load")
    shown = front.run("%autogen show", "show")
    followed = front.run("%%autogen\nAnd now?", "three")
    after = front.run("%%autogen\nAnd then?", "four")

    assert "the conversation of the 2 cells before is gone" in shown.text
    assert "The next %%autogen cell begins a new one." in shown.text
    assert "the conversation of the 2 cells before is gone" in followed.about("restart")[0]
    assert "This cell begins a new conversation." in followed.about("restart")[0]
    assert after.about("restart") == []
    assert [message["content"] for message in model.requests[2].body["messages"][1:]] == ["And now?"]
