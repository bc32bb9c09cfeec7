"""Runs queues of chats, in order or concurrently; each chat gets the summaries of earlier chats."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from typing import Any, TypeAlias

from autogen_nb.agents.chats import call_context
from autogen_nb.agents.chats.initiated_chat import ChatResult
from autogen_nb.errors import ConfigError

SUMMARY = "summary_from_nested_chats"
Queue: TypeAlias = Sequence[Mapping[str, Any]]


class _QueuedChat:
    def __init__(self, number: int, entry: Mapping[str, Any]) -> None:
        for role in ("sender", "recipient"):
            if not hasattr(entry.get(role), "initiate_chat"):
                raise ConfigError(f"chat {number} of the queue has no {role}: {entry.get(role)!r} is no agent")
        arguments = dict(entry)
        arguments.pop("verbose", None)
        self.sender = arguments.pop("sender")
        self.chat_id = arguments.pop("chat_id", number)
        self.prerequisites = tuple(arguments.pop("prerequisites", None) or ())
        self._excluded = frozenset(arguments.pop("finished_chat_indexes_to_exclude_from_carryover", None) or ())
        self._arguments = arguments

    def arguments(self, earlier: Mapping[int, ChatResult]) -> dict[str, Any]:
        carryover = self._arguments.get("carryover") or []
        own = carryover if isinstance(carryover, list) else [carryover]
        summaries = (result.summary for chat_id, result in earlier.items() if chat_id not in self._excluded)
        return {**self._arguments, "carryover": [*own, *summaries]}


def initiate_chats(chat_queue: Queue) -> list[ChatResult]:
    """Runs chats one after the other and returns their results.

    Parameters
    ----------
    chat_queue
        For each chat a dict with ``sender``, ``recipient`` and the arguments of ``initiate_chat``. The ``carryover``
        also gets the summaries of the earlier chats, except for the chats numbered in
        ``finished_chat_indexes_to_exclude_from_carryover``.

    Raises
    ------
    ConfigError
        If an entry has no sender or no recipient. This is raised before any chat starts.
    """
    results: list[ChatResult] = []
    for chat in _read(chat_queue):
        results.append(chat.sender.initiate_chat(**chat.arguments(dict(enumerate(results)))))
    return results


async def a_initiate_chats(chat_queue: Queue) -> dict[int, ChatResult]:
    """Runs chats concurrently and returns their results by ``chat_id``.

    Parameters
    ----------
    chat_queue
        As for `initiate_chats`. Each chat may have a ``chat_id``, by default its position in the queue, and a list of
        ``prerequisites``: the ids of the chats that it waits for, and whose summaries it gets.

    Raises
    ------
    ConfigError
        For a duplicate id, an unknown prerequisite, or circular prerequisites. This is raised before any chat starts.
    """
    chats = _read(chat_queue)
    _check_order(chats)
    tasks: dict[int, asyncio.Task[ChatResult]] = {}

    async def hold(chat: _QueuedChat) -> ChatResult:
        before = {chat_id: await tasks[chat_id] for chat_id in chat.prerequisites}
        result: ChatResult = await chat.sender.a_initiate_chat(**chat.arguments(before))
        return replace(result, chat_id=chat.chat_id)

    async with asyncio.TaskGroup() as group:
        for chat in chats:
            tasks[chat.chat_id] = group.create_task(hold(chat))
    return {chat_id: task.result() for chat_id, task in tasks.items()}


def _read(chat_queue: Queue) -> list[_QueuedChat]:
    return [_QueuedChat(number, entry) for number, entry in enumerate(chat_queue)]


def _check_order(chats: Sequence[_QueuedChat]) -> None:
    waiting: dict[int, tuple[int, ...]] = {}
    for chat in chats:
        if chat.chat_id in waiting:
            raise ConfigError(f"two chats of the queue have the chat_id {chat.chat_id!r}; give each its own")
        waiting[chat.chat_id] = chat.prerequisites
    for chat_id, before in waiting.items():
        if unknown := sorted(set(before) - waiting.keys(), key=str):
            raise ConfigError(f"chat {chat_id!r} has prerequisites {unknown} that are not in the queue; correct them")
    try:
        TopologicalSorter(waiting).prepare()
    except CycleError as error:
        raise ConfigError(
            f"the chats {sorted(set(error.args[1]), key=str)} wait for each other; remove one prerequisite"
        ) from None


def nested_chats(queue: Queue, how: str | Callable[..., Any], *, use_async: bool | None) -> Callable[..., Any]:
    """Creates the reply function that runs the chats of a queue."""
    if how != SUMMARY and not callable(how):
        raise ConfigError(f"reply_func_from_nested_chats is {how!r}; it must be {SUMMARY!r} or a function")
    if use_async and any(chat.get("chat_id") is None for chat in queue):
        raise ConfigError("nested chats with use_async=True need a chat_id each")

    def reply(recipient: Any, messages: Any = None, sender: Any = None, config: Any = None) -> Any:
        if callable(how):
            return how(queue, recipient, messages, sender, config)
        chats = list(_chats_to_hold(queue, recipient, messages, sender, config))
        if not chats:
            return True, None
        call = call_context.CALL.get()
        if call is not None and call.waits == "async":
            return _hold_async(chats, concurrently=bool(use_async))
        return True, initiate_chats(chats)[-1].summary

    reply.__name__ = getattr(how, "__name__", SUMMARY)
    return reply


async def _hold_async(chats: Queue, *, concurrently: bool) -> tuple[bool, Any]:
    if not concurrently:
        ids = [chat.get("chat_id", number) for number, chat in enumerate(chats)]
        chats = [{**chat, "chat_id": ids[at], "prerequisites": ids[:at]} for at, chat in enumerate(chats)]
    results = await a_initiate_chats(chats)
    return True, list(results.values())[-1].summary


def _chats_to_hold(
    queue: Queue, recipient: Any, messages: Sequence[Mapping[str, Any]], sender: Any, config: Any
) -> Iterator[Mapping[str, Any]]:
    for number, chat in enumerate(queue):
        message = chat.get("message")
        if message is None and number == 0:
            message = messages[-1].get("content")
        if callable(message):
            message = message(recipient, messages, sender, config)
        if message:
            yield {**chat, "sender": chat.get("sender") or recipient, "message": message}
