"""Text made safe to look at."""

import pytest

from autogen_nb.core.text.visible_text import encodable, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x = 1\n\ty = 2", "x = 1\n\ty = 2"),
        ("harmless\rprint(1)", "harmless[U+000D]print(1)"),
        ("a\u202eb", "a[U+202E]b"),
        ("\x1b[2J", "[U+001B][2J"),
        ("zero\u200bwidth", "zero[U+200B]width"),
        ("\ud800", "\ufffd"),
        ("naïve 한국 👩\u200d🔬", "naïve 한국 👩\u200d🔬"),
    ],
    ids=["plain", "carriage return", "bidi", "escape", "zero width", "surrogate", "scripts"],
)
def test_what_could_disguise_text_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_encodable_text_can_be_sent() -> None:
    assert encodable("a\udfffb").encode() == b"a\xef\xbf\xbdb"
