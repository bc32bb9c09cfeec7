import base64
import struct
import zlib
from typing import Any

import pytest

from autogen_nb.events import (
    CodeAsked,
    CodeRan,
    Event,
    FunctionsAsked,
    FunctionsReturned,
    ModelDelta,
    ModelReplied,
    OutputAdded,
    ReasoningDelta,
    Said,
    SpeakerAsked,
    SpeakerGiven,
)
from autogen_nb.messages import CodeBlock, FunctionCall, Message, Reasoning
from autogen_nb.notebook.rendering.mime import message_pictures
from autogen_nb.outputs import Stream
from autogen_nb.views.in_words import (
    LONGEST,
    arguments_of,
    call_in_words,
    picture_in_words,
    result_in_words,
    speaker_choice,
)
from autogen_nb.views.plain_view import PlainView

RULE = "-" * 80
ASKED = CodeAsked("user", (CodeBlock("python", "1"),))


def written(*events: Event) -> str:
    texts: list[str] = []
    view = PlainView(texts.append)
    for event in events:
        view.show(event)
    view.tick()
    view.close()
    return "".join(texts)


def test_output_of_a_run_that_was_replayed() -> None:
    assert written(ASKED, CodeRan(1, (Stream("stdout", "one\n"),))) == ">>> running\none\n>>> exit code 1\n"


def test_the_line_that_ends_a_chat_is_not_written() -> None:
    reply = Message("Done.\n\nTERMINATE")
    pieces = ("Done.", "\n\nTERM", "INATE")
    streamed = written(
        *(ModelDelta("assistant", piece) for piece in pieces), ModelReplied(reply), Said("assistant", "user", reply)
    )
    whole = written(ModelReplied(reply), Said("assistant", "user", reply))
    other = written(
        ModelDelta("assistant", "One\nT"), ModelReplied(Message("One\nT")), Said("assistant", "user", reply)
    )

    assert streamed == f"{RULE}\nassistant:\n\nDone.\n"
    assert whole == f"{RULE}\nassistant (to user):\n\nDone.\n"
    assert other == f"{RULE}\nassistant:\n\nOne\nT\n"


def test_a_thought_is_written_as_it_comes() -> None:
    reply = ModelReplied(Message("Yes."), reasoning=Reasoning("Hm.", 2.04, 1234))
    said = Said("assistant", "user", Message("Yes."))
    pieces = (ReasoningDelta("assistant", "H"), ReasoningDelta("assistant", "m."), ModelDelta("assistant", "Yes."))
    streamed = written(*pieces, reply, said)

    assert streamed == (
        f"{RULE}\nassistant:\n\n>>> thinking\nHm.\n>>> answering\nYes.\n(thought for 2.0 s, 1,234 tokens)\n"
    )
    assert written(reply, said) == f"{RULE}\nassistant (to user):\n\nYes.\n(thought for 2.0 s, 1,234 tokens)\n"


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


def test_whom_a_model_chose_to_speak() -> None:
    asked = SpeakerAsked("manager", "ann", ("bob",), "auto")

    assert written(asked, SpeakerGiven("bob")) == ">>> next: bob\n"


def test_tabs_and_lines_stay() -> None:
    assert written(OutputAdded("user", Stream("stdout", "a\tb\nc\n"))) == "a\tb\nc\n"


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("bob", "next: bob"),
        (" bob\n", "next: bob"),
        ("I think that **bob** should speak.", "next: bob"),
        ("bobby", "next: bobby"),
        ("bob or bobby", ""),
        ("nobody", ""),
        (None, ""),
    ],
)
def test_whom_a_model_chose(said: str | None, line: str) -> None:
    asked = SpeakerAsked("manager", "ann", ("bob", "bobby", "c(+"), "auto")

    assert speaker_choice(asked, SpeakerGiven(said)) == line


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


DOT = b"".join(
    (
        b"\x89PNG\r\n\x1a\n",
        _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)),
        _chunk(b"IDAT", zlib.compress(b"\0\0\0\0")),
        _chunk(b"IEND", b""),
    )
)
TEXT = base64.b64encode(DOT).decode()
HELD = f"data:image/png;base64,{TEXT}"
ELSEWHERE = "https://tracker.example/seen.png"


def message(*urls: Any) -> Message:
    return Message([{"type": "text", "text": "Look."}, *({"type": "image_url", "image_url": each} for each in urls)])


def test_picture_in_words() -> None:
    assert picture_in_words(HELD) == f"[picture, image/png, {len(TEXT) * 3 // 4:,} bytes]"
    assert picture_in_words(ELSEWHERE) == f"[picture at {ELSEWHERE}]"
    assert picture_in_words("https://x/\u202e" + "a" * 300).startswith("[picture at https://x/[U+202E]aaa")
    assert len(picture_in_words("a" * 10_000)) < 250


def test_picture_in_a_cell() -> None:
    shown = f'<div><img src="data:image/png;base64,{TEXT}" alt="" style="max-width:100%"></div>'

    assert message_pictures([HELD]) == shown


def test_picture_in_a_terminal() -> None:
    written: list[str] = []

    PlainView(written.append).show(Said("a", "b", message({"url": HELD})))

    assert "Look.\n[picture, image/png, " in "".join(written)


ADD_ONE = FunctionCall("add", '{"a":1}', "c1")


def test_endless_texts_are_bounded() -> None:
    long = "x" * (LONGEST + 1_234)

    assert arguments_of(FunctionCall("f", long)).endswith("\n\u2026 [1,234 more characters are not shown]")
    assert result_in_words(ADD_ONE, long).endswith("\n\u2026 [1,234 more characters are not shown]")


def test_calls_in_words() -> None:
    assert call_in_words(ADD_ONE) == 'calls add({"a": 1})'
    assert result_in_words(ADD_ONE, "3") == "add returned: 3"
    assert result_in_words(ADD_ONE, "one\ntwo") == "add returned:\none\ntwo"
    assert result_in_words(ADD_ONE, "") == "add returned nothing"
