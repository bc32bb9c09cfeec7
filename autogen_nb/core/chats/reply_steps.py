"""The steps of an agent's reply, each a generator of events.

The order is AutoGen 0.2's: termination and human input, function and tool calls, code, model, default reply. With
`CallAndAsk`, a model also asks the person a question, by a tool whose result is the answer.
"""

import json
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, TypeVar

from autogen_nb.core.chats.termination_checks import EXIT, PROMPT_START, Ask, Condition, Mode, decide
from autogen_nb.core.text.code_blocks import CodeReading, defined_names, read
from autogen_nb.core.text.visible_text import visible
from autogen_nb.events import (
    Answer,
    ApprovalAsked,
    Called,
    EndReason,
    FunctionsAsked,
    FunctionsReturned,
    HumanInputAsked,
    HumanInputGiven,
    Kept,
    ModelAsked,
    ModelReplied,
    Question,
    Recorded,
    Returned,
    Said,
)
from autogen_nb.messages import FunctionCall, Message

_ENDS: Mapping[EndReason, str] = {
    "answered": "{name} has nothing to add.",
    "terminated": "{name} received a message that ends the chat.",
    "exit": "The person ended the chat.",
    "stopped": "The person stopped the chat.",
    "max_auto_replies": "{name} has reached its limit of automatic replies.",
    "max_turns": "The limit of turns was reached.",
}
_INTERRUPTED = "The user interrupted: this was not called."


@dataclass(frozen=True, slots=True)
class Reply:
    message: Message


@dataclass(frozen=True, slots=True)
class Stop:
    reason: EndReason
    detail: str = ""

    def with_detail(self, name: str) -> "Stop":
        """The stop with a sentence for the person; `name` is the agent that stops the chat."""
        return Stop(self.reason, self.detail or _ENDS[self.reason].format(name=name))


Outcome: TypeAlias = Reply | Stop | None  # None: the next step follows


A = TypeVar("A", bound=Answer)
M = TypeVar("M")
T = TypeVar("T")
Asking: TypeAlias = Generator[Recorded, Answer | None, T]
Step: TypeAlias = Callable[["ConversationState", "AgentSpec", str], Asking[Outcome]]
Own: TypeAlias = Literal["generate_reply", "messages", "receive", "send"]


@dataclass(frozen=True, slots=True)
class AgentSpec:
    name: str
    steps: tuple[Step, ...] = ()
    human_input_mode: Mode = "NEVER"
    max_auto_replies: int = 100
    termination: Condition | Literal["ask"] = "ask"
    default_reply: Message | None = None
    own: frozenset[Own] = frozenset()
    max_auto_replies_to: Mapping[str, int] = field(default_factory=dict)


class ConversationState:
    def __init__(
        self,
        exchanges: Iterable[Sequence[Said]] = (),
        known: Iterable[str] = (),
        auto_replies: Mapping[tuple[str, str], int] | None = None,
    ) -> None:
        # The first message of an exchange names both agents.
        self._exchanged = {frozenset((each[0].sender, each[0].recipient)): list(each) for each in exchanges if each}
        self._earlier = {pair: len(exchanged) for pair, exchanged in self._exchanged.items()}
        self._readings: dict[tuple[frozenset[str], int, str], CodeReading] = {}
        self._reply_messages: dict[tuple[str, str], tuple[Kept | Message, ...]] = {}
        self._ran: set[tuple[str, frozenset[str], int]] = set()
        self.names = set(known)
        self.auto_replies = Counter(auto_replies)
        self.silenced: set[tuple[str, str]] = set()

    def add(self, said: Said) -> None:
        self.exchanged(said.sender, said.recipient).append(said)
        self._reply_messages.pop((said.recipient, said.sender), None)

    def exchanged(self, one: str, other: str) -> list[Said]:
        return self._exchanged.setdefault(frozenset((one, other)), [])

    def set_reply_messages(
        self, agent: str, peer: str, messages: Sequence[Kept | Message], *, lasting: bool = False
    ) -> None:
        """Replaces the messages that the agent replies to, until the next message arrives.

        With `lasting`, the replacement of the last message also changes the history.
        """
        self._reply_messages[agent, peer] = tuple(messages)
        if lasting:
            exchanged = self.exchanged(agent, peer)
            exchanged[-1] = replace(exchanged[-1], heard=self.last(agent, peer))

    def last(self, agent: str, peer: str) -> Message:
        messages = self._reply_messages.get((agent, peer)) or (Kept(0, len(self.exchanged(agent, peer))),)
        last = messages[-1]
        return last if isinstance(last, Message) else self.exchanged(agent, peer)[last.stop - 1].by(agent)

    def reading(self, agent: str, peer: str, index: int) -> CodeReading:
        """The code in a message; the names that it defines distinguish Python from shell in later blocks."""
        text = self._text(agent, peer, index)
        key = (frozenset((agent, peer)), index, text)
        if key not in self._readings:
            reading = read(text, self.names)
            self._readings[key] = reading
            self.names.update(*[defined_names(block.code) for block in reading.blocks])
        return self._readings[key]

    def _text(self, agent: str, peer: str, index: int) -> str:
        exchanged = self.exchanged(agent, peer)
        messages = self._reply_messages.get((agent, peer))
        if messages is None:
            return exchanged[index].by(agent).text
        if index == len(exchanged) - 1:
            return self.last(agent, peer).text
        own = [said.by(agent) for said in exchanged]
        replaced = expand_kept(messages, own)
        # If a hook removes messages, the indices do not match, so the message in the history counts.
        return (replaced if len(replaced) == len(own) else own)[index].text

    def claim(self, agent: str, peer: str, index: int) -> bool:
        """Marks the message's code as run by the agent; returns False if it was already marked."""
        new = not self.is_claimed(agent, peer, index)
        self._ran.add((agent, frozenset((agent, peer)), index))
        return new

    def is_claimed(self, agent: str, peer: str, index: int) -> bool:
        """True if the agent has run the message's code, or has replied to the message in an earlier chat."""
        pair = frozenset((agent, peer))
        later = self.exchanged(agent, peer)[index + 1 : self._earlier.get(pair, 0)]
        return (agent, pair, index) in self._ran or agent in [said.sender for said in later]


def ask(question: Question, kind: type[A]) -> Asking[A]:
    answer = yield question
    if not isinstance(answer, kind):
        raise TypeError(f"{type(question).__name__} was answered by {answer!r}, not by a {kind.__name__}")
    return answer


def expand_kept(messages: Iterable[Kept | M], whole: Sequence[M]) -> list[M]:
    result: list[M] = []
    for each in messages:
        result += whole[each.start : each.stop] if isinstance(each, Kept) else (each,)
    return result


def reply(state: ConversationState, spec: AgentSpec, peer: str) -> Asking[Reply | Stop]:
    if "generate_reply" not in spec.own:
        return (yield from run_reply_steps(state, spec, peer))
    count = len(state.exchanged(spec.name, peer))
    answer = yield from ask(Called("generate_reply", spec.name, peer, count), Returned)
    state.auto_replies[spec.name, peer] = answer.auto_replies
    if not answer.replying:
        state.silenced.add((spec.name, peer))
    return Stop("answered") if answer.message is None else Reply(answer.message)


def run_reply_steps(state: ConversationState, spec: AgentSpec, peer: str) -> Asking[Reply | Stop]:
    if "messages" in spec.own:
        count = len(state.exchanged(spec.name, peer))
        answer = yield from ask(Called("message hooks", spec.name, peer, count), Returned)
        state.set_reply_messages(spec.name, peer, answer.messages, lasting=answer.decided)
    for step in spec.steps:
        outcome = yield from step(state, spec, peer)
        if outcome is not None:
            return outcome
    return Stop("answered") if spec.default_reply is None else Reply(spec.default_reply)


def check_termination_and_human_reply(state: ConversationState, spec: AgentSpec, peer: str) -> Asking[Outcome]:
    is_terminated = yield from check_termination(state, spec, peer)
    pair = spec.name, peer
    limit = spec.max_auto_replies_to.get(peer, spec.max_auto_replies)
    move = decide(spec.human_input_mode, terminated=is_terminated, count=state.auto_replies[pair], limit=limit)
    if move == "auto":
        state.auto_replies[pair] += 1
        return None
    if not isinstance(move, Ask):
        state.auto_replies[pair] = 0
        return Stop(move)
    then = _next_question(state, spec, peer) if move.empty == "auto" else None
    question = HumanInputAsked(spec.name, peer, _prompt(peer, move), is_terminated, move.empty, then=then)
    answer = yield from ask(question, HumanInputGiven)
    if answer.text == "" and move.empty == "auto":
        state.auto_replies[pair] += 1
        return None
    state.auto_replies[pair] = 0
    if answer.text == EXIT:
        return Stop("exit")
    if answer.text == "" and move.empty == "stop":
        return Stop("terminated")
    return Reply(_person_reply(answer.text, state.last(spec.name, peer)))


def tool_result_message(message: Message, contents: Sequence[str]) -> Message:
    if message.function_call:
        return Message(contents[0], role="function", name=message.calls[0].name)
    responses = _responses(message.calls, contents)
    return Message("\n\n".join(contents), role="tool", tool_responses=responses)


def generate_oai_reply(state: ConversationState, spec: AgentSpec, peer: str) -> Asking[Outcome]:
    count = len(state.exchanged(spec.name, peer))
    replied = yield from ask(ModelAsked(spec.name, peer, count), ModelReplied)
    return Reply(replied.completion.message)


def ask_function(number: int, name: str, state: ConversationState, spec: AgentSpec, peer: str) -> Asking[Outcome]:
    """The answer of a reply function; `number` and `name` identify the function."""
    count = len(state.exchanged(spec.name, peer))
    question = Called("reply function", spec.name, peer, count, number=number, name=name)
    returned = yield from ask(question, Returned)
    if not returned.replying:
        state.silenced.add((spec.name, peer))
    if not returned.decided:
        return None
    message = returned.message
    return Stop("answered") if message is None else Reply(message)


def check_termination(state: ConversationState, spec: AgentSpec, peer: str) -> Asking[bool]:
    if spec.termination != "ask":
        return spec.termination(state.last(spec.name, peer))
    question = Called("is_termination_msg", spec.name, peer, len(state.exchanged(spec.name, peer)))
    return (yield from ask(question, Returned)).decided


def _next_question(state: ConversationState, spec: AgentSpec, peer: str) -> ApprovalAsked | None:
    """The question that follows an empty answer of the person; None if it is not known in advance."""
    has_calls = bool(state.last(spec.name, peer).calls)
    skipped = (check_termination_and_human_reply, *(() if has_calls else (generate_function_call_reply,)))
    step = next((step for step in spec.steps if step not in skipped), None)
    foresee: Callable[..., ApprovalAsked | None] = getattr(step, "foresee", lambda *_: None)
    return foresee(state, spec, peer)


def _prompt(peer: str, move: Ask) -> str:
    empty = {
        "auto": "press Enter to let the agent go on by itself",
        "send": "press Enter to send an empty message",
        "stop": "press Enter to end the chat",
    }[move.empty]
    return f"{PROMPT_START}{peer} ({empty}, type {EXIT!r} to end the chat): "


def _person_reply(text: str, last: Message) -> Message:
    calls = last.calls
    if not calls:
        return Message(text, role="user")
    if last.function_call:
        responses: list[Any] = [{"role": "function", "name": calls[0].name, "content": _INTERRUPTED}]
    else:
        responses = _responses(calls, [_INTERRUPTED] * len(calls))
    return Message(text, role="user", tool_responses=responses)


def _responses(calls: Sequence[FunctionCall], contents: Sequence[str]) -> list[Any]:
    return [
        {"tool_call_id": call.call_id, "role": "tool", "content": content}
        for call, content in zip(calls, contents, strict=True)
    ]


NAME = "ask_person"
DESCRIPTION = (
    "Asks a question to the person you work for, and returns the answer. Use it where only the person can know or "
    "decide, and not for what you can find out yourself."
)
NOBODY = "Nobody is there to answer. Go on with what seems best to you, and say what you assumed."
SILENCE = "The person gave no answer. Go on with what seems best to you, and say what you assumed."
NO_AUTHOR = "nobody"  # the author of automatic replies
_MAX_CHOICES = 20


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    question: str
    choices: tuple[str, ...] = ()


def read_question(arguments: str) -> ParsedQuestion | str:
    """The question in a call's JSON arguments, or an error message for the model."""
    try:
        parsed = json.loads(arguments, strict=False)
    except (ValueError, RecursionError) as error:
        return f"Error: the arguments of {NAME!r} are not JSON: {error}"
    question = parsed.get("question") if isinstance(parsed, dict) else None
    if not isinstance(question, str) or not question.strip():
        return f"Error: {NAME!r} needs a question, as text"
    choices = parsed.get("choices") or []
    if not isinstance(choices, list) or not all(isinstance(each, str) and each.strip() for each in choices):
        return "Error: choices must be a list of texts"
    if len(choices) > _MAX_CHOICES:
        return f"Error: there are {len(choices)} choices, and the maximum is {_MAX_CHOICES}"
    return ParsedQuestion(question.strip(), tuple(dict.fromkeys(each.strip() for each in choices)))


@dataclass(frozen=True, slots=True)
class CallAndAsk:
    """The step that runs the tool calls of the last message; the tools in `names` ask the person."""

    names: frozenset[str]

    def __call__(self, state: ConversationState, spec: AgentSpec, peer: str) -> Asking[Outcome]:
        message = state.last(spec.name, peer)
        calls = message.calls
        if not calls:
            return None
        others = tuple(call for call in calls if call.name not in self.names)
        returned: Sequence[str] = ()
        if others:
            answer = yield from ask(FunctionsAsked(spec.name, others), FunctionsReturned)
            if answer.is_stopped:
                return Stop("stopped")
            returned = answer.contents
        results, contents = iter(returned), []
        for call in calls:
            result = (yield from _ask_person(call, spec, peer)) if call.name in self.names else next(results)
            if result is None:
                return Stop("exit")
            contents.append(result)
        return Reply(tool_result_message(message, contents))


generate_function_call_reply = CallAndAsk(frozenset())


def _ask_person(call: FunctionCall, spec: AgentSpec, peer: str) -> Asking[str | None]:
    """The person's answer as the tool's result; None if the person ends the chat."""
    parsed = read_question(call.arguments)
    if isinstance(parsed, str):
        return parsed
    prompt = f"{peer} asks: {visible(parsed.question)}"
    question = HumanInputAsked(spec.name, peer, prompt, choices=parsed.choices, by_tool=True)
    answer = yield from ask(question, HumanInputGiven)
    if answer.text == EXIT:
        return None
    return answer.text or SILENCE
