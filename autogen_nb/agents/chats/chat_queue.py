"""Several chats, each told the summaries of earlier ones: in order, or at the same time as far as they allow."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from autogen_nb.agents.chats.chat_result import ChatResult
from autogen_nb.errors import ConfigError

if TYPE_CHECKING:
    from autogen_nb.agents.conversable import ConversableAgent

_EXCLUDED = "finished_chat_indexes_to_exclude_from_carryover"
_ABOUT_THE_QUEUE = ("sender", "recipient", "chat_id", "prerequisites", "verbose", _EXCLUDED)


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
    for chat in checked(chat_queue):
        done.append(_sender(chat).initiate_chat(chat["recipient"], **_arguments(chat, dict(enumerate(done)))))
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
    chats = _by_id(checked(chat_queue))
    tasks: dict[int, asyncio.Task[ChatResult]] = {}

    async def held(chat: Mapping[str, Any]) -> ChatResult:
        before = {each: await tasks[each] for each in chat.get("prerequisites") or ()}
        result = await _sender(chat).a_initiate_chat(chat["recipient"], **_arguments(chat, before))
        return _named(result, chat["chat_id"])

    async with asyncio.TaskGroup() as group:
        for chat_id, chat in chats.items():
            tasks[chat_id] = group.create_task(held(chat))
    return {chat_id: task.result() for chat_id, task in tasks.items()}


def checked(chat_queue: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """The queue, if each entry names who speaks to whom."""
    for number, chat in enumerate(chat_queue):
        for role in ("sender", "recipient"):
            if not hasattr(chat.get(role), "initiate_chat"):
                raise ConfigError(f"chat {number} of the queue has no {role}: {chat.get(role)!r} is no agent")
    return chat_queue


def _sender(chat: Mapping[str, Any]) -> "ConversableAgent":
    sender: ConversableAgent = chat["sender"]
    return sender


def _arguments(chat: Mapping[str, Any], before: Mapping[int, ChatResult]) -> dict[str, Any]:
    """What ``initiate_chat`` is given, with the summaries of the chats before."""
    excluded: Collection[int] = chat.get(_EXCLUDED) or ()
    given = {key: value for key, value in chat.items() if key not in _ABOUT_THE_QUEUE}
    carried = given.get("carryover") or []
    own = carried if isinstance(carried, list) else [carried]
    given["carryover"] = [*own, *(result.summary for each, result in before.items() if each not in excluded)]
    return given


def _by_id(chat_queue: Sequence[Mapping[str, Any]]) -> dict[int, Mapping[str, Any]]:
    chats: dict[int, Mapping[str, Any]] = {}
    for number, chat in enumerate(chat_queue):
        chat_id = chat.get("chat_id", number)
        if chat_id in chats:
            raise ConfigError(f"two chats of the queue have the chat_id {chat_id!r}; give each its own")
        chats[chat_id] = {**chat, "chat_id": chat_id}
    _check_order(chats)
    return chats


def _check_order(chats: Mapping[int, Mapping[str, Any]]) -> None:
    held: set[int] = set()
    waiting = {chat_id: set(chat.get("prerequisites") or ()) for chat_id, chat in chats.items()}
    for chat_id, before in waiting.items():
        if before - chats.keys():
            raise ConfigError(f"chat {chat_id!r} waits for {sorted(before - chats.keys())}, and no chat is called that")
    while waiting:
        ready = [chat_id for chat_id, before in waiting.items() if before <= held]
        if not ready:
            raise ConfigError(f"the chats {sorted(waiting)} wait for each other; take one prerequisite away")
        for chat_id in ready:
            held.add(chat_id)
            del waiting[chat_id]


def _named(result: ChatResult, chat_id: int) -> ChatResult:
    return ChatResult(chat_id, result.chat_history, result.summary, result.cost, result.human_input, result.log)
