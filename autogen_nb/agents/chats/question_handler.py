"""Answers a chat's questions through the agents' models and executors, the user's code, or a person."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, assert_never, cast

from autogen_nb import events
from autogen_nb.agents.chats import call_context, participant
from autogen_nb.agents.chats.call_context import UserCodeCall
from autogen_nb.agents.chats.participant import Participant, ask_model, model_request
from autogen_nb.agents.parts import code_execution, tool_use
from autogen_nb.agents.parts.agent_config import stop_unreachable_kernels
from autogen_nb.agents.parts.message_history import plain_message
from autogen_nb.agents.parts.reply_functions import ALL
from autogen_nb.core.ports import CodeQuestionAnswerer, Human, Model
from autogen_nb.errors import CallbackError, ConfigError
from autogen_nb.messages import Message
from autogen_nb.outputs import Stream
from autogen_nb.run import OnCaller, OnEngine, Waits, during, runtime_log, then

STATEFUL = (events.FunctionsReturned, events.Returned, events.SpeakerGiven)
"""The answers that can hold the state of a group."""


class QuestionHandler:
    def __init__(
        self,
        agents: Mapping[str, Participant],
        human: Human,
        *,
        waits: Waits,
        offsets: Mapping[str, int] | None = None,
        silent: bool = False,
    ) -> None:
        self._agents, self._human = agents, human
        self._waits, self._silent = waits, silent
        self._offsets: Mapping[str, int] = offsets or {}
        states = (agent.group_state for agent in agents.values() if agent.group_state is not None)
        self.group_state = next(states, None)
        self._known_state = "" if self.group_state is None else self.group_state.to_json()
        # Subclasses add the other calls.
        self._calls: dict[events.Callback, Callable[[events.Called], events.Answer | Awaitable[events.Answer]]] = {
            "is_termination_msg": self._is_termination,
            "generate_reply": self._reply,
            "send": self._pass_message,
            "receive": self._pass_message,
            "reply function": self._reply_function,
            "message hooks": self._hook_messages,
        }

    def answer_in_group(self, question: events.Question) -> OnCaller | OnEngine:
        """Answers a question in a group whose agents share a state."""
        answerer = self(question)
        return answerer if isinstance(answerer, OnEngine) else OnCaller(lambda: then(answerer.call(), self._with_state))

    def _with_state(self, answer: events.Answer) -> events.Answer:
        """The answer of the user's code, with the group's state if the code changed it."""
        assert self.group_state is not None
        state = self.group_state.to_json()
        if state == self._known_state or not isinstance(answer, STATEFUL):
            return answer
        self._known_state = state
        return replace(answer, state=state)

    def __call__(self, question: events.Question) -> OnCaller | OnEngine:  # noqa: C901  # one case for each question
        match question:
            case events.ModelAsked():
                return self._model(question)
            case events.CodeAsked():
                return self._code(question)
            case events.HumanInputAsked():
                return OnCaller(lambda: self._human_input(question))
            case events.ApprovalAsked():
                return OnCaller(lambda: self._human.approve(question))
            case events.EffectAsked():
                return OnCaller(lambda: cast("CodeQuestionAnswerer", self._human).allow(question))
            case events.CodeInputAsked():
                return OnCaller(lambda: cast("CodeQuestionAnswerer", self._human).typed(question))
            case events.FunctionsAsked():
                return OnCaller(lambda: self._functions(question))
            case events.Called():
                return OnCaller(partial(self._calls[question.function], question))
            case events.SpeakerAsked():
                # Only the flow of a `GroupChatManager` asks for a speaker.
                manager: Any = self._agents[question.agent]
                awaits, last_speaker = self._waits == "async", self._agents[question.last]
                choose = partial(manager.groupchat.choose, last_speaker, manager, awaits=awaits)
                return cast("OnCaller | OnEngine", manager.groupchat.answer(question, manager, choose, self._wrap))
            case events.SummaryAsked():
                return self._summarise()
            case _:
                assert_never(question)

    def _wrap(self, model: Model) -> Model:
        return model

    def _summarise(self) -> OnCaller | OnEngine:
        raise NotImplementedError("only a `TwoAgentChat` has a summary")

    def _model(self, question: events.ModelAsked) -> OnCaller | OnEngine:
        agent = self._agents[question.agent]
        if agent.model is None:
            raise ConfigError(f"{agent.name} has no model; give it an llm_config")
        messages = self._messages_for(question)
        if agent.group_state is not None or agent.message_updates:
            messages = agent.before_request(messages)
        request = model_request(agent, messages, calls=question.calls == "some")
        return OnEngine(partial(ask_model, self._wrap(agent.model), request, agent.name))

    def _messages_for(self, question: events.ModelAsked | events.Called) -> Sequence[Mapping[str, Any]]:
        agent, peer = self._pair(question.agent, question.peer)
        return agent.reply_messages(peer, question.count + self._offsets.get(agent.name, 0))

    def _code(self, question: events.CodeAsked) -> OnCaller | OnEngine:
        agent = self._agents[question.agent]
        config = agent.code
        assert config is not None
        if agent.overrides("execute_code_blocks") or agent.overrides("run_code"):
            return OnCaller(lambda: _run_overridden(agent, question))
        stop_unreachable_kernels(config.executor)
        return OnEngine(partial(code_execution.run_blocks, config, question, self._human))

    def _human_input(self, question: events.HumanInputAsked) -> events.Answer | Awaitable[events.Answer]:
        agent = self._agents[question.agent]
        if (own := agent.own_form("get_human_input", self._waits)) is not None:
            return then(
                own(question.prompt),
                # As in AutoGen 0.2, None counts as an empty text.
                lambda text: events.HumanInputGiven("" if text is None else str(text), by=agent.name),
            )
        ask = partial(self._human.input, question)
        return participant.answer_or_nobody(ask) if question.by_tool else ask()

    def _functions(self, question: events.FunctionsAsked) -> Any:
        agent, calls, outcomes = self._agents[question.agent], question.calls, list[Any]()
        if (own := agent.own_form("execute_function", self._waits)) is not None:
            outcomes += [own({"name": call.name, "arguments": call.arguments}) for call in calls]
        else:
            outcomes += [tool_use.call_function(agent.function_map, call.name, call.arguments) for call in calls]
        if any(isinstance(outcome, Awaitable) for outcome in outcomes):
            return _await_outcomes(agent.name, outcomes, is_message=own is not None)
        for call, outcome in zip(calls, outcomes, strict=True) if own is None else ():
            runtime_log.log_function_use(agent, call.name, {"arguments": call.arguments}, outcome[1])
        return _returned(agent.name, outcomes, is_message=own is not None)

    def _is_termination(self, question: events.Called) -> events.Returned:
        agent, message = self._agents[question.agent], self._messages_for(question)[-1]
        try:
            return events.Returned(decided=bool(cast("Any", agent.is_termination_msg)(message)))
        except Exception as error:
            raise CallbackError(
                f"is_termination_msg of {agent.name} raised {type(error).__name__} on the message "
                f"{message.get('content')!r}: {error}"
            ) from error

    def _reply(self, question: events.Called) -> events.Answer | Awaitable[events.Answer]:
        agent, peer = self._pair(question.agent, question.peer)

        def read(reply: Any, _: UserCodeCall) -> events.Returned:
            if reply is not None and not isinstance(reply, str | Mapping | Message):
                raise CallbackError(
                    f"generate_reply of {agent.name} returned {reply!r}; it must return a str, a dict or None"
                )
            messages = () if reply is None else (Message.of(reply),)
            return events.Returned(messages, auto_replies=agent.auto_replies.get(peer, 0))

        work = partial(self._method(agent, "generate_reply"), messages=agent.chat_messages[peer], sender=peer)
        return self._call("generate_reply", agent, peer, work, read)

    def _pass_message(self, question: events.Called) -> events.Answer | Awaitable[events.Answer]:
        """Calls an overridden ``send`` or ``receive``, with the arguments that AutoGen 0.2 gives it."""
        name: Literal["send", "receive"] = "send" if question.function == "send" else "receive"
        agent, peer = self._pair(question.agent, question.peer)
        work = partial(self._method(agent, name), plain_message(question.message or Message("")), peer)
        work = partial(work, silent=self._silent) if name == "send" else partial(work, None, self._silent)
        return self._call(name, agent, peer, work, _passed_messages)

    def _reply_function(self, question: events.Called) -> events.Answer | Awaitable[events.Answer]:
        agent, peer = self._pair(question.agent, question.peer)

        def read(reply: tuple[bool, Message | None], _: UserCodeCall) -> events.Returned:
            return events.Returned(() if reply[1] is None else (reply[1],), decided=reply[0])

        work = partial(agent.call_reply_function, question.number, peer, awaits=self._waits == "async")
        return self._call("reply function", agent, peer, work, read)

    def _hook_messages(self, question: events.Called) -> events.Returned:
        agent, peer = self._pair(question.agent, question.peer)
        offset = self._offsets.get(agent.name, 0)
        history = agent.chat_messages[peer][: question.count + offset]
        changed = agent.hooked_before_reply(history)
        # As in AutoGen 0.2, a hook's change of the last message stays in the history, unless `ALL` has hooks.
        lasting = not agent.hook_lists[ALL] and isinstance(changed[-1], Message)
        return events.Returned(tuple(_shift_ranges(changed, history, offset)), decided=lasting)

    def _call(
        self,
        method: call_context.Method,
        agent: Participant,
        peer: Participant,
        work: Callable[[], Any],
        read: Callable[[Any, UserCodeCall], events.Returned],
    ) -> events.Answer | Awaitable[events.Answer]:
        call = UserCodeCall(method, agent, peer, self._human, self._waits)
        replied_before = agent.replies_to(peer)

        def returned(result: Any) -> events.Returned:
            answer, replying = read(result, call), agent.replies_to(peer) or not replied_before
            is_plain = replying and not call.events
            return answer if is_plain else replace(answer, inner=tuple(call.events), replying=replying)

        async def wait(pending: Awaitable[Any]) -> events.Answer:
            with during(call_context.CALL, call):
                return returned(await pending)

        with during(call_context.CALL, call):
            result = work()
        return wait(result) if isinstance(result, Awaitable) else returned(result)

    def _pair(self, agent: str, peer: str) -> tuple[Participant, Participant]:
        return self._agents[agent], self._agents[peer]

    def _method(self, agent: Participant, name: str) -> Callable[..., Any]:
        return agent.own_form(name, self._waits) or cast("Callable[..., Any]", getattr(agent, name))


def _passed_messages(_: Any, call: UserCodeCall) -> events.Returned:
    """The messages that an overridden method has passed to ``super().send`` or ``super().receive``."""
    messages = call.messages if call.method == "send" else call.messages[-1:]
    request_reply = messages[-1][1] if messages else None
    return events.Returned(tuple(message for message, _ in messages), request_reply=request_reply)


def _run_overridden(agent: Participant, question: events.CodeAsked) -> events.CodeRan:
    started = time.monotonic()
    exit_code, log = agent.execute_code_blocks([(block.language, block.code) for block in question.blocks])[:2]
    outputs = (Stream("stdout", str(log)),) if log else ()
    return events.CodeRan(int(exit_code), outputs, len(question.blocks), seconds=time.monotonic() - started)


async def _await_outcomes(agent: str, outcomes: list[Any], *, is_message: bool) -> events.FunctionsReturned | OnEngine:
    async def outcome(each: Any) -> Any:
        return await each if isinstance(each, Awaitable) else each

    return _returned(agent, await asyncio.gather(*map(outcome, outcomes)), is_message=is_message)


def _returned(
    agent: str, outcomes: list[Any], *, is_message: bool, asked: tuple[events.Recorded, ...] = ()
) -> events.FunctionsReturned | OnEngine:
    if any(isinstance(outcome[1], tool_use.AskingCall) for outcome in outcomes):

        async def run(emit: Callable[[Any], None]) -> events.Answer:
            questions = code_execution.Questions(agent, emit, by_model=True)
            run_outcomes = [
                await each[1].run(questions) if isinstance(each[1], tool_use.AskingCall) else each for each in outcomes
            ]
            return cast("events.Answer", _returned(agent, run_outcomes, is_message=False, asked=questions.close()))

        return OnEngine(run)
    results = [outcome[1] for outcome in outcomes]
    texts = [str(result["content"] if is_message else tool_use.result_text(result)) for result in results]
    failed = tuple(index for index, (is_success, _) in enumerate(outcomes) if not is_success)
    inner = (message for result in results for message in getattr(result, "inner", ()))
    return events.FunctionsReturned(tuple(texts), failed, tuple(inner), asked=asked)


def _shift_ranges(
    messages: Sequence[events.Kept | Message], history: Sequence[Mapping[str, Any]], offset: int
) -> Iterator[events.Kept | Message]:
    for item in messages:
        if isinstance(item, Message):
            yield item
            continue
        yield from (Message.of(history[at]) for at in range(item.start, min(item.stop, offset)))
        if item.stop > offset:
            yield events.Kept(max(item.start, offset) - offset, item.stop - offset)
