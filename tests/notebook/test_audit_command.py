from typing import Any

import pytest

from autogen_nb.effects import ENDED, Effect, EffectJudged, Permissions
from autogen_nb.events import (
    ApprovalAsked,
    ApprovalGiven,
    ChatStarted,
    CodeAsked,
    CodeInputAsked,
    CodeInputGiven,
    CodeRan,
    EffectAsked,
    Ended,
    HumanInputAsked,
    HumanInputGiven,
    ModelAsked,
    Recorded,
    Relayed,
    Returned,
    Said,
    SpeakerAsked,
    SpeakerGiven,
    SummaryAsked,
    SummaryGiven,
)
from autogen_nb.messages import CodeBlock, Completion, Message
from autogen_nb.notebook.commands.history_commands import decisions, decisions_table, requests, requests_table
from autogen_nb.testing import FakeOpenAI
from tests.notebook.conftest import python
from tests.notebook.front_end import FrontEnd
from tests.replies import replied

ONE, TWO = CodeBlock("python", "one"), CodeBlock("python", "two")
HOSTILE = "print('<img src=x onerror=alert(1)>')  # $x$ \u202e"


@pytest.mark.slow
def test_audit_of_a_chat(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(python("print('one')"), python("1 / 0"), "Done.")
    nothing, unsent = fresh.run("%autogen audit", "before"), fresh.run("%autogen audit --sent", "unsent")
    cell = fresh.start("%%autogen\nGo.")
    fresh.click("Run")
    fresh.wait(lambda: len(cell.decisions) == 1, "the first decision")
    fresh.click("Run")
    fresh.finish(cell)

    audit = fresh.run("%autogen audit main", "audit")
    sent = fresh.run("%autogen audit --sent", "sent")

    heads, *lines = audit.text.split("\n")
    assert nothing.text == "Nothing was asked in chat `main`, and no code ran."
    assert unsent.text == "Nothing went to a model in chat `main`."
    assert heads.split() == "# agent question reasons answer by result code".split()
    assert [each.strip() for each in lines[0].split("  ") if each][-4:] == ["run", "you", "exit code 0", "print('one')"]
    assert "exit code 1" in lines[1]
    assert "<td" in audit.html()
    assert sent.text.count("127.0.0.1") == 3
    assert "user: Go." in sent.text
    assert "ZeroDivisionError" in sent.text
    assert "sk-" not in sent.text


def test_nothing_in_the_record_becomes_part_of_the_page() -> None:
    block = CodeBlock("python", HOSTILE)
    log: list[Recorded] = [
        ApprovalAsked("<b>user</b>", block, reasons=("<b>why</b>",)),
        ApprovalGiven("run", by="you"),
        CodeAsked("user", (block,)),
        CodeRan(0),
        Said("user", "assistant", Message(HOSTILE)),
        ModelAsked("assistant", "user", 1),
        replied(Message("x"), "<b>gpt</b>", host="<b>host</b>"),
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


def test_code_that_ran_unasked() -> None:
    log: list[Recorded] = [
        ApprovalAsked("user", TWO),
        ApprovalGiven("run", by="you"),
        CodeAsked("user", (ONE, TWO, ONE), Permissions()),
        CodeRan(1, ran=2),
        CodeAsked("user", (ONE,)),
        CodeRan(0),
        CodeRan(0),
    ]

    assert [(row.code, row.by, row.result, row.reasons) for row in decisions(log)] == [
        ("two", "you", "exit code 1", ""),
        ("one", "the policy", "exit code 0", "no risks were found in it"),
        ("one", "the policy", "did not run", "no risks were found in it"),
        ("one", "the policy", "exit code 0", "confirm is 'never'"),
    ]


def test_questions_while_code_runs() -> None:
    effect = EffectAsked("user", Effect("network", "x.org", "connects to x.org"), "  get()")
    log: list[Recorded] = [
        CodeAsked("user", (ONE,), Permissions()),
        CodeRan(
            0,
            inner=(
                effect,
                EffectJudged(allowed=True, by="your rule: network x.org"),
                EffectAsked("user", Effect("delete", "/x")),
                EffectJudged(allowed=False, reason="no", by="you"),
                effect,
                EffectJudged(allowed=False, stop=True, by="you"),
                effect,
                ENDED,
                CodeInputAsked("user", "Name? "),
                CodeInputGiven("Ann", by="you"),
                CodeInputAsked("user", "Password: ", password=True),
                CodeInputGiven("", by="you"),
                CodeInputAsked("user"),
                CodeInputGiven(None),
            ),
        ),
    ]

    rows = decisions(log)

    assert [(row.question, row.answer, row.by) for row in rows[1:]] == [
        ("the code connects to x.org", "allowed", "your rule: network x.org"),
        ("the code delete /x", "denied (no)", "you"),
        ("the code connects to x.org", "denied, and the chat stopped", "you"),
        ("the code connects to x.org", "not decided (the code has ended)", ""),
        ("input of running code (Name?)", "typed: Ann", "you"),
        ("input of running code (Password:)", "a password", "you"),
        ("input of running code", "no input", ""),
    ]
    assert rows[1].reasons == "at the line get()"
    assert rows[0].result == "exit code 0"


def test_words_of_a_person_in_a_chat_within() -> None:
    inner: list[Recorded] = []
    for text in ("blue", ""):
        inner += [HumanInputAsked("inner", "assistant", "Your turn: "), HumanInputGiven(text, by="you")]
    log: list[Recorded] = [Returned((Message("x"),), inner=tuple(inner)), ApprovalAsked("user", TWO)]

    assert [(row.agent, row.question, row.answer) for row in decisions(log)] == [
        ("inner", "your words (Your turn:)", "said: blue"),
        ("inner", "your words (Your turn:)", "said nothing"),
        ("user", "python code", "open"),
    ]


def said(sender: str, recipient: str, text: str) -> Said:
    return Said(sender, recipient, Message(text))


def test_what_went_to_a_model() -> None:
    log: list[Recorded] = [
        ChatStarted("user", "assistant"),
        said("user", "assistant", "Plot."),
        ModelAsked("assistant", "user", 1),
        replied(Message("code"), "gpt", host="api.openai.com"),
        said("assistant", "user", "code"),
        said("user", "assistant", "Failed."),
        ModelAsked("assistant", "user", 3),
        replied(Message("code"), "gpt", cached=True),
        said("assistant", "user", "code"),
        SummaryAsked("assistant", "user"),
        SummaryGiven("short", Completion(Message("short"), "gpt", host="api.openai.com")),
        SummaryAsked("assistant", "user"),
        SummaryGiven("by a function"),
        ModelAsked("assistant", "user", 4),
        Ended("answered"),
    ]

    rows = requests(log)

    assert [(row.agent, row.purpose, row.host, row.model) for row in rows] == [
        ("assistant", "a reply", "api.openai.com", "gpt"),
        ("assistant", "a reply", "(none: from the cache)", "gpt"),
        ("assistant", "a summary", "api.openai.com", "gpt"),
        ("assistant", "a reply", "(unknown: no reply)", ""),
    ]
    assert [row.new_content for row in rows] == ["user: Plot.", "user: Failed.", "", ""]


def test_what_went_to_the_models_of_a_group() -> None:
    log: list[Recorded] = [
        said("admin", "manager", "Go."),
        Relayed("manager", "admin", ("ann", "bob")),
        Relayed("manager", "nobody", ("ann",)),
        SpeakerAsked("manager", "admin", ("ann", "bob"), "auto"),
        SpeakerGiven("ann", completion=Completion(Message("ann"), "gpt", host="h")),
        SpeakerAsked("manager", "admin", ("ann", "bob"), "random"),
        SpeakerGiven("ann"),
        said("manager", "ann", "Your turn."),
        ModelAsked("ann", "manager", 2),
        replied(Message("Hi."), "gpt", host="h"),
        said("ann", "manager", "Hi."),
        Relayed("manager", "ann", ("bob",)),
        ModelAsked("bob", "manager", 2),
        replied(Message("Hi."), "gpt", host="h"),
    ]

    rows = requests(log)

    assert [row.purpose for row in rows] == ["who speaks next", "a reply", "a reply"]
    assert rows[1].new_content == "admin: Go.\n\nmanager: Your turn."
    assert rows[2].new_content == "admin: Go.\n\nann: Hi."
