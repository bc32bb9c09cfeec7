"""The tool `ask_person`: a model asks the person, in AutoGen 0.2's chats and in teams."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

from autogen_nb.agents.chats import call_context
from autogen_nb.agents.parts.callbacks import then
from autogen_nb.agents.parts.tool_use import ToolUser, register_function
from autogen_nb.core.chats.human_input import EXIT
from autogen_nb.core.chats.person_question import DESCRIPTION, NO_AUTHOR, NOBODY, SILENCE, CallAndAsk
from autogen_nb.core.chats.reply_steps import Step, generate_function_call_reply
from autogen_nb.errors import NobodyThere
from autogen_nb.events import HumanInputAsked, HumanInputGiven


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


def function_step(functions: Mapping[str, Callable[..., Any]]) -> Step:
    """The step that runs calls of an agent's functions; it passes calls of `ask_person` to the person as questions."""
    names = {name for name, function in functions.items() if getattr(function, "__wrapped__", function) is ask_person}
    return CallAndAsk(frozenset(names)) if names else generate_function_call_reply


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
