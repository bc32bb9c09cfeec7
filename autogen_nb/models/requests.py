"""What a request holds: its size in characters and in tokens, its images, and its cost.

1. In a size, a part that is not text, such as an image, counts as `PART` characters, whatever the length of its data.
2. Images in the output of code are scaled to the width that models use; logs keep the original images.
3. Prices, and the sizes of context windows, are from the list in `genai-prices`, without network access. The cost of a
   model that is not on the list is unknown, never 0, and so is the cost at a server that is not a provider's. A price
   from the user takes precedence.
4. The list has the prices of the standard service tier. Tokens that the server read from its prompt cache, or wrote to
   it, have prices of their own.
5. `count_token` and the functions below it are AutoGen 0.2's, with the package tiktoken.
"""

import io
import json
import re
import warnings
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from autogen_nb.core.ports import ModelRequest
from autogen_nb.errors import ConfigError
from autogen_nb.messages import Usage
from autogen_nb.models.config.providers import OPENAI, is_openai, provider_at

if TYPE_CHECKING:
    from genai_prices.types import PriceCalculation


PART = 4000
"""Characters of a part that is not text: about 1,000 tokens, the cost of a medium-sized image."""

_FRAME = 16
"""Characters for the tokens that the server adds to each message."""


def size_of_request(request: ModelRequest) -> int:
    definitions = (*request.tools, *request.functions)
    return sum(map(size_of_message, request.messages)) + sum(map(_json_size, definitions))


def texts_of(request: ModelRequest) -> Iterator[str]:
    """The texts of the messages, without images."""
    for message in request.messages:
        content = message.get("content")
        for part in content if isinstance(content, list) else (content,):
            text = part.get("text") if isinstance(part, Mapping) else part
            if isinstance(text, str):
                yield text


def size_of_message(message: Mapping[str, Any]) -> int:
    calls = sum(_json_size(message[key]) for key in ("tool_calls", "function_call") if message.get(key))
    return _FRAME + len(str(message.get("name") or "")) + size_of_content(message.get("content")) + calls


def size_of_content(content: Any) -> int:
    if isinstance(content, list):
        return sum(map(_part, content))
    return len(content) if isinstance(content, str) else 0


def _part(part: Any) -> int:
    if isinstance(part, str):
        return len(part)
    text = part.get("text") if isinstance(part, Mapping) else None
    return len(text) if isinstance(text, str) else PART


def _json_size(value: Any) -> int:
    return len(json.dumps(value, default=str))


WIDEST = 768
"""Maximum width in pixels."""
LARGEST = 2_000_000
"""Maximum characters of an image as a data URL, about 1.5 MB of data."""

_NO_VISION = {"type": "text", "text": "[a picture is left out here: this model accepts no images]"}
_TOO_LARGE = {"type": "text", "text": "[a picture is left out here: it is too large to be sent]"}


def fit_images(messages: Iterable[Mapping[str, Any]], *, vision: bool | None) -> Iterator[Mapping[str, Any]]:
    """The messages with scaled images from code, or without any images if `vision` is False."""
    for message in messages:
        match message.get("content"):
            case [*parts] if vision is False:
                yield {**message, "content": [dict(_NO_VISION) if _is_image(part) else part for part in parts]}
            # The output of code; the caller's own images stay unscaled.
            case [{"text": str(text)}, *_] as parts if text.startswith("exitcode: "):
                yield {**message, "content": [fitted(part) if _is_image(part) else part for part in parts]}
            case _:
                yield message


def fitted(part: Mapping[str, Any]) -> dict[str, Any]:
    """The part, with its image scaled to at most 768 pixels in width, or a text instead of an image above 1.5 MB.

    Without pillow, and for an unreadable image, the image keeps its size.
    """
    match part:
        case {"type": "image_url", "image_url": {"url": str(url)}} if url.startswith("data:image/"):
            scaled = _scaled(url)
            return {**part, "image_url": {**part["image_url"], "url": scaled}} if scaled else dict(_TOO_LARGE)
    return dict(part)


@lru_cache(maxsize=64)  # each request contains the whole conversation
def _scaled(url: str) -> str:
    head, _, data = url.partition(",")
    # Pillow may raise anything for an invalid image. Its warning about a decompression bomb becomes an error.
    with suppress(Exception), warnings.catch_warnings(action="error"):
        from PIL import Image

        with Image.open(io.BytesIO(b64decode(data, validate=True)), formats=("PNG", "JPEG")) as picture:
            if picture.width > WIDEST:
                into = io.BytesIO()
                picture.thumbnail((WIDEST, 8 * WIDEST))
                picture.save(into, format=picture.format, optimize=True)
                url = f"{head},{b64encode(into.getvalue()).decode()}"
    return url if len(url) <= LARGEST else ""


def _is_image(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") == "image_url"


_PER_MESSAGE = 3  # tokens between two messages, and before the reply

_LIMITS = {
    r"gpt-?3\.?5-turbo-(0301|0613|instruct)": 4096,
    r"gpt-?3\.?5-turbo(-16k|-16k-0613|-0125|-1106)?": 16385,
    r"gpt-?4-32k(-0314|-0613)?": 32768,
    r"gpt-?4(-0314|-0613)?": 8192,
    r"gpt-?4(o|-turbo|-.*preview).*": 128000,
}
"""The context windows, in tokens, of the OpenAI models that AutoGen 0.2 knows."""

_DEFAULT = "gpt-3.5-turbo-0613"


def tokenizer(model: str = _DEFAULT) -> Any:
    """The tokenizer of an OpenAI model, or gpt-4's tokenizer for other models; tiktoken downloads it at first use."""
    try:
        tiktoken: Any = import_module("tiktoken")
    except ModuleNotFoundError:
        raise ConfigError("counting tokens needs the package tiktoken: run pip install tiktoken") from None
    try:
        return tiktoken.encoding_for_model(model)
    except KeyError:
        return tiktoken.get_encoding("cl100k_base")


def count_text(content: Any) -> int:
    match content:
        case str():
            return len(tokenizer().encode(content))
        case {"text": text} | {"content": text}:
            return count_text(text)
        case [*parts]:
            return sum(map(count_text, parts))
    return 0


def count_token(input: Any, model: str = _DEFAULT) -> int:  # noqa: A002 - AutoGen's name
    """The tokens of a text, of a message, or of a list of messages, with the tokens that separate messages."""
    encoding = tokenizer(model)
    if isinstance(input, str):
        return len(encoding.encode(input))
    messages = [input] if isinstance(input, Mapping) else input
    values = [value for message in messages for value in message.values() if value is not None]
    texts = (value if isinstance(value, str) else json.dumps(value) for value in values)
    between = _PER_MESSAGE * (len(messages) + 1) + sum("name" in message for message in messages)
    return between + sum(len(encoding.encode(text)) for text in texts)


def get_max_token_limit(model: str = _DEFAULT) -> int:
    """The context window of an OpenAI model; raises KeyError for other models."""
    limit = next((limit for pattern, limit in _LIMITS.items() if re.fullmatch(pattern, model)), None)
    if limit is None:
        raise KeyError(model)
    return limit


def token_left(input: Any, model: str = _DEFAULT) -> int:  # noqa: A002 - AutoGen's name
    return get_max_token_limit(model) - count_token(input, model)


def percentile_used(input: Any, model: str = _DEFAULT) -> float:  # noqa: A002 - AutoGen's name
    return count_token(input, model) / get_max_token_limit(model)


Price: TypeAlias = tuple[float, float]
"""US dollars per 1,000 prompt tokens and per 1,000 completion tokens."""


def price_list_at(url: str | None) -> str:
    """The list's name for the provider at an address; "" if the list cannot have the prices of the server."""
    provider = OPENAI if is_openai(url) else provider_at(url)
    return (provider.price_list or provider.name) if provider else ""


def price_at(model: str, url: str | None = None) -> Price | None:
    """The price of a short request; None for a model that is not on the list.

    A dated snapshot has the price of its model, unless the list has a price for the snapshot.
    """
    # Some models cost more per token in long requests; 1,000 tokens are short for all of them.
    return _listed(model, Usage(1000, 1000), url)


def cost_of(model: str, usage: Usage, price: Price | None = None, *, url: str | None = None) -> float | None:
    """The cost of a reply in US dollars; None if it is unknown."""
    if price is not None:
        return cost_at(usage, price)
    costs = _listed(model, usage, url)
    return None if costs is None else sum(costs)


def cost_at(usage: Usage, price: Price) -> float:
    return (usage.prompt_tokens * price[0] + usage.completion_tokens * price[1]) / 1000


@cache
def window_of(model: str, url: str | None = None) -> int | None:
    """The size of a model's context window in tokens, from the same list; None if it is unknown."""
    calculation = _calculated(model, Usage(1, 1), url)
    return None if calculation is None else calculation.model.context_window


def _listed(model: str, usage: Usage, url: str | None) -> tuple[float, float] | None:
    calculation = _calculated(model, usage, url)
    return None if calculation is None else (float(calculation.input_price), float(calculation.output_price))


def _calculated(model: str, usage: Usage, url: str | None) -> "PriceCalculation | None":
    if not price_list_at(url):
        return None
    import genai_prices

    caches = {"cache_read_tokens": usage.cached_tokens, "cache_write_tokens": usage.cache_write_tokens}
    tokens = genai_prices.Usage(
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.completion_tokens,
        **{name: count for name, count in caches.items() if count},
    )
    try:
        return genai_prices.calc_price(tokens, model.strip(), provider_id=price_list_at(url))
    except (LookupError, ValueError):
        return None
