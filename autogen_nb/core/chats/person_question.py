"""The tool by which a model asks the person: the question goes to the person, and the answer is the tool's result."""

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
    answered_by,
    ask,
)
from autogen_nb.core.text.visible_text import visible
from autogen_nb.events import FunctionsAsked, FunctionsReturned, HumanInputAsked, HumanInputGiven
from autogen_nb.messages import FunctionCall

NAME = "ask_person"
DESCRIPTION = (
    "Asks the person you work for a question, and returns their answer. Use it where only they can know or decide, "
    "and not for what you can find out yourself."
)
NOBODY = "Nobody is there to answer. Go on with what seems best to you, and say what you assumed."
"""What the model reads where there is no person."""
SILENCE = "The person gave no answer. Go on with what seems best to you, and say what you assumed."
NO_ONE = "nobody"
"""By whom that is said."""
_MOST = 20
"""Choices that one question may have."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a call of the tool asks the person."""

    question: str
    choices: tuple[str, ...] = ()


def read_question(arguments: str) -> Wanted | str:
    """What the JSON of a call asks, or why it cannot be asked, as the model reads it."""
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError) as error:
        return f"Error: the arguments of {NAME!r} are not JSON: {error}"
    question = given.get("question") if isinstance(given, dict) else None
    if not isinstance(question, str) or not question.strip():
        return f"Error: {NAME!r} needs a question, as text"
    choices = given.get("choices") or []
    if not isinstance(choices, list) or not all(isinstance(each, str) and each.strip() for each in choices):
        return "Error: choices is a list of texts"
    if len(choices) > _MOST:
        return f"Error: there are {len(choices)} choices, and {_MOST} are the most"
    return Wanted(question.strip(), tuple(dict.fromkeys(each.strip() for each in choices)))


@dataclass(frozen=True, slots=True)
class CallAndAsk:
    """The step that calls the tools that the last message asks for; calls of these names ask the person."""

    names: frozenset[str]

    def __call__(self, state: ConversationState, spec: AgentSpec, peer: str) -> Asking[Outcome]:
        """The results in the order of the calls; None where there are none."""
        message = state.last(spec.name, peer)
        others = tuple(call for call in message.calls if call.name not in self.names)
        returned: Sequence[str] = ()
        if others:
            returned = (yield from ask(FunctionsAsked(spec.name, others), FunctionsReturned)).contents
        results, contents = iter(returned), []
        for call in message.calls:
            result = (yield from _asked(call, spec, peer)) if call.name in self.names else next(results)
            if result is None:
                return Stop("exit")
            contents.append(result)
        return Reply(answered_by(message, contents)) if contents else None


def _asked(call: FunctionCall, spec: AgentSpec, peer: str) -> Asking[str | None]:
    """The person's answer as the tool's result; None where they end the chat."""
    asked = read_question(call.arguments)
    if isinstance(asked, str):
        return asked
    prompt = f"{peer} asks: {visible(asked.question)}"
    question = HumanInputAsked(spec.name, peer, prompt, choices=asked.choices, by_tool=True)
    given = yield from ask(question, HumanInputGiven)
    if given.text == EXIT:
        return None
    return given.text or SILENCE
