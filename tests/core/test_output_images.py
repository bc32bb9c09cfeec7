import base64
from typing import Any

import pytest

from autogen_nb.core.text.output_images import LARGEST, pictures_of
from autogen_nb.outputs import Cleared, Display, Output, Result, Stream


def picture(number: int = 0, mime: str = "image/png") -> str:
    magic = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}[mime]
    return base64.b64encode(magic + bytes([number])).decode()


def urls(parts: list[dict[str, Any]]) -> list[str]:
    return [part["image_url"]["url"] for part in parts]


def test_pictures_come_in_order() -> None:
    outputs: list[Output] = [
        Stream("stdout", "a\n"),
        Display({"image/png": picture(), "text/plain": "<Figure>"}),
        Result({"image/jpeg": picture(1, "image/jpeg")}),
    ]

    parts = pictures_of(outputs)

    assert urls(parts) == [f"data:image/png;base64,{picture()}", f"data:image/jpeg;base64,{picture(1, 'image/jpeg')}"]


def test_what_was_cleared_is_not_sent() -> None:
    outputs: list[Output] = [Display({"image/png": picture(1)}), Cleared(), Display({"image/png": picture(2)})]

    assert urls(pictures_of(outputs)) == [f"data:image/png;base64,{picture(2)}"]


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
def test_what_is_no_picture_stays_out(data: Any) -> None:
    assert urls(pictures_of([Display({"image/png": data, "text/plain": "x"})])) == []


def test_line_breaks_in_base64_are_taken_out() -> None:
    assert urls(pictures_of([Display({"image/png": picture() + "\n"})])) == [f"data:image/png;base64,{picture()}"]
