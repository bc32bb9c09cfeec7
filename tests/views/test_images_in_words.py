import base64
import struct
import zlib
from typing import Any

from autogen_nb.events import Said
from autogen_nb.messages import Message
from autogen_nb.notebook.rendering.mime import message_pictures
from autogen_nb.views.in_words import picture_in_words
from autogen_nb.views.plain_view import PlainView


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
