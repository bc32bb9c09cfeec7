"""AutoGen 0.2's functions that count tokens, with the package tiktoken."""

import json
import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from autogen_nb.errors import ConfigError

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
