from typing import Any

import pytest

from autogen_nb.events import ApprovalAsked, ApprovalGiven, CodeAsked, CodeRan, ModelAsked, ModelReplied, Recorded, Said
from autogen_nb.messages import CodeBlock, Message
from autogen_nb.notebook.commands.audit_command import decisions_table, requests_table
from autogen_nb.testing import FakeOpenAI
from tests.notebook.front_end import FrontEnd
from tests.notebook.scripts import python

HOSTILE = "print('<img src=x onerror=alert(1)>')  # $x$ \u202e"


@pytest.mark.slow
def test_audit_of_a_chat(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('one')"), python("1 / 0"), "Done.")
    nothing = fresh.run("%autogen audit", "before")
    cell = fresh.start("%%autogen\nGo.")
    fresh.click("Run")
    fresh.wait(lambda: len(cell.about("decision")) == 1, "the first decision")
    fresh.click("Run")
    fresh.finish(cell)

    audit = fresh.run("%autogen audit main", "audit")
    requests = fresh.run("%autogen audit --sent", "sent")

    heads, *lines = audit.text.split("\n")
    assert nothing.text == "Nothing was asked in chat `main`, and no code ran."
    assert heads.split() == "# agent question reasons answer by result code".split()
    assert [each.strip() for each in lines[0].split("  ") if each][-4:] == ["run", "you", "exit code 0", "print('one')"]
    assert "exit code 1" in lines[1]
    assert "<td" in audit.html()
    assert requests.text.count("127.0.0.1") == 3
    assert "user: Go." in requests.text
    assert "ZeroDivisionError" in requests.text
    assert "sk-" not in requests.text


@pytest.mark.slow
def test_invalid_arguments_are_refused(fresh: FrontEnd) -> None:
    assert "there is no chat 'nobody'" in fresh.run("%autogen audit nobody").error
    assert "takes a chat's name and --sent" in fresh.run("%autogen audit --all").error
    assert "names more than one chat" in fresh.run("%autogen audit one two").error


def test_nothing_in_the_record_becomes_part_of_the_page() -> None:
    block = CodeBlock("python", HOSTILE)
    log: list[Recorded] = [
        ApprovalAsked("<b>user</b>", block, reasons=("<b>why</b>",)),
        ApprovalGiven("run", by="you"),
        CodeAsked("user", (block,)),
        CodeRan(0),
        Said("user", "assistant", Message(HOSTILE)),
        ModelAsked("assistant", "user", 1),
        ModelReplied(Message("x"), "<b>gpt</b>", host="<b>host</b>"),
    ]

    for data, _ in (decisions_table(log, "main"), requests_table(log, "main")):
        html: Any = data["text/html"]
        assert "<img" not in html
        assert "<b>" not in html
        assert "[U+202E]" in html
        assert "[U+202E]" in data["text/plain"]


def test_pictures_and_calls_are_reported() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "add", "arguments": "{}"}}
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    log: list[Recorded] = [
        Said("user", "assistant", Message([{"type": "text", "text": "See."}, picture], tool_calls=[call])),
        ModelAsked("assistant", "user", 1),
    ]

    text = requests_table(log, "main")[0]["text/plain"]

    assert "[1 picture(s)]" in text
    assert "[call of add: {}]" in text
    assert "AAAA" not in text
    assert "unknown: no reply" in text


@pytest.mark.slow
def test_nothing_sent() -> None:
    assert requests_table([], "main")[0]["text/plain"] == "Nothing went to a model in chat `main`."
