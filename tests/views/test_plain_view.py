import base64

import pytest

from autogen_nb.events import (
    CodeAsked,
    CodeRan,
    Event,
    FunctionsAsked,
    FunctionsReturned,
    ModelDelta,
    OutputAdded,
    ReasoningDelta,
    Said,
    SpeakerAsked,
    SpeakerGiven,
)
from autogen_nb.messages import CodeBlock, FunctionCall, Message, Reasoning
from autogen_nb.notebook.rendering.mime import message_pictures
from autogen_nb.outputs import Stream
from autogen_nb.views.in_words import LONGEST, arguments_of, call_in_words, picture_in_words, result_in_words
from autogen_nb.views.plain_view import PlainView
from tests.replies import replied

RULE = "-" * 80
ASKED, OUTPUT = CodeAsked("user", (CodeBlock("python", "1"),)), Stream("stdout", "a\tb\nc\n")


def written(*events: Event) -> str:
    texts: list[str] = []
    view = PlainView(texts.append)
    for event in events:
        view.show(event)
    view.tick()
    view.close()
    return "".join(texts)


@pytest.mark.parametrize("live", [[OutputAdded("user", OUTPUT)], []], ids=["live", "replayed"])
def test_output_of_a_run_is_written_once(live: list[Event]) -> None:
    assert written(ASKED, *live, CodeRan(1, (OUTPUT,))) == ">>> running\na\tb\nc\n>>> exit code 1\n"


def test_the_line_that_ends_a_chat_is_not_written() -> None:
    reply = Message("Done.\n\nTERMINATE")
    pieces = ("Done.", "\n\nTERM", "INATE")
    streamed = written(
        *(ModelDelta("assistant", piece) for piece in pieces), replied(reply), Said("assistant", "user", reply)
    )
    whole = written(replied(reply), Said("assistant", "user", reply))
    other = written(ModelDelta("assistant", "One\nT"), replied(Message("One\nT")), Said("assistant", "user", reply))

    assert streamed == f"{RULE}\nassistant:\n\nDone.\n(< 0.1 s)\n"
    assert whole == f"{RULE}\nassistant (to user):\n\nDone.\n(< 0.1 s)\n"
    assert other == f"{RULE}\nassistant:\n\nOne\nT\n(< 0.1 s)\n"


def test_a_thought_is_written_as_it_comes() -> None:
    reply = replied(Message("Yes."), reasoning=Reasoning("Hm.", 2.04, 1234))
    said = Said("assistant", "user", Message("Yes."))
    pieces = (ReasoningDelta("assistant", "H"), ReasoningDelta("assistant", "m."), ModelDelta("assistant", "Yes."))
    streamed = written(*pieces, reply, said)

    assert streamed == (
        f"{RULE}\nassistant:\n\n>>> thinking\nHm.\n>>> answering\nYes.\n(thought for 2 s · 1,234 tokens)\n(< 0.1 s)\n"
    )
    assert (
        written(reply, said) == f"{RULE}\nassistant (to user):\n\nYes.\n(thought for 2 s · 1,234 tokens)\n(< 0.1 s)\n"
    )


CALL = {"id": "c", "function": {"name": "add", "arguments": '{"a": 1}'}}
ADD = FunctionCall("add", '{"a": 1}', "c")


def test_results_of_calls() -> None:
    text = written(
        Said("assistant", "user", Message("Let me see.", tool_calls=[CALL])),
        FunctionsAsked("user", (ADD,)),
        FunctionsReturned(("Error: no\x1b[2J",)),
        Said("user", "assistant", Message("Error: no\x1b[2J", role="tool")),
        Said("assistant", "user", Message("A pity.")),
    )

    assert text.split(RULE)[1:] == [
        '\nassistant (to user):\n\nLet me see.\n>>> calls add({"a": 1})\n>>> add returned: Error: no\n',
        "\nassistant (to user):\n\nA pity.\n",
    ]


def test_calls_that_no_message_named() -> None:
    text = written(FunctionsAsked("user", (ADD,)), FunctionsReturned(("3",)), Said("user", "bob", Message("4")))

    assert text == f'>>> calls add({{"a": 1}})\n>>> add returned: 3\n{RULE}\nuser (to bob):\n\n4\n'


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("bob", ">>> next: bob\n"),
        (" bob\n", ">>> next: bob\n"),
        ("I think that **bob** should speak.", ">>> next: bob\n"),
        ("bobby", ">>> next: bobby\n"),
        ("bob or bobby", ""),
        ("nobody", ""),
        (None, ""),
    ],
)
def test_whom_a_model_chose(said: str | None, line: str) -> None:
    assert written(SpeakerAsked("manager", "ann", ("bob", "bobby", "c(+"), "auto"), SpeakerGiven(said)) == line


TEXT = base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01").decode()
HELD = f"data:image/png;base64,{TEXT}"
ELSEWHERE = "https://tracker.example/seen.png"


def test_picture_in_words() -> None:
    assert picture_in_words(HELD) == f"[picture, image/png, {len(TEXT) * 3 // 4:,} bytes]"
    assert picture_in_words(ELSEWHERE) == f"[picture at {ELSEWHERE}]"
    assert picture_in_words("https://x/\u202e" + "a" * 300).startswith("[picture at https://x/[U+202E]aaa")
    assert len(picture_in_words("a" * 10_000)) < 250


def test_picture_in_a_cell() -> None:
    shown = f'<div><img src="data:image/png;base64,{TEXT}" alt="" style="max-width:100%"></div>'

    assert message_pictures([HELD]) == shown


def test_picture_in_a_terminal() -> None:
    content = [{"type": "text", "text": "Look."}, {"type": "image_url", "image_url": {"url": HELD}}]

    assert "Look.\n[picture, image/png, " in written(Said("a", "b", Message(content)))


def test_half_an_emoji_is_written_as_a_replacement() -> None:
    assert written(Said("a", "b", Message("half \ud83d"))).endswith("half \ufffd\n")


def test_endless_texts_are_bounded() -> None:
    long = "x" * (LONGEST + 1_234)

    assert arguments_of(FunctionCall("f", long)).endswith("\n\u2026 [1,234 more characters are not shown]")
    assert result_in_words(ADD, long).endswith("\n\u2026 [1,234 more characters are not shown]")


def test_calls_in_words() -> None:
    assert call_in_words(FunctionCall("add", '{"a":1}')) == 'calls add({"a": 1})'
    assert call_in_words(FunctionCall("add", '{"a":"\n"}')) == 'calls add({"a": "\\n"})'
    assert result_in_words(ADD, "one\ntwo") == "add returned:\none\ntwo"
    assert result_in_words(ADD, "") == "add returned nothing"
