"""The tool with which a model asks the person a question; the tool's result is the answer."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from autogen_nb.core.chats.human_input import EXIT
from autogen_nb.core.chats.reply_steps import (
    AgentSpec,
    Asking,
    ConversationState,
    Outcome,
    Reply,
    Stop,
    ask,
    tool_result_message,
)
from autogen_nb.core.text.visible_text import visible
from autogen_nb.events import FunctionsAsked, FunctionsReturned, HumanInputAsked, HumanInputGiven
from autogen_nb.messages import FunctionCall

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
        others = tuple(call for call in message.calls if call.name not in self.names)
        returned: Sequence[str] = ()
        if others:
            answer = yield from ask(FunctionsAsked(spec.name, others), FunctionsReturned)
            if answer.is_stopped:
                return Stop("stopped")
            returned = answer.contents
        results, contents = iter(returned), []
        for call in message.calls:
            result = (yield from _ask_person(call, spec, peer)) if call.name in self.names else next(results)
            if result is None:
                return Stop("exit")
            contents.append(result)
        return Reply(tool_result_message(message, contents)) if contents else None


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
