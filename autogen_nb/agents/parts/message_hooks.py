"""Functions of the caller's own that change messages on their way, where AutoGen 0.2 lets them be hooked in."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, Literal, TypeAlias, get_args

from autogen_nb.agents.parts.agent import Agent
from autogen_nb.agents.parts.callbacks import naming_errors
from autogen_nb.core.chats.human_input import EXIT
from autogen_nb.errors import CallbackError, ConfigError
from autogen_nb.events import Kept
from autogen_nb.messages import Message

Hookable: TypeAlias = Literal[
    "process_last_received_message", "process_all_messages_before_reply", "process_message_before_send"
]
Hook: TypeAlias = Callable[..., Any]


class MessageHooks:
    """The hooks of an agent, by the method that they change."""

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self.lists: dict[str, list[Hook]] = {name: [] for name in get_args(Hookable)}

    @property
    def before_reply(self) -> bool:
        """Whether any changes what a reply is given to."""
        return bool(self.lists["process_last_received_message"] or self.lists["process_all_messages_before_reply"])

    @property
    def before_send(self) -> bool:
        """Whether any changes what is sent."""
        return bool(self.lists["process_message_before_send"])

    def register(self, method: str, hook: Hook) -> None:
        """Adds a hook.

        Raises
        ------
        ConfigError
            For a method that cannot be hooked, or a hook that cannot be called.
        """
        if method not in self.lists:
            raise ConfigError(f"{method!r} takes no hook; those that do are {', '.join(self.lists)}")
        if not callable(hook):
            raise ConfigError(f"register_hook takes a function, not {hook!r}")
        if hook in self.lists[method]:
            raise ConfigError(f"{_name(hook)} is registered for {method} of {self._owner} already")
        self.lists[method].append(hook)

    def change_before_reply(self, messages: Sequence[Mapping[str, Any]]) -> tuple[Kept | Message, ...]:
        """What the hooks make of the messages before a reply; the messages themselves do not change."""
        if not self.lists["process_all_messages_before_reply"]:
            # A copy of the whole conversation for each reply would make the work of a chat quadratic.
            kept = (Kept(0, len(messages) - 1),) if len(messages) > 1 else ()
            last = self._last(messages[-1])
            return (Kept(0, len(messages)),) if last == messages[-1] else (*kept, Message.of(last))
        changed: Any = deepcopy(list(messages))
        for hook in self.lists["process_all_messages_before_reply"]:
            changed = self._called("process_all_messages_before_reply", hook, changed)
            if not isinstance(changed, list) or not changed:
                raise CallbackError(
                    f"the hook {_name(hook)} of {self._owner} returned {changed!r}; it must return a list of messages"
                )
        changed[-1] = self._last(changed[-1])
        return tuple(without_repeats(changed, messages))

    def change_before_send(self, message: Any, sender: Agent, recipient: Agent, silent: bool) -> Any:
        """What the hooks make of a message that is sent."""
        for hook in self.lists["process_message_before_send"]:
            message = self._called(
                "process_message_before_send", hook, sender=sender, message=message, recipient=recipient, silent=silent
            )
        return message

    def _last(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        content = message.get("content")
        # AutoGen 0.2 leaves these alone.
        if not content or content == EXIT or "function_call" in message or "context" in message:
            return message
        for hook in self.lists["process_last_received_message"]:
            content = self._called("process_last_received_message", hook, content)
        return {**message, "content": content}

    def _called(self, method: str, hook: Hook, *given: Any, **keywords: Any) -> Any:
        with naming_errors(f"the hook {_name(hook)} for {method} of {self._owner}"):
            return hook(*given, **keywords)


def without_repeats(
    changed: Sequence[Mapping[str, Any]], whole: Sequence[Mapping[str, Any]]
) -> Iterator[Kept | Message]:
    """The changed messages; those that are in the whole, at the same place from either end, are not repeated."""
    missing = len(whole) - len(changed)
    run: Kept | None = None
    for index, message in enumerate(changed):
        found = next((at for at in (index, index + missing) if 0 <= at < len(whole) and whole[at] == message), None)
        if run is not None and found == run.stop:
            run = Kept(run.start, run.stop + 1)
            continue
        if run is not None:
            yield run
        run = None if found is None else Kept(found, found + 1)
        if found is None:
            yield Message.of(message)
    if run is not None:
        yield run


def _name(hook: Hook) -> str:
    return repr(getattr(hook, "__name__", type(hook).__name__))
