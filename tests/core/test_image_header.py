"""How many pixels an image has, before anything unpacks it."""

import struct
from io import BytesIO

import pytest

from autogen_nb.core.text.image_header import pixels

SIDES = (123, 45)


def image(kind: str, **options: object) -> bytes:
    """An image that Pillow has written."""
    from PIL import Image

    kept = BytesIO()
    Image.new("RGB", SIDES).save(kept, kind, **options)
    return kept.getvalue()


@pytest.mark.parametrize(
    ("mime", "data"),
    [
        pytest.param("image/png", image("png"), id="png"),
        pytest.param("image/gif", image("gif", comment=b"about it"), id="gif"),
        pytest.param("image/jpeg", image("jpeg"), id="jpeg"),
        pytest.param("image/jpeg", image("jpeg", progressive=True, exif=b"Exif\0\0" + b"\xff\xc0" * 30_000), id="exif"),
        pytest.param("image/jpeg", b"\xff\xd8\xff\x01" + image("jpeg")[2:], id="marker-alone"),
        pytest.param("image/webp", image("webp"), id="lossy-webp"),
        pytest.param("image/webp", image("webp", lossless=True), id="lossless-webp"),
        pytest.param("image/webp", image("webp", exif=b"Exif\0\0II*\0"), id="extended-webp"),
    ],
)
def test_the_size_is_read_from_the_header(mime: str, data: bytes) -> None:
    assert pixels(mime, data) == SIDES[0] * SIDES[1]


def test_a_picture_larger_than_its_screen_counts() -> None:
    screen = b"GIF89a" + struct.pack("<HHBBB", 1, 1, 0, 0, 0)
    picture = b"," + struct.pack("<HHHHB", 10, 0, 60_000, 50_000, 0)

    assert pixels("image/gif", screen + picture) == 60_010 * 50_000


def test_a_screen_without_a_picture_has_its_own_size() -> None:
    assert pixels("image/gif", b"GIF89a" + struct.pack("<HHBBB", 30, 20, 0, 0, 0) + b";") == 600


@pytest.mark.parametrize(
    ("mime", "data"),
    [
        pytest.param("image/png", b"\x89PNG\r\n\x1a\n", id="png"),
        pytest.param("image/gif", b"GIF89a", id="gif"),
        pytest.param("image/gif", b"GIF89a" + b"!" * 3_000, id="gif-extensions"),
        # A length of nothing would lead backwards for ever.
        pytest.param("image/jpeg", b"\xff\xd8" + b"\xff\xe0\x00\x00" * 1_000, id="jpeg"),
        pytest.param("image/webp", b"RIFF0000WEBPVP8X", id="webp"),
        pytest.param("image/bmp", b"BM", id="another"),
    ],
)
def test_a_header_that_is_cut_off_tells_nothing(mime: str, data: bytes) -> None:
    assert pixels(mime, data) == 0
