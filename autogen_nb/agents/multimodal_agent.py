"""`MultimodalConversableAgent`, and AutoGen 0.2's functions for pictures in messages.

A message may name any file, but only pictures are sent. The model's server loads pictures from the web.
"""

import base64
import re
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.agents.parts.reply_functions import ALL
from autogen_nb.core.text.code_blocks import content_str
from autogen_nb.core.text.outputs import MAGIC
from autogen_nb.errors import ConfigError
from autogen_nb.run.surfaces import IOStream

# A model may write the text, so matching must take linear time.
_TAG = re.compile(r"<img\s([^<>]+)>")
_SOURCE = re.compile(r"""(?:^|\s)src=(?:"([^"]*)"|'([^']*)'|(\S+))""")
_WEB = ("http://", "https://")


class MultimodalConversableAgent(ConversableAgent):
    """An agent whose model sees the pictures in ``<img address>`` tags; an address is a file name or a URL."""

    def __init__(
        self, name: str, system_message: Any = "You help people, and can look at pictures.", *args: Any, **kwargs: Any
    ) -> None:
        super().__init__(name, content_str(system_message), *args, **kwargs)
        self.register_hook(ALL, lambda messages: [{**each, **_parts(each.get("content"))} for each in messages])


def _parts(content: Any) -> dict[str, Any]:
    return {"content": gpt4v_formatter(content)} if isinstance(content, str) and _TAG.search(content) else {}


def _address(attributes: str) -> str:
    if source := _SOURCE.search(attributes):
        return next(filter(None, source.groups()), "")
    quote = attributes[:1]
    return attributes.split(quote)[1] if quote in ("'", '"') else attributes


def gpt4v_formatter(prompt: str, img_format: str = "uri") -> list[dict[str, Any]]:
    """The parts of a text with ``<img address>`` tags; the tag of an unreadable picture remains text.

    `img_format` is "uri" (``data:`` URLs, except for web addresses), "url" (addresses), or "pil" (Pillow's images).
    """
    parts: list[dict[str, Any]] = []
    start = 0
    for tag in _TAG.finditer(prompt):
        image: Any = _address(tag[1].strip())
        try:
            if img_format == "pil":
                image = get_pil_image(image)
            elif img_format == "uri" and not image.startswith(_WEB):
                image = convert_base64_to_data_uri(get_image_data(image))
        except (OSError, ConfigError) as error:
            IOStream.get_default().print(f"A picture is left out: {error!s:.300}")
            continue
        parts.append({"type": "text", "text": prompt[start : tag.start()]})
        parts.append({"type": "image_url", "image_url": {"url": image}})
        start = tag.end()
    return [*parts, {"type": "text", "text": prompt[start:]}]


def get_image_data(image_file: Any, use_b64: bool = True) -> Any:
    """The bytes of a picture, as base64 text if `use_b64`.

    `image_file` is a file name, a ``data:`` URL, base64 text, or an image of Pillow.
    """
    data = b""
    if hasattr(image_file, "save"):
        image_file.save(buffer := BytesIO(), format="PNG")
        data = buffer.getvalue()
    elif image_file.startswith(_WEB):
        raise ConfigError(f"{image_file!r} is not downloaded; save the picture in a file")
    else:
        with suppress(ValueError):
            data = base64.b64decode(image_file.rpartition(";base64,")[2], validate=True)
        if _mime(data) is None and Path(image_file).is_file():
            data = Path(image_file).read_bytes()
    if _mime(data) is None:
        raise ConfigError(f"{repr(image_file)[:100]} is no picture in PNG, JPEG, GIF or WebP")
    return base64.b64encode(data).decode() if use_b64 else data


def get_pil_image(image_file: Any) -> Any:
    from PIL import Image

    return Image.open(BytesIO(get_image_data(image_file, use_b64=False))).convert("RGB")


def pil_to_data_uri(image: Any) -> str:
    return convert_base64_to_data_uri(get_image_data(image))


def convert_base64_to_data_uri(base64_image: str) -> str:
    """The ``data:`` URL of base64 text; a picture of unknown type counts as JPEG."""
    return f"data:{_mime(base64.b64decode(base64_image)) or 'image/jpeg'};base64,{base64_image}"


def _mime(data: bytes) -> str | None:
    return next((mime for mime, magic in MAGIC.items() if magic.match(data)), None)
