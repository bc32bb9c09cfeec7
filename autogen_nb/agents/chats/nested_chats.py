"""Chats that an agent holds before it replies: a reply function like one of the caller's own."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from autogen_nb.agents.chats import call_context, chat_queue
from autogen_nb.agents.chats.participant import Participant
from autogen_nb.errors import ConfigError

SUMMARY = "summary_from_nested_chats"
Queue = Sequence[Mapping[str, Any]]


def reply_function(queue: Queue, how: str | Callable[..., Any], *, use_async: bool | None) -> Callable[..., Any]:
    """The reply function that holds the chats of a queue.

    Parameters
    ----------
    how
        "summary_from_nested_chats", or a function of the queue, recipient, messages, sender and config.
    use_async
        Whether the chats are awaited; None leaves it to the chat in which the agent replies.

    Raises
    ------
    ConfigError
        When `how` is neither, or chats that are awaited have no ``chat_id``.
    """
    if how != SUMMARY and not callable(how):
        raise ConfigError(f"reply_func_from_nested_chats is {how!r}; it must be {SUMMARY!r} or a function")
    if use_async and any(chat.get("chat_id") is None for chat in queue):
        raise ConfigError("nested chats with use_async=True need a chat_id each")

    def replied(recipient: Participant, messages: Any = None, sender: Any = None, config: Any = None) -> Any:
        if callable(how):
            return how(queue, recipient, messages, sender, config)
        chats = list(_to_hold(queue, recipient, messages, sender, config))
        if not chats:
            return True, None
        call = call_context.current_call()
        if call is not None and call.waits == "async":
            return _awaited(chats, together=bool(use_async))
        return True, chat_queue.initiate_chats(chats)[-1].summary

    replied.__name__ = getattr(how, "__name__", SUMMARY)
    return replied


async def _awaited(chats: Queue, *, together: bool) -> tuple[bool, Any]:
    """The reply of chats that are awaited: at the same time where they say what waits for what."""
    if not together:
        # One after the other, each told of those before it.
        ids = [chat.get("chat_id", number) for number, chat in enumerate(chats)]
        chats = [{**chat, "chat_id": ids[at], "prerequisites": ids[:at]} for at, chat in enumerate(chats)]
    held = await chat_queue.a_initiate_chats(chats)
    return True, list(held.values())[-1].summary


def _to_hold(
    queue: Queue, recipient: Participant, messages: Sequence[Mapping[str, Any]], sender: Any, config: Any
) -> Iterator[Mapping[str, Any]]:
    """The chats that have something to begin with; the first begins by default with what was said last."""
    for number, chat in enumerate(queue):
        message = chat.get("message")
        if message is None and number == 0:
            message = messages[-1].get("content")
        if callable(message):
            message = message(recipient, messages, sender, config)
        if message:
            yield {**chat, "sender": chat.get("sender") or recipient, "message": message}
