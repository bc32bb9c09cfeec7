"""Token counts under AutoGen 0.2's names: estimates, because a tokenizer would have to be downloaded."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from autogen_nb.core.text.message_transforms import count_tokens
from autogen_nb.errors import ConfigError

_PER_MESSAGE = 3
"""Tokens between two messages, and before the reply."""

_LIMITS = {
    r"gpt-3\.5-turbo-(0301|0613|instruct)": 4096,
    r"gpt-3\.5-turbo(-16k|-16k-0613|-0125|-1106)?": 16385,
    r"gpt-4-32k(-0314|-0613)?": 32768,
    r"gpt-4(-0314|-0613)?": 8192,
    r"gpt-4(o|-turbo|-.*preview).*": 128000,
}
"""The context windows of OpenAI's models of AutoGen 0.2's time."""

_DEFAULT = "gpt-3.5-turbo-0613"


def count_token(input: str | Sequence[Any] | Mapping[str, Any], model: str = _DEFAULT) -> int:  # noqa: A002 - AutoGen's name
    """The approximate tokens of a text, a message or a list of messages; the same estimate serves all models."""
    del model
    match input:
        case str():
            return count_tokens(input)
        case Mapping():
            return _PER_MESSAGE + _of_message(input)
        case [*messages]:
            return _PER_MESSAGE + sum(map(_of_message, messages))
    raise ConfigError(f"count_token takes a text, a message or a list of messages, not {input!r}")


def _of_message(message: Mapping[str, Any]) -> int:
    return _PER_MESSAGE + sum(count_tokens(str(value)) for value in message.values() if value is not None)


def get_max_token_limit(model: str = _DEFAULT) -> int:
    """The context window of an OpenAI model; KeyError for other models."""
    name = re.sub(r"^gpt-?35", "gpt-3.5", re.sub(r"^gpt4", "gpt-4", model))
    for pattern, limit in _LIMITS.items():
        if re.fullmatch(pattern, name):
            return limit
    raise KeyError(model)


def token_left(input: str | Sequence[Any] | Mapping[str, Any], model: str = _DEFAULT) -> int:  # noqa: A002 - AutoGen's name
    """The approximate tokens that are left for the reply."""
    return get_max_token_limit(model) - count_token(input, model)


def percentile_used(input: str | Sequence[Any] | Mapping[str, Any], model: str = _DEFAULT) -> float:  # noqa: A002 - AutoGen's name
    """The fraction of the context window that the input takes."""
    return count_token(input, model) / get_max_token_limit(model)
