import pytest

from autogen_nb.testing import FakeOpenAI, FakeReply
from tests.notebook.front_end import FrontEnd

REFUSED = FakeReply(status=401, error="wrong key")


def runs(front: FrontEnd) -> int:
    file = front.cwd / "runs"
    text = file.read_text() if file.exists() else ""
    file.unlink(missing_ok=True)
    return len(text)


@pytest.mark.slow
@pytest.mark.parametrize(("status", "said"), [(401, "wrong key"), (404, "no such model"), (400, "bad request")])
def test_a_refusal_is_one_line(notebook: FrontEnd, model: FakeOpenAI, status: int, said: str) -> None:
    model.add(FakeReply(status=status, error=said))

    cell, queued = notebook.run_all("%%autogen\nGo.", "print('queued')")

    assert cell.status == "error"
    assert said in cell.error
    assert len(cell.error.splitlines()) == 1
    assert queued.status == "aborted"
    assert cell.about("status") == []


@pytest.mark.slow
def test_the_next_cell_after_a_failure(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(REFUSED, "Fine.")

    fresh.run("%%autogen\nFirst.", "one")
    second = fresh.run("%%autogen\nSecond.", "two")

    assert second.status == "ok"
    assert [message["content"] for message in model.requests[1].body["messages"][1:]] == ["First.", "Second."]
