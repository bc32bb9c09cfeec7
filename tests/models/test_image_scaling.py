import base64
import io
from typing import Any

import pytest
from PIL import Image

from autogen_nb.models.openai import image_scaling
from autogen_nb.models.openai.image_scaling import fitted, sent


def part(width: int, height: int = 300, *, kind: str = "PNG", noise: bool = False) -> dict[str, Any]:
    into = io.BytesIO()
    picture = Image.effect_noise((width, height), 100) if noise else Image.new("RGB", (width, height))
    picture.save(into, format=kind)
    return of(into.getvalue(), kind)


def of(data: bytes, kind: str = "PNG") -> dict[str, Any]:
    url = f"data:image/{kind.lower()};base64,{base64.b64encode(data).decode()}"
    return {"type": "image_url", "image_url": {"url": url, "detail": "low"}}


def opened(found: dict[str, Any]) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(found["image_url"]["url"].partition(",")[2])))


@pytest.fixture(autouse=True)
def _forgetful() -> None:
    image_scaling._scaled.cache_clear()


@pytest.mark.parametrize(
    "given",
    [
        part(640),
        {"type": "text", "text": "data:image/png;base64,x"},
        {"type": "image_url", "image_url": {"url": "https://example.org/x.png"}},
        {"type": "image_url", "image_url": None},
        of(b"no picture"),
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,%%%"}},
    ],
    ids=["narrow", "text", "link", "nothing", "not a picture", "not base64"],
)
def test_all_else_goes_as_it_is(given: dict[str, Any]) -> None:
    assert fitted(given) == given


REPORT = {"type": "text", "text": "exitcode: 0 (execution succeeded)\nCode output: "}


def test_pictures_that_code_made_are_fitted() -> None:
    plain = {"role": "user", "content": "hello"}

    said, shown = sent([plain, {"role": "user", "content": [REPORT, part(2000)]}], vision=None)

    assert said is plain
    assert shown["content"][0] == REPORT
    assert opened(shown["content"][1]).width == 768


def test_model_that_takes_no_pictures_is_told_of_them() -> None:
    (message,) = sent([{"role": "user", "content": [REPORT, part(100)]}], vision=False)

    assert message["content"] == [
        REPORT,
        {"type": "text", "text": "[a picture is left out here: this model takes none]"},
    ]
