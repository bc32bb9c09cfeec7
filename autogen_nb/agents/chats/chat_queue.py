"""Several chats, each told the summaries of earlier ones: in order, or at the same time as far as they allow."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from autogen_nb.agents.chats.chat_result import ChatResult
from autogen_nb.agents.chats.participant import Participant
from autogen_nb.errors import ConfigError

_EXCLUDED = "finished_chat_indexes_to_exclude_from_carryover"


@dataclass(frozen=True, slots=True)
class QueuedChat:
    """A chat of a queue.

    Parameters
    ----------
    chat_id
        How others name it as what they wait for.
    prerequisites
        The chats that it waits for where several are held at the same time.
    excluded
        The chats before it whose summaries it is not told.
    arguments
        What ``initiate_chat`` is given.
    """

    sender: Participant
    recipient: Participant
    chat_id: int
    prerequisites: tuple[int, ...]
    excluded: frozenset[int]
    arguments: Mapping[str, Any]

    @classmethod
    def of(cls, entry: Mapping[str, Any], number: int) -> Self:
        """The chat for a dict as AutoGen has it, whose place in its queue is `number`.

        Raises
        ------
        ConfigError
            When the entry names no sender or no recipient.
        """
        arguments = {**entry}
        for role in ("sender", "recipient"):
            if not hasattr(entry.get(role), "initiate_chat"):
                raise ConfigError(f"chat {number} of the queue has no {role}: {entry.get(role)!r} is no agent")
        arguments.pop("verbose", None)
        return cls(
            arguments.pop("sender"),
            arguments.pop("recipient"),
            arguments.pop("chat_id", number),
            tuple(arguments.pop("prerequisites", None) or ()),
            frozenset(arguments.pop(_EXCLUDED, None) or ()),
            arguments,
        )

    def with_summaries(self, before: Mapping[int, ChatResult]) -> dict[str, Any]:
        """The arguments, with the summaries of the chats before it."""
        carried = self.arguments.get("carryover") or []
        own = carried if isinstance(carried, list) else [carried]
        summaries = (result.summary for each, result in before.items() if each not in self.excluded)
        return {**self.arguments, "carryover": [*own, *summaries]}


def initiate_chats(chat_queue: Sequence[Mapping[str, Any]]) -> list[ChatResult]:
    """The results of chats that are held one after the other.

    Parameters
    ----------
    chat_queue
        For each chat a dict with ``sender``, ``recipient`` and the arguments of ``initiate_chat``. The summaries of the
        chats before it are added to its ``carryover``, except those of
        ``finished_chat_indexes_to_exclude_from_carryover``.

    Raises
    ------
    ConfigError
        When an entry names no sender or no recipient; no chat was begun.
    """
    done: list[ChatResult] = []
    for chat in _read(chat_queue):
        done.append(chat.sender.initiate_chat(chat.recipient, **chat.with_summaries(dict(enumerate(done)))))
    return done


async def a_initiate_chats(chat_queue: Sequence[Mapping[str, Any]]) -> dict[int, ChatResult]:
    """The results, by ``chat_id``, of chats that are held at the same time.

    Parameters
    ----------
    chat_queue
        As for `initiate_chats`, with a ``chat_id`` each, by default its place; a chat waits for those that its
        ``prerequisites`` name, and is told their summaries. Without the key it waits for none.

    Raises
    ------
    ConfigError
        When two chats share an id, or prerequisites name no chat or wait for each other; no chat was begun.
    """
    chats = _read(chat_queue)
    _check_order(chats)
    tasks: dict[int, asyncio.Task[ChatResult]] = {}

    async def held(chat: QueuedChat) -> ChatResult:
        before = {each: await tasks[each] for each in chat.prerequisites}
        result = await chat.sender.a_initiate_chat(chat.recipient, **chat.with_summaries(before))
        return replace(result, chat_id=chat.chat_id)

    async with asyncio.TaskGroup() as group:
        for chat in chats:
            tasks[chat.chat_id] = group.create_task(held(chat))
    return {chat_id: task.result() for chat_id, task in tasks.items()}


def _read(chat_queue: Sequence[Mapping[str, Any]]) -> list[QueuedChat]:
    return [QueuedChat.of(entry, number) for number, entry in enumerate(chat_queue)]


def _check_order(chats: Sequence[QueuedChat]) -> None:
    waiting: dict[int, set[int]] = {}
    for chat in chats:
        if chat.chat_id in waiting:
            raise ConfigError(f"two chats of the queue have the chat_id {chat.chat_id!r}; give each its own")
        waiting[chat.chat_id] = set(chat.prerequisites)
    for chat_id, before in waiting.items():
        if before - waiting.keys():
            unknown = sorted(before - waiting.keys())
            raise ConfigError(f"chat {chat_id!r} waits for {unknown}, and no chat is called that")
    held: set[int] = set()
    while waiting:
        ready = [chat_id for chat_id, before in waiting.items() if before <= held]
        if not ready:
            raise ConfigError(f"the chats {sorted(waiting)} wait for each other; take one prerequisite away")
        held.update(ready)
        waiting = {chat_id: before for chat_id, before in waiting.items() if chat_id not in held}
