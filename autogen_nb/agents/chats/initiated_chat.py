"""A chat between two agents: builds its flow and runs it, at once or event by event; and queues of chats.

Each chat of a queue gets the summaries of earlier chats.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from graphlib import CycleError, TopologicalSorter
from itertools import starmap
from typing import Any, Literal, TypeAlias
from uuid import uuid4

from autogen_nb import run, sessions
from autogen_nb.agents.chats import call_context
from autogen_nb.agents.chats.chat_exchange import ChatExchange, agents_by_name, speaking_pairs, state_between
from autogen_nb.agents.chats.participant import Participant, ask_for_words
from autogen_nb.agents.chats.question_handler import QuestionHandler
from autogen_nb.agents.parts.agent import call_user_code
from autogen_nb.agents.parts.message_history import checked_message
from autogen_nb.agents.parts.usage_tracker import UsageTotals
from autogen_nb.core.chats.chat_flow import two_agent_chat
from autogen_nb.core.chats.reply_steps import NO_AUTHOR
from autogen_nb.core.ports import Human, Model, ModelRequest
from autogen_nb.errors import ConfigError
from autogen_nb.events import Called, Event, HumanInputGiven, Recorded, Returned, Said, SummaryGiven, completion_of
from autogen_nb.messages import Message, wire
from autogen_nb.run import run_to_completion

_SHOWN = 200


@dataclass(frozen=True, repr=False)
class ChatResult:
    """The outcome of a chat, with AutoGen 0.2's fields.

    Parameters
    ----------
    chat_history
        A copy, made at the end of the chat, of the initiator's messages with the recipient.
    summary
        The summary, as `summary_method` defines it.
    cost
        ``usage_including_cached_inference`` and ``usage_excluding_cached_inference``: for each model the tokens, and
        the cost in US dollars (None if it is unknown).
    human_input
        The person's inputs, in order.
    log
        The events of the chat.
    """

    chat_id: Any = None
    chat_history: list[dict[str, Any]] = field(default_factory=list)
    summary: Any = ""
    cost: dict[str, Any] = field(default_factory=dict)
    human_input: list[str] = field(default_factory=list)
    log: tuple[Recorded, ...] = field(default=(), repr=False)

    def __repr__(self) -> str:
        # asyncio calls `repr` on the result of a task, and a repr of the whole chat would double the memory.
        summary = self.summary if len(str(self.summary)) <= _SHOWN else f"{str(self.summary)[:_SHOWN]}…"
        return f"<ChatResult of {len(self.chat_history)} messages: {summary!r}>"


SummaryMethod = Literal["last_msg", "reflection_with_llm"] | Callable[..., Any] | None


@dataclass(frozen=True, slots=True)
class ChatOptions:
    message: Any = None
    clear_history: bool = True
    silent: bool = False
    max_turns: int | None = None
    summary_method: SummaryMethod = "last_msg"
    summary_args: Mapping[str, Any] = field(default_factory=dict)
    carryover: str | Sequence[Any] | None = None
    context: Mapping[str, Any] = field(default_factory=dict)
    cache: Any = None
    plan: bool = False

    def __post_init__(self) -> None:
        if self.cache is not None and not hasattr(self.cache, "get"):
            raise ConfigError(f"cache is {self.cache!r}; give a cache such as Cache.disk(cache_seed=42), or None")
        if self.max_turns is not None and self.max_turns < 1:
            raise ConfigError(f"max_turns is {self.max_turns!r}; it must be at least 1, or None for no limit")
        if isinstance(self.summary_method, str) and self.summary_method not in ("last_msg", "reflection_with_llm"):
            raise ConfigError(
                f"summary_method is {self.summary_method!r}; it must be 'last_msg', 'reflection_with_llm' or a function"
            )

    @property
    def message_context(self) -> dict[str, Any]:
        """The context for a message function, including the carryover, if any."""
        return {**self.context} if self.carryover is None else {**self.context, "carryover": self.carryover}


class TwoAgentChat(QuestionHandler):
    """A chat between two agents: builds its flow, and answers the flow's questions."""

    def __init__(
        self,
        initiator: Participant,
        recipient: Participant,
        options: ChatOptions,
        *,
        waits: run.Waits,
        human: Human | None = None,
        log: run.Log | None = None,
        known: frozenset[str] = frozenset(),
    ) -> None:
        if initiator is recipient or initiator.name == recipient.name:
            raise ConfigError(f"two agents called {initiator.name!r} cannot chat: their names must differ")
        agents, silent = agents_by_name(initiator, recipient), options.silent or bool(initiator.silent)
        super().__init__(agents, human or call_context.current_human(), waits=waits, silent=silent)
        self._calls["generate_init_message"] = self._call_opening
        self.initiator, self.recipient, self.options = initiator, recipient, options
        nested = call_context.CALL.get() is not None
        self.log: run.Log = log if log is not None else [] if nested else sessions.new_log(options.message)
        self._known = known

    async def hold(self) -> ChatResult:
        await self.exchange().show(call_context.chat_view(silent=self._silent))
        return self.result()

    def exchange(self) -> ChatExchange:
        one, other, agents = self.initiator, self.recipient, self._agents.values()
        for agent, peer in speaking_pairs(one, other, agents):
            if self.options.clear_history:
                agent.clear_history(peer)
                peer.clear_history(agent)
            agent.prepare(peer)
        other.prepare(one)
        state, self._offsets = state_between(one, other, agents, self._known)
        asks = callable(self.options.summary_method) or self.options.summary_method == "reflection_with_llm"
        flow = two_agent_chat(
            one.spec(),
            other.spec(),
            opening=self._opening(),
            max_turns=self.options.max_turns,
            plan=self.options.plan,
            state=state,
            summarise="ask" if asks else "no",
        )
        handler = self if self.group_state is None else self.answer_in_group
        return ChatExchange(self._agents, flow, handler, state, self.log, self._waits, self._offsets)

    def result(self) -> ChatResult:
        history = [dict(message) for message in self.initiator.chat_messages.get(self.recipient, [])]
        usages, inputs, summary = UsageTotals(), [], ""
        for event in call_context.all_events(self.log):
            if completion := completion_of(event):
                usages.add(completion)
            elif isinstance(event, HumanInputGiven) and event.by != NO_AUTHOR:
                inputs.append(event.text)
        for event in self.log if self.options.summary_method is not None else ():
            if isinstance(event, SummaryGiven):
                summary = event.text
            elif isinstance(event, Said):
                summary = event.message.text.replace("TERMINATE", "")
        return ChatResult(uuid4().hex, history, summary, usages.by_kind, inputs, tuple(self.log))

    def _opening(self) -> Message | Literal["ask", "person"]:
        message = self.options.message
        if callable(message) or self.initiator.own_form("generate_init_message", self._waits) is not None:
            return "ask"
        if message is None:
            return "person"
        return checked_message(self.initiator.generate_init_message(message, **self.options.message_context))

    def _wrap(self, model: Model) -> Model:
        if self.options.cache is None:
            return model
        from autogen_nb.models.wrappers.recording import cached

        return cached(model, self.options.cache)

    def _call_opening(self, _: Called) -> Returned | Awaitable[Returned]:
        message, context = self.options.message, self.options.message_context
        own = self.initiator.own_form("generate_init_message", self._waits) or self.initiator.generate_init_message
        if callable(message):
            work, what = partial(message, self.initiator, self.recipient, context), "message"
        else:
            work, what = partial(own, message, **context), "generate_init_message"
        return call_user_code(work, what, lambda opening: Returned((checked_message(opening),)))

    def _summarise(self) -> run.OnCaller | run.OnEngine:
        method, args = self.options.summary_method, self.options.summary_args
        if callable(method):
            work = partial(method, self.initiator, self.recipient, args)
            return run.OnCaller(lambda: call_user_code(work, "summary_method", lambda text: SummaryGiven(str(text))))
        agent = self.recipient if self.recipient.model is not None else self.initiator
        if agent.model is None:
            raise ConfigError("summary_method='reflection_with_llm' needs an agent with a model")
        messages = self.recipient.chat_messages_for_summary(self.initiator)
        prompt = args.get("summary_prompt", self.initiator.DEFAULT_SUMMARY_PROMPT)
        instruction = {"role": args.get("summary_role", "system"), "content": prompt}
        # Some servers refuse a conversation that has calls of tools without definitions.
        definitions = agent.api_definitions("tool"), agent.api_definitions("function")
        request = ModelRequest((*wire(messages), instruction), *definitions, may_call=False)
        wrapped = self._wrap(agent.model)
        return run.OnEngine(lambda _: ask_for_words(wrapped, request, SummaryGiven))


@dataclass
class RunResponse:
    """A chat, which begins with `process` or `events`; then the fields of its result."""

    chat: TwoAgentChat
    context_variables: Any = None
    result: ChatResult = field(default_factory=ChatResult, init=False)

    def process(self) -> None:
        """Holds the chat, and shows it."""
        self.result = run_to_completion(self.chat.hold())

    @property
    def events(self) -> Iterator[Event]:
        """Holds the chat, and yields its events."""
        yield from self.chat.exchange().events()
        self.result = self.chat.result()

    @property
    def last_speaker(self) -> str | None:
        return next((message.get("name") for message in self.result.chat_history[-1:]), None)

    cost = property(lambda self: self.result.cost)
    messages = property(lambda self: self.result.chat_history)
    summary = property(lambda self: self.result.summary)


@dataclass
class AsyncRunResponse:
    """A chat of async code: ``await response.process()``, then ``await response.summary`` and the like."""

    _response: RunResponse

    async def process(self) -> None:
        """Holds the chat, and shows it."""
        self._response.result = await self._response.chat.hold()

    @property
    async def events(self) -> AsyncIterator[Event]:
        """Holds the chat, and yields its events."""
        async for event in self._response.chat.exchange().stream_events():
            yield event
        self._response.result = self._response.chat.result()

    def __getattr__(self, name: str) -> Any:
        # Front ends look for methods such as `_repr_html_`, and would not await them.
        if name not in ("context_variables", "cost", "last_speaker", "messages", "summary"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return self._field(name)

    async def _field(self, name: str) -> Any:
        return getattr(self._response, name)


SUMMARY = "summary_from_nested_chats"
Queue: TypeAlias = Sequence[Mapping[str, Any]]


class _QueuedChat:
    def __init__(self, number: int, entry: Mapping[str, Any]) -> None:
        for role in ("sender", "recipient"):
            if not hasattr(entry.get(role), "initiate_chat"):
                raise ConfigError(f"chat {number} of the queue has no {role}: {entry.get(role)!r} is no agent")
        self._arguments = dict(entry)
        self._arguments.pop("verbose", None)
        self.sender, self.chat_id = self._arguments.pop("sender"), self._arguments.pop("chat_id", number)
        self.prerequisites = tuple(self._arguments.pop("prerequisites", None) or ())
        self._excluded = self._arguments.pop("finished_chat_indexes_to_exclude_from_carryover", None) or ()

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
    for chat in list(starmap(_QueuedChat, enumerate(chat_queue))):
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
    chats = list(starmap(_QueuedChat, enumerate(chat_queue)))
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
    return True, list((await a_initiate_chats(chats)).values())[-1].summary


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
