import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.notebook.rendering import mime
from autogen_nb.notebook.rendering.mime import safe
from autogen_nb.notebook.view.slots import Content, Slots, merged
from tests.notebook.markup import problems, text_of


def _page(published: list[dict[str, Any]]) -> list[str]:
    places: dict[str, str] = {}
    for output in published:
        places[output["transient"]["display_id"]] = output["data"]["text/plain"]
    return list(places.values())


def _shown(slots: Slots, *texts: str) -> None:
    for text in texts:
        slots.next().show({"text/plain": text}, {})


def test_cleared_place_takes_no_room(published: list[dict[str, Any]]) -> None:
    slots = Slots()
    _shown(slots, *(str(number) for number in range(35)))
    last = slots.next()
    last.show({"text/plain": "gone"}, {})
    last.clear()
    slots.tidy()

    assert "gone" not in "".join(_page(published))


LINE: Content = ({"text/html": "<p>line</p>", "text/plain": "line"}, {})
IMAGE: Content = ({"image/png": "AAAA", "text/plain": "<Figure>"}, {})


def test_images_are_joined_where_there_is_no_room() -> None:
    [(data, _)] = merged([LINE, IMAGE] * 4, few=5)

    assert data["text/html"].count('src="data:image/png;base64,AAAA"') == 4


MIMES = ["text/plain", "text/html", "text/markdown", "text/latex", "image/png", "image/svg+xml", "application/json"]
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(st.characters()) | st.binary() | st.integers(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(MIMES) | st.text(), json_values), json_values)
def test_no_bundle_raises_and_every_bundle_can_be_sent(data: dict[str, Any], metadata: object) -> None:
    kept, about = safe(data, metadata)

    assert json.dumps([kept, about], allow_nan=False, ensure_ascii=False).encode()
    assert isinstance(kept["text/plain"], str)
    assert problems(kept.get("text/html", "")) == []


def test_json_passes() -> None:
    data, _ = safe({"application/json": {"a": [1, "\ud800"]}, "text/plain": "{}"})

    assert data["application/json"] == {"a": [1, "\ufffd"]}


def test_huge_html_gives_way_to_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mime, "HTML_LIMIT", 3)

    data, _ = safe({"text/html": "<p>long</p>", "text/plain": "long"})

    assert text_of(data["text/html"]) == "HTML of 11 characters is not shown: the limit is 3.long"
    assert data["text/plain"] == "long\nHTML of 11 characters is not shown: the limit is 3."


def test_many_places_are_merged_and_used_again(published: list[dict[str, Any]]) -> None:
    slots = Slots()
    numbers = [str(number) for number in range(40)]
    _shown(slots, *numbers)
    assert slots.tidy() is True
    _shown(slots, "next")

    page = _page(published)
    assert page == ["\n".join(numbers), "next", *[""] * 38]


def test_tex_passes_when_harmless() -> None:
    assert safe({"text/latex": "$x^2$", "text/plain": "x**2"})[0] == {"text/latex": "$x^2$", "text/plain": "x**2"}
