"""Hooks: the user's functions that change messages, as in AutoGen 0.2."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any, TypeAlias

from autogen_nb.agents.parts.agent import Agent, naming_errors
from autogen_nb.core.chats.human_input import EXIT
from autogen_nb.errors import CallbackError, ConfigError
from autogen_nb.events import Kept
from autogen_nb.messages import Message

Hook: TypeAlias = Callable[..., Any]
LAST = "process_last_received_message"
ALL = "process_all_messages_before_reply"
SENT = "process_message_before_send"


class MessageHooks(Agent):
    def __init__(self) -> None:
        self.hook_lists: dict[str, list[Hook]] = {LAST: [], ALL: [], SENT: []}

    def register_hook(self, hookable_method: str, hook: Hook) -> None:
        """Registers a function that changes messages.

        Parameters
        ----------
        hookable_method
            "process_last_received_message" (content -> content), "process_all_messages_before_reply" (messages ->
            messages), or "process_message_before_send" (sender, message, recipient, silent -> message).

        Raises
        ------
        ConfigError
            For an unknown method, or a hook that is not callable or already registered.
        """
        if hookable_method not in self.hook_lists:
            raise ConfigError(f"{hookable_method!r} takes no hook; hookable methods are {', '.join(self.hook_lists)}")
        if not callable(hook):
            raise ConfigError(f"register_hook takes a function, not {hook!r}")
        if hook in self.hook_lists[hookable_method]:
            raise ConfigError(f"{_name(hook)} is registered for {hookable_method} of {self.name} already")
        self.hook_lists[hookable_method].append(hook)

    def hooked_before_reply(self, messages: Sequence[Mapping[str, Any]]) -> tuple[Kept | Message, ...]:
        """The messages for a reply as the hooks return them; the history does not change."""
        if not self.hook_lists[ALL]:
            # Copying all messages for each reply would make a chat's cost quadratic, so `Kept` stands for them.
            unchanged = (Kept(0, len(messages) - 1),) if len(messages) > 1 else ()
            last = self.process_last_received_message(messages[-1:])[0]
            return (Kept(0, len(messages)),) if last == messages[-1] else (*unchanged, Message.of(last))
        changed = self.process_last_received_message(self.process_all_messages_before_reply(messages))
        return without_repeats(changed, messages)

    def process_all_messages_before_reply(self, messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """A copy of the messages, changed by the hooks for all messages."""
        changed: list[Mapping[str, Any]] = deepcopy(list(messages)) if self.hook_lists[ALL] else list(messages)
        for hook in self.hook_lists[ALL]:
            changed = self._call_hook(ALL, hook, changed)
            if not isinstance(changed, list) or not changed:
                raise CallbackError(
                    f"the hook {_name(hook)} of {self.name} returned {changed!r}; it must return a list of messages"
                )
        return changed

    def hooked_before_send(self, message: Any, recipient: Agent, silent: bool) -> Any:
        for hook in self.hook_lists[SENT]:
            message = self._call_hook(SENT, hook, sender=self, message=message, recipient=recipient, silent=silent)
        return message

    def process_last_received_message(self, messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """The messages, after the hooks for the last message have changed that message's content."""
        *earlier, message = messages
        content = message.get("content")
        # AutoGen 0.2 does not pass these messages to hooks.
        if not content or content == EXIT or "function_call" in message or "context" in message:
            return list(messages)
        for hook in self.hook_lists[LAST]:
            content = self._call_hook(LAST, hook, content)
        return [*earlier, {**message, "content": content}]

    def _call_hook(self, method: str, hook: Hook, *args: Any, **kwargs: Any) -> Any:
        with naming_errors(f"the hook {_name(hook)} for {method} of {self.name}"):
            return hook(*args, **kwargs)


def without_repeats(
    changed: Sequence[Mapping[str, Any]], originals: Sequence[Mapping[str, Any]]
) -> tuple[Kept | Message, ...]:
    """Replaces unchanged messages by ranges of the originals.

    A message is unchanged if it equals the original at the same position, counted from the start or from the end.
    """
    missing = len(originals) - len(changed)
    parts: list[Kept | Message] = []
    for index, message in enumerate(changed):
        match = next(
            (at for at in (index, index + missing) if 0 <= at < len(originals) and originals[at] == message), None
        )
        last = parts[-1] if parts else None
        if match is None:
            parts.append(Message.of(message))
        elif isinstance(last, Kept) and last.stop == match:
            parts[-1] = Kept(last.start, match + 1)
        else:
            parts.append(Kept(match, match + 1))
    return tuple(parts)


def _name(hook: Hook) -> str:
    return repr(getattr(hook, "__name__", type(hook).__name__))
