import json

import pytest

from autogen_nb.testing import FakeOpenAI, FakeReply
from tests.notebook.front_end import FrontEnd

pytestmark = pytest.mark.slow


def whole(content: object) -> FakeReply:
    body = {"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}
    return FakeReply(body=json.dumps(body).encode())


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (FakeReply("Half of", finish_reason="content_filter"), "stopped the reply by its content filter"),
        (whole(None), "neither text nor a call"),
        (FakeReply(status=400, error="prompt is too long: 9 tokens > 8 maximum"), "A new chat (--new) or fewer inputs"),
        (FakeReply(status=401, error="wrong key"), "wrong key"),
        (FakeReply(status=404, error="no such model"), "no such model"),
    ],
    ids=["filtered", "null", "long", "key", "model"],
)
def test_a_reply_that_is_none_is_one_line(fresh: FrontEnd, model: FakeOpenAI, reply: FakeReply, said: str) -> None:
    model.add(reply, "Fine.")

    cell, queued = fresh.run_all("%%autogen -a answer\nGo.", "print('queued')")
    after = fresh.run("%%autogen\nGo on.", "two")

    assert (cell.status, queued.status, cell.about("status")) == ("error", "aborted", [])
    assert said in cell.error
    assert len(cell.error.splitlines()) == 1
    assert fresh.value("'answer' in globals()") == "False"
    assert after.about("message")[-1].endswith("Fine."), after.error
    assert [message["content"] for message in model.requests[1].body["messages"][1:]] == ["Go.", "Go on."]


def test_a_task_goes_to_no_other_host(fresh: FrontEnd, model: FakeOpenAI) -> None:
    with FakeOpenAI(["Mine now."]) as other:
        model.add(FakeReply(status=307, headers={"Location": f"{other.base_url}/chat/completions"}))
        cell = fresh.run("%%autogen\nGo.")

        assert other.requests == []
        assert f"redirects to {other.base_url} (307), which was not followed" in cell.error


def test_a_busy_server_is_reported_and_can_be_stopped(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(FakeReply(status=503, error="all seats are taken", headers={"Retry-After": "50"}), "Never.")

    cell = fresh.start("%%autogen\nGo.")
    fresh.wait(lambda: "all seats are taken; next try in" in cell.text, "the reason for the pause")
    status = cell.about("status")[0]
    fresh.interrupt()
    fresh.finish(cell, 30)

    assert "stops it" in status
    assert len(cell.error.splitlines()) == 1
    assert len(model.requests) == 1
