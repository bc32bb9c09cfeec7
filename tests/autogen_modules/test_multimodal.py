import base64
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from autogen_nb import ConversableAgent
from autogen_nb.agents.multimodal_agent import (
    MultimodalConversableAgent,
    get_image_data,
    get_pil_image,
    gpt4v_formatter,
    pil_to_data_uri,
)
from autogen_nb.testing import ScriptedModel

Image = pytest.importorskip("PIL.Image")
WEB = "https://example.com/a.png"


def png(color: str) -> bytes:
    Image.new("RGB", (2, 2), color).save(buffer := BytesIO(), "PNG")
    return buffer.getvalue()


@pytest.fixture
def picture(tmp_path: Path) -> str:
    file = tmp_path / "red one.png"
    file.write_bytes(png("red"))
    return str(file)


def uri(data: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(data).decode()


def test_the_model_sees_the_pictures_of_all_messages(picture: str) -> None:
    model = ScriptedModel(["red", "both red"])
    agent = MultimodalConversableAgent("eyes", llm_config=model, human_input_mode="NEVER")
    user = ConversableAgent("user", human_input_mode="NEVER", default_auto_reply=f"And <img {WEB}>?")

    user.initiate_chat(agent, message=f"Colour of <img {picture}>?", max_turns=2, silent=True)

    contents = [message["content"] for message in model.requests[1].messages[1:]]
    assert contents == [parts("Colour of ", uri(png("red"))), "red", parts("And ", WEB)]


def parts(text: str, url: str) -> list[dict[str, Any]]:
    image = {"type": "image_url", "image_url": {"url": url}}
    return [{"type": "text", "text": text}, image, {"type": "text", "text": "?"}]


@pytest.mark.parametrize("tag", ["<img {}>", '<img src="{}">', "<img alt='x' src='{}' width='3'>", '<img "{}">'])
def test_tags_have_addresses_in_each_form(tag: str, picture: str) -> None:
    assert gpt4v_formatter(f"a {tag.format(picture)}?") == parts("a ", uri(png("red")))
    assert gpt4v_formatter(f"a {tag.format(picture)}?", "url") == parts("a ", picture)


def test_only_pictures_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "key.png").write_text("secret")
    text = f"<img {tmp_path / 'key.png'}> <img {tmp_path / 'none.png'}>"

    assert gpt4v_formatter(text) == [{"type": "text", "text": text}]
    assert capsys.readouterr().out.count("A picture is left out: ") == 2


def test_a_picture_has_the_same_data_in_each_form_and_none_is_downloaded(picture: str) -> None:
    data = png("red")
    forms = [picture, uri(data), base64.b64encode(data).decode(), Image.open(picture)]

    assert {get_image_data(form, use_b64=False) for form in forms} == {data}
    assert pil_to_data_uri(get_pil_image(picture)) == uri(data)
    with pytest.raises(ValueError, match="is not downloaded; save the picture in a file"):
        get_image_data(WEB)
