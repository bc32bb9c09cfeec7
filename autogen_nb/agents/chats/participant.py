"""`Participant`: the part of an agent that chats use; and requests to its model, with the replies as events."""

import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Annotated, Any, TypeVar, cast

from autogen_nb.agents.chats import call_context
from autogen_nb.agents.parts.code_execution import CodeRunner
from autogen_nb.agents.parts.group_member import GroupMember
from autogen_nb.agents.parts.message_history import opening_message
from autogen_nb.agents.parts.reply_functions import (
    ALL,
    LAST,
    SENT,
    BuiltinStep,
    MessageHooks,
    ReplyFunction,
    ReplyFunctions,
)
from autogen_nb.agents.parts.tool_use import ToolUser, register_function
from autogen_nb.agents.parts.usage_tracker import UsageTracker
from autogen_nb.core.chats.reply_steps import (
    DESCRIPTION,
    NO_AUTHOR,
    NOBODY,
    SILENCE,
    AgentSpec,
    CallAndAsk,
    Own,
    Step,
    check_termination_and_human_reply,
    generate_oai_reply,
)
from autogen_nb.core.chats.termination_checks import EXIT, Condition, Mode, has_no_code, is_end_word
from autogen_nb.core.ports import Model, ModelRequest, Reading, Retry
from autogen_nb.errors import ModelError, NobodyThere
from autogen_nb.events import (
    HumanInputAsked,
    HumanInputGiven,
    ModelDelta,
    ModelReading,
    ModelReplied,
    ModelRetry,
    ReasoningDelta,
    SpeakerGiven,
    SummaryGiven,
)
from autogen_nb.human.terminal_human import TerminalHuman
from autogen_nb.messages import Message, Reasoning, wire
from autogen_nb.run import Waits, runtime_log, then


class Participant(ReplyFunctions, MessageHooks, GroupMember, CodeRunner, UsageTracker):
    """Combines the parts of an agent, and creates the agent's spec for the flow of a chat."""

    DEFAULT_SUMMARY_PROMPT: str
    default_auto_reply: str | dict[str, Any] | None
    human_input_mode: Mode
    is_termination_msg: Callable[[dict[str, Any]], bool] | Condition
    silent: bool | None
    _system_message: str

    @property
    def system_message(self) -> str:
        """The system message for the agent's model."""
        return self._system_message

    def update_system_message(self, system_message: str) -> None:
        """Replaces the system message from the next request on."""
        self._system_message = system_message

    def get_human_input(self, prompt: str) -> str:
        """The person's input, typed in the terminal or in the front end's input field."""
        return TerminalHuman().input(HumanInputAsked(self.name, "", prompt)).text

    async def a_get_human_input(self, prompt: str) -> str:
        return self.get_human_input(prompt)

    def generate_init_message(
        self, message: Any, *, carryover: str | Sequence[Any] | None = None, **context: Any
    ) -> str | dict[str, Any]:
        """The message that opens a chat: `message`, or else the person's input, with the carryover."""
        if message is None:
            message = self.get_human_input("Your first message: ")
        del context
        return opening_message(message, carryover)

    async def a_generate_init_message(self, message: Any, **context: Any) -> str | dict[str, Any]:
        return self.generate_init_message(message, **context)

    def spec(self, exclude: Collection[ReplyFunction] = ()) -> AgentSpec:
        """The agent's spec for the flow, without the excluded reply functions."""
        condition, default = self.is_termination_msg, self.default_auto_reply
        steps, own = tuple(self.reply_steps(self.builtin_step, exclude)), frozenset(self.own_code())
        termination: Any = condition if condition in (is_end_word, has_no_code) else "ask"
        default_reply = None if default is None else Message.of(default)
        limit, limits = self.max_consecutive_auto_reply(), {peer.name: limit for peer, limit in self._limits.items()}
        return AgentSpec(self.name, steps, self.human_input_mode, limit, termination, default_reply, own, limits)

    def builtin_step(self, step: BuiltinStep) -> Step | None:
        match step:
            case "termination":
                return check_termination_and_human_reply
            case "functions":
                functions = self.function_map.items()
                asking = {name for name, each in functions if getattr(each, "__wrapped__", each) is ask_person}
                return CallAndAsk(frozenset(asking))
            case "code" if (code := self.code) is not None and code.reach != 0:
                together = self.overrides("execute_code_blocks")
                return replace(code.step, together=together, pictures=code.pictures)
            case "model" if self.model is not None:
                return generate_oai_reply
            case _:
                return None

    def overrides(self, method: str) -> bool:
        return method in vars(self) or len([cls for cls in type(self).__mro__ if method in vars(cls)]) > 1

    def own_form(self, method: str, waits: Waits) -> Callable[..., Any] | None:
        """The user's form of a method; in async chats, the async form comes first. None without an override."""
        names = (f"a_{method}", method) if waits == "async" else (method,)
        return next((getattr(self, name) for name in names if self.overrides(name)), None)

    def own_code(self) -> Iterator[Own]:
        """The steps in which the flow asks the user's code: overridden methods and hooks."""
        for method in ("generate_reply", "receive", "send"):
            if self.overrides(method) or self.overrides(f"a_{method}"):
                yield method
        if self.hook_lists[SENT]:
            yield "send"
        if self.hook_lists[LAST] or self.hook_lists[ALL]:
            yield "messages"

    def companions(self) -> Sequence["Participant"]:
        """The agents that join each chat of this agent, such as the agents of its group."""
        return ()


def ask_person(
    question: Annotated[str, "What you want to know, in plain words"],
    choices: Annotated[list[str] | None, "Answers to choose from; the person may also give another one"] = None,
) -> Any:
    """Asks a question to the person you work for, and returns the answer.

    Register it like any other tool: ``register_function(ask_person, caller=assistant, executor=user,
    description=ask_person.__doc__)``. In a chat between agents the question and the answer are events of the chat.
    """
    question_event = HumanInputAsked("", "", question, choices=tuple(choices or ()), by_tool=True)
    answer = answer_or_nobody(lambda: call_context.current_human().input(question_event))
    return then(answer, lambda given: SILENCE if given.text in ("", EXIT) else given.text)


def register_ask_person(caller: ToolUser, executor: ToolUser) -> None:
    """Registers `ask_person`: the caller's model calls it, and the executor runs it."""
    register_function(ask_person, caller=caller, executor=executor, description=DESCRIPTION)


def answer_or_nobody(
    ask: Callable[[], HumanInputGiven | Awaitable[HumanInputGiven]],
) -> HumanInputGiven | Awaitable[HumanInputGiven]:
    """The person's answer; `NOBODY` if no person is available."""
    nobody = HumanInputGiven(NOBODY, by=NO_AUTHOR)

    async def wait(pending: Awaitable[HumanInputGiven]) -> HumanInputGiven:
        try:
            return await pending
        except NobodyThere:
            return nobody

    try:
        answer = ask()
    except NobodyThere:
        return nobody
    return wait(answer) if isinstance(answer, Awaitable) else answer


W = TypeVar("W", SpeakerGiven, SummaryGiven)


def model_request(agent: Participant, messages: Sequence[Mapping[str, Any]], *, calls: bool = True) -> ModelRequest:
    """A request with the agent's system message, the conversation and, with `calls`, the agent's tools."""
    system = [{"role": "system", "content": agent.system_message}] if agent.system_message else []
    tools, functions = (tuple(agent.api_definitions(style)) if calls else () for style in ("tool", "function"))
    return ModelRequest((*system, *wire(messages)), tools, functions)


async def ask_model(
    model: Model,
    request: ModelRequest,
    agent: Any,
    emit: Callable[[ModelDelta | ReasoningDelta | ModelRetry | ModelReading], None] = lambda _: None,
) -> ModelReplied:
    """Returns a model's reply, and emits its pieces as they arrive; `agent` is the author for the runtime log."""
    started = time.monotonic()
    async with aclosing(cast("Any", model.reply(request))) as parts:
        async for part in parts:
            if isinstance(part, str):
                emit(ModelDelta(agent, part))
            elif isinstance(part, Reasoning):
                emit(ReasoningDelta(agent, part.text))
            elif isinstance(part, Retry):
                emit(ModelRetry(agent, part.reason, part.wait))
            elif isinstance(part, Reading):
                emit(ModelReading(agent, part.host, part.tokens))
            else:
                seconds = time.monotonic() - started
                if runtime_log.active:
                    runtime_log.log_completion(agent, model, request, part, seconds)
                return ModelReplied(part, seconds)
    raise ModelError("the model ended without a reply", model=model.name)


async def ask_for_words(model: Model, request: ModelRequest, kind: type[W]) -> W:
    """A model's reply as the choice of a speaker or as a summary."""
    reply = await ask_model(model, request, "speaker_selection_agent" if kind is SpeakerGiven else "summary")
    return kind(reply.completion.message.text, completion=reply.completion)
