"""AutoGen 0.2's transforms, which change a conversation for a model, and leave the history unchanged."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from math import inf
from typing import Any, ClassVar, Protocol, TypeAlias

from autogen_nb.agents.parts.reply_functions import ALL, MessageHooks
from autogen_nb.errors import ConfigError
from autogen_nb.models.config.config_list import filter_config
from autogen_nb.models.requests import count_text, get_max_token_limit, tokenizer
from autogen_nb.run.surfaces import IOStream

Messages: TypeAlias = list[dict[str, Any]]


class MessageTransform(Protocol):
    def apply_transform(self, messages: Messages) -> Messages:
        """Returns the messages to send, and leaves the argument unchanged."""

    def get_logs(self, pre_transform_messages: Messages, post_transform_messages: Messages) -> tuple[str, bool]:
        """Returns a line about the change, and whether the messages have changed."""


class _Limiter:
    unit: ClassVar[str]
    count: ClassVar[Callable[[Messages], int]]

    def get_logs(self, pre_transform_messages: Messages, post_transform_messages: Messages) -> tuple[str, bool]:
        before, after = (type(self).count(each) for each in (pre_transform_messages, post_transform_messages))
        if after < before:
            return f"Left out {before - after} {self.unit}: {after} of {before} remain.", True
        return f"No {self.unit} were left out.", False


class MessageHistoryLimiter(_Limiter):
    """Keeps the last `max_messages` messages; with `keep_first_message`, the first and the last `max_messages` - 1."""

    unit, count = "messages", len

    def __init__(self, max_messages: int | None = None, keep_first_message: bool = False) -> None:
        if max_messages is not None and max_messages < 1:
            raise ConfigError(f"max_messages is {max_messages}; it must be at least 1, or None for all")
        self._max_messages, self._keep_first = max_messages, keep_first_message

    def apply_transform(self, messages: Messages) -> Messages:
        """Returns the last messages; drops a tool result at the start, because the call before it is left out."""
        if self._max_messages is None or len(messages) <= self._max_messages:
            return messages
        first = messages[:1] if self._keep_first else []
        last = messages[max(1, len(messages) - self._max_messages + len(first)) :]
        if last and last[0].get("role") == "tool" and len(last) + len(first) == self._max_messages:
            last = last[1:]
        return [*first, *last]


class MessageTokenLimiter(_Limiter):
    """Shortens long messages, and keeps the newest messages of a long conversation.

    Limits above the model's context window are lowered to it. Messages that match `filter_dict` are not shortened; with
    ``exclude_filter=False``, only messages that match `filter_dict` are shortened.
    """

    unit, count = "tokens", count_text

    def __init__(
        self,
        max_tokens_per_message: int | None = None,
        max_tokens: int | None = None,
        min_tokens: int | None = None,
        model: str = "gpt-3.5-turbo-0613",
        filter_dict: Mapping[str, Any] | None = None,
        exclude_filter: bool = True,
    ) -> None:
        limits = {"max_tokens_per_message": max_tokens_per_message, "max_tokens": max_tokens, "min_tokens": min_tokens}
        for name, value in limits.items():
            if value is not None and value < 0:
                raise ConfigError(f"{name} is {value}; it must be at least 0, or None for no limit")
        if min_tokens is not None and max_tokens is not None and min_tokens > max_tokens:
            raise ConfigError(f"min_tokens is {min_tokens}, which is more than max_tokens, {max_tokens}")
        self._model, self._least = model, min_tokens or 0
        self._per_message, self._total = _limit(max_tokens_per_message, model), _limit(max_tokens, model)
        self._filter = filter_dict, exclude_filter

    def apply_transform(self, messages: Messages) -> Messages:
        if self._least and count_text(messages) < self._least:
            return messages
        result: Messages = []
        left = self._total
        for message in map(deepcopy, reversed(messages)):
            result.insert(0, message)
            content = message.get("content")
            if isinstance(content, str | list) and filter_config([message], *self._filter):
                message["content"] = _shorten(content, min(left, self._per_message), self._model)
                if left < self._per_message:
                    break
            left -= count_text(message.get("content"))
        return result[1:] if result and result[0].get("role") == "tool" else result


class TextMessageContentName:
    """Adds the sender's name at the "start" or "end" of each message; with `deduplicate`, never twice."""

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
        return [self._with_name(deepcopy(message)) for message in messages]

    def _with_name(self, message: dict[str, Any]) -> dict[str, Any]:
        content, name = message.get("content"), message.get("name")
        if isinstance(content, str) and content and name and filter_config([message], *self._filter):
            label = self._format.format(name=name)
            has_label = content.startswith(label) if self._at_start else content.endswith(label)
            if not (self._deduplicate and has_label):
                message["content"] = label + content if self._at_start else content + label
        return message

    def get_logs(self, pre_transform_messages: Messages, post_transform_messages: Messages) -> tuple[str, bool]:
        changed = sum(one != other for one, other in zip(pre_transform_messages, post_transform_messages, strict=True))
        return (f"Added a name to {changed} message(s).", True) if changed else ("No message got a name.", False)


class TransformMessages:
    """Applies transforms, in order, to the messages before each reply of an agent; `verbose` prints the changes."""

    def __init__(self, *, transforms: Sequence[MessageTransform] = (), verbose: bool = True) -> None:
        self._transforms, self._verbose = transforms, verbose

    def add_to_agent(self, agent: MessageHooks) -> None:
        agent.register_hook(ALL, self._transform)

    def _transform(self, messages: Messages) -> Messages:
        system = messages[:1] if messages[0].get("role") == "system" else []
        changed = deepcopy(messages[len(system) :])
        for transform in self._transforms:
            before = deepcopy(changed)
            changed = transform.apply_transform(changed)
            line, has_effect = transform.get_logs(before, changed)
            if self._verbose and has_effect:
                IOStream.get_default().print(line)
        return [*system, *changed]


def _limit(tokens: int | None, model: str) -> float:
    if tokens is None:
        return inf
    with suppress(KeyError):
        return min(tokens, get_max_token_limit(model))
    return tokens


def _shorten(content: Any, limit: float, model: str) -> Any:
    if limit == inf:
        return content
    if isinstance(content, str):
        encoding = tokenizer(model)
        return encoding.decode(encoding.encode(content)[: int(limit)])
    return [part | {"text": _shorten(part["text"], limit, model)} if "text" in part else part for part in content]
