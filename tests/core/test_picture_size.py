from io import BytesIO

import pytest

from autogen_nb.core.text.output_images import pixels

SIDES = (123, 45)


def image(kind: str, **options: object) -> bytes:
    from PIL import Image

    kept = BytesIO()
    Image.new("RGB", SIDES).save(kept, kind, **options)
    return kept.getvalue()


@pytest.mark.parametrize(
    ("mime", "data"),
    [
        pytest.param("image/png", image("png"), id="png"),
        pytest.param("image/jpeg", image("jpeg"), id="jpeg"),
        pytest.param("image/jpeg", image("jpeg", progressive=True, exif=b"Exif\0\0" + b"\xff\xc0" * 30_000), id="exif"),
        pytest.param("image/jpeg", b"\xff\xd8\xff\x01" + image("jpeg")[2:], id="marker-alone"),
    ],
)
def test_the_size_is_read_from_the_header(mime: str, data: bytes) -> None:
    assert pixels(mime, data) == SIDES[0] * SIDES[1]
