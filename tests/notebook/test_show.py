import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.front_end import FrontEnd
from tests.notebook.scripts import python


@pytest.mark.slow
def test_chat_is_shown_again(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('one')"), "It is done.")
    cell = fresh.start("%%autogen\nGo on, please.")
    fresh.click("Run")
    fresh.finish(cell)

    shown = fresh.run("%autogen show main", "show")

    assert shown.status == "ok", shown.error
    assert "Go on, please." in shown.about("message")[0]
    assert shown.about("message")[-1].endswith("It is done.")
    assert shown.about("decision") == ["Run · by you"]
    assert shown.about("stream") == ["one\n"]
    assert len(model.requests) == 2


@pytest.mark.slow
def test_what_cannot_be_meant(fresh: FrontEnd) -> None:
    assert "there is no chat 'nobody'" in fresh.run("%autogen show nobody").error
    assert "takes the name of a chat" in fresh.run("%autogen show --all").error
