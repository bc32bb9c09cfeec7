import base64
from io import BytesIO
from typing import Any

import pytest

from autogen_nb.core.text.output_images import LARGEST, pictures_of, pixels
from autogen_nb.outputs import Display


def picture(number: int = 0, mime: str = "image/png") -> str:
    magic = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}[mime]
    return base64.b64encode(magic + bytes([number])).decode()


def urls(parts: list[dict[str, Any]]) -> list[str]:
    return [part["image_url"]["url"] for part in parts]


@pytest.mark.parametrize(
    "data",
    [
        None,
        7,
        "%%%",
        "é",
        base64.b64encode(b"<svg onload='x'>").decode(),
        picture(1, "image/jpeg"),
        "A" * (LARGEST + 1),
    ],
    ids=["nothing", "number", "no base64", "no ASCII", "no picture", "another type", "too large"],
)
def test_invalid_image_is_left_out(data: Any) -> None:
    assert urls(pictures_of([Display({"image/png": data, "text/plain": "x"})])) == []


def test_line_breaks_in_base64_are_taken_out() -> None:
    assert urls(pictures_of([Display({"image/png": picture() + "\n"})])) == [f"data:image/png;base64,{picture()}"]


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
