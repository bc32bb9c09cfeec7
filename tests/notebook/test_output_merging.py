from autogen_nb.notebook.rendering.output_merging import Content, merged

LINE: Content = ({"text/html": "<p>line</p>", "text/plain": "line"}, {})
TEXT: Content = ({"text/plain": "\x1b[31mred\x1b[0m <b>"}, {})
IMAGE: Content = ({"image/png": "AAAA", "text/plain": "<Figure>"}, {})
JSON: Content = ({"application/json": {}, "text/plain": "{}"}, {})


def test_images_are_joined_where_there_is_no_room() -> None:
    [(data, _)] = merged([LINE, IMAGE] * 4, few=5)

    assert data["text/html"].count('src="data:image/png;base64,AAAA"') == 4
