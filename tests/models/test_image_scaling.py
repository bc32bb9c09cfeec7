import base64
import io
from typing import Any

import pytest
from PIL import Image

from autogen_nb.core.ports import ModelRequest
from autogen_nb.models import image_scaling, request_size
from autogen_nb.models.image_scaling import fit_images, fitted


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

    said, shown = fit_images([plain, {"role": "user", "content": [REPORT, part(2000)]}], vision=None)

    assert said is plain
    assert shown["content"][0] == REPORT
    assert opened(shown["content"][1]).width == 768


def test_model_that_takes_no_pictures_is_told_of_them() -> None:
    (message,) = fit_images([{"role": "user", "content": [REPORT, part(100)]}], vision=False)

    assert message["content"] == [
        REPORT,
        {"type": "text", "text": "[a picture is left out here: this model accepts no images]"},
    ]


@pytest.mark.parametrize(
    ("content", "size"),
    [
        ("four", 4),
        ("", 0),
        (None, 0),
        ([], 0),
        ([{"type": "text", "text": "four"}, "five!"], 9),
        ([{"type": "image_url", "image_url": {"url": "data:," + "A" * 99}}], request_size.PART),
        ([7], request_size.PART),
    ],
    ids=repr,
)
def test_text_counts_by_its_characters_and_a_picture_by_its_kind(content: Any, size: int) -> None:
    assert request_size.of_content(content) == size


def test_calls_tools_and_functions_count_as_they_are_written() -> None:
    called: dict[str, Any] = {
        "role": "assistant",
        "content": None,
        "name": "me",
        "tool_calls": [{"id": "c1"}],
        "function_call": {},
    }
    request = ModelRequest((called,), tools=({"type": "function"},), functions=({"name": "f"},))

    told = '[{"id": "c1"}]' + "me" + '{"type": "function"}' + '{"name": "f"}'
    assert request_size.of_request(request) == request_size.of_message({"content": ""}) + len(told)
