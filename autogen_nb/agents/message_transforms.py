"""AutoGen 0.2's transforms: they shorten a conversation for a model, and leave the originals unchanged."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any, Protocol, TypeAlias

from autogen_nb.errors import ConfigError
from autogen_nb.models.token_counts import count_text, get_max_token_limit, tokenizer

Messages: TypeAlias = list[dict[str, Any]]


class MessageTransform(Protocol):
    """Changes the messages that a model gets."""

    def apply_transform(self, messages: Messages) -> Messages:
        """The messages to send; the argument stays unchanged."""

    def get_logs(self, pre_transform_messages: Messages, post_transform_messages: Messages) -> tuple[str, bool]:
        """A line about the change, and whether there was one."""


class MessageHistoryLimiter:
    """Keeps the last messages.

    Parameters
    ----------
    max_messages
        The number of messages to keep, at least 1; None for all.
    keep_first_message
        Keeps the first message as one of them.
    """

    def __init__(self, max_messages: int | None = None, keep_first_message: bool = False) -> None:
        if max_messages is not None and max_messages < 1:
            raise ConfigError(f"max_messages is {max_messages}; it must be at least 1, or None for all")
        self._max_messages = max_messages
        self._keep_first = keep_first_message

    def apply_transform(self, messages: Messages) -> Messages:
        """The last messages; a result of a tool never comes first, because its call would be missing."""
        if self._max_messages is None or len(messages) <= self._max_messages:
            return messages
        first = messages[:1] if self._keep_first else []
        last = messages[max(1, len(messages) - self._max_messages + len(first)) :]
        if last and last[0].get("role") == "tool" and len(last) + len(first) == self._max_messages:
            last = last[1:]
        return [*first, *last]

    def get_logs(self, pre_transform_messages: Messages, post_transform_messages: Messages) -> tuple[str, bool]:
        """The number of messages before and after."""
        before, after = len(pre_transform_messages), len(post_transform_messages)
        return _report("messages", before, after)


class MessageTokenLimiter:
    """Shortens each message, and then the conversation, from the newest message to the oldest.

    Parameters
    ----------
    max_tokens_per_message, max_tokens
        The limits, at most the model's context window; None for no limit.
    min_tokens
        Shorter conversations stay unchanged.
    model
        The model whose tokens are counted, by the package tiktoken.
    filter_dict, exclude_filter
        As in `filter_config`: which messages stay unchanged, or with ``exclude_filter=False`` which are shortened.
    """

    def __init__(
        self,
        max_tokens_per_message: int | None = None,
        max_tokens: int | None = None,
        min_tokens: int | None = None,
        model: str = "gpt-3.5-turbo-0613",
        filter_dict: Mapping[str, Any] | None = None,
        exclude_filter: bool = True,
    ) -> None:
        named = {"max_tokens_per_message": max_tokens_per_message, "max_tokens": max_tokens, "min_tokens": min_tokens}
        for name, value in named.items():
            if value is not None and value < 0:
                raise ConfigError(f"{name} is {value}; it must be at least 0, or None for no limit")
        if min_tokens is not None and max_tokens is not None and min_tokens > max_tokens:
            raise ConfigError(f"min_tokens is {min_tokens}, which is more than max_tokens, {max_tokens}")
        self._model, self._least = model, min_tokens or 0
        self._per_message, self._total = (
            _within_window(limit, model) for limit in (max_tokens_per_message, max_tokens)
        )
        self._filter = filter_dict, exclude_filter

    def apply_transform(self, messages: Messages) -> Messages:
        """The messages within the limits; the oldest are left out if the limit of the conversation is reached."""
        if self._least and count_text(messages) < self._least:
            return messages
        kept: Messages = []
        tokens = 0
        for message in map(deepcopy, reversed(messages)):
            content = message.get("content")
            if isinstance(content, str | list) and _selected(message, *self._filter):
                left = None if self._total is None else self._total - tokens
                full = left is not None and left < (self._per_message if self._per_message is not None else left + 1)
                message["content"] = _shortened(content, left if full else self._per_message, self._model)
                kept.append(message)
                if full:
                    break
            else:
                kept.append(message)
            tokens += count_text(message.get("content"))
        kept.reverse()
        return kept[1:] if kept and kept[0].get("role") == "tool" else kept

    def get_logs(self, pre_transform_messages: Messages, post_transform_messages: Messages) -> tuple[str, bool]:
        """The number of tokens before and after."""
        return _report("tokens", count_text(pre_transform_messages), count_text(post_transform_messages))


class TextMessageContentName:
    """Writes the name of the sender into each message.

    Parameters
    ----------
    position
        "start" or "end".
    format_string
        The text to add, with ``{name}``.
    deduplicate
        Leaves messages unchanged that have this text already.
    filter_dict, exclude_filter
        As for `MessageTokenLimiter`.
    """

    def __init__(
        self,
        position: str = "start",
        format_string: str = "{name}:\n",
        deduplicate: bool = True,
        filter_dict: Mapping[str, Any] | None = None,
        exclude_filter: bool = True,
    ) -> None:
        if position not in ("start", "end"):
            raise ConfigError(f"position is {position!r}; it must be 'start' or 'end'")
        if "{name}" not in format_string:
            raise ConfigError(f"format_string is {format_string!r}; it must contain '{{name}}'")
        self._at_start, self._format, self._deduplicate = position == "start", format_string, deduplicate
        self._filter = filter_dict, exclude_filter

    def apply_transform(self, messages: Messages) -> Messages:
        """The messages with names; those without text or name stay unchanged."""
        return [self._named(deepcopy(message)) for message in messages]

    def _named(self, message: dict[str, Any]) -> dict[str, Any]:
        content, name = message.get("content"), message.get("name")
        if not (isinstance(content, str) and content and name and _selected(message, *self._filter)):
            return message
        label = self._format.format(name=name)
        has_label = content.startswith(label) if self._at_start else content.endswith(label)
        if not (self._deduplicate and has_label):
            message["content"] = label + content if self._at_start else content + label
        return message

    def get_logs(self, pre_transform_messages: Messages, post_transform_messages: Messages) -> tuple[str, bool]:
        """The number of messages that got a name."""
        changed = sum(one != other for one, other in zip(pre_transform_messages, post_transform_messages, strict=True))
        return (f"Added a name to {changed} message(s).", True) if changed else ("No message got a name.", False)


def _selected(message: Mapping[str, Any], filter_dict: Mapping[str, Any] | None, exclude: bool) -> bool:
    def meets(key: str, values: Any) -> bool:
        accepted = values if isinstance(values, Iterable) and not isinstance(values, str) else [values]
        return message.get(key) in accepted

    return all(meets(key, values) != exclude for key, values in (filter_dict or {}).items())


def _within_window(limit: int | None, model: str) -> int | None:
    try:
        return limit if limit is None else min(limit, get_max_token_limit(model))
    except KeyError:
        return limit


def _shortened(content: Any, limit: int | None, model: str) -> Any:
    if limit is None:
        return content
    if isinstance(content, str):
        encoding = tokenizer(model)
        return encoding.decode(encoding.encode(content)[:limit])
    return [
        {**part, "text": _shortened(part["text"], limit, model)}
        if isinstance(part, Mapping) and "text" in part
        else part
        for part in content
    ]


def _report(what: str, before: int, after: int) -> tuple[str, bool]:
    if after < before:
        return f"Left out {before - after} {what}: {after} of {before} remain.", True
    return f"No {what} were left out.", False
