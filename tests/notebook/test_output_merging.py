"""Many outputs in few."""

from autogen_nb.notebook.rendering.output_merging import Content, merged
from tests.notebook.markup import problems, text_of

LINE: Content = ({"text/html": "<p>line</p>", "text/plain": "line"}, {})
TEXT: Content = ({"text/plain": "\x1b[31mred\x1b[0m <b>"}, {})
IMAGE: Content = ({"image/png": "AAAA", "text/plain": "<Figure>"}, {})
JSON: Content = ({"application/json": {}, "text/plain": "{}"}, {})


def test_neighbours_of_text_become_one_output() -> None:
    [(data, metadata)] = merged([LINE, TEXT], few=10)

    assert text_of(data["text/html"]) == "linered <b>"
    assert problems(data["text/html"]) == []
    assert data["text/plain"] == "line\n\x1b[31mred\x1b[0m <b>"
    assert metadata == {"autogen_nb": {"kind": "earlier"}}


def test_image_stays_an_output_of_its_own() -> None:
    assert merged([LINE, LINE, IMAGE, LINE], few=10)[1:] == [IMAGE, LINE]


def test_images_are_joined_where_there_is_no_room() -> None:
    [(data, _)] = merged([LINE, IMAGE] * 4, few=5)

    assert data["text/html"].count('src="data:image/png;base64,AAAA"') == 4


def test_other_types_are_never_joined() -> None:
    assert merged([LINE, JSON, LINE], few=1) == [LINE, JSON, LINE]


def test_large_output_stays_by_itself() -> None:
    large: Content = ({"text/plain": "x" * 400_000}, {})

    assert merged([LINE, large, LINE], few=1) == [LINE, large, LINE]
