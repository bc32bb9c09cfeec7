"""The tool by which a model asks the person, for agents of AutoGen 0.2's kind and for teams."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

from autogen_nb.agents.chats import call_context
from autogen_nb.agents.parts.tool_use import ToolUser, register_function
from autogen_nb.core.chats.human_input import EXIT
from autogen_nb.core.chats.person_question import DESCRIPTION, NO_ONE, NOBODY, SILENCE, CallAndAsk
from autogen_nb.core.chats.reply_steps import Step, generate_function_call_reply
from autogen_nb.errors import NobodyThere
from autogen_nb.events import HumanInputAsked, HumanInputGiven


def ask_person(
    question: Annotated[str, "What you want to know, in plain words"],
    choices: Annotated[list[str] | None, "Answers to choose from; the person may also give another one"] = None,
) -> Any:
    """Asks the person you work for a question, and returns their answer.

    Registered like any other tool: ``register_function(ask_person, caller=assistant, executor=user,
    description=ask_person.__doc__)``. In a chat between agents the question and the answer are events of the chat.
    """
    asked = HumanInputAsked("", "", question, choices=tuple(choices or ()), by_tool=True)
    given = answer_or_nobody(lambda: call_context.current_human().input(asked))
    return _later(given) if isinstance(given, Awaitable) else _told(given)


def register_ask_person(caller: ToolUser, executor: ToolUser) -> None:
    """Lets the caller's model ask the person, through the executor."""
    register_function(ask_person, caller=caller, executor=executor, description=DESCRIPTION)


def function_step(functions: Mapping[str, Callable[..., Any]]) -> Step:
    """The step that calls an agent's functions; where this tool is among them, its calls ask the person."""
    asking = frozenset(name for name, each in functions.items() if getattr(each, "__wrapped__", each) is ask_person)
    return CallAndAsk(asking) if asking else generate_function_call_reply


def answer_or_nobody(
    ask: Callable[[], HumanInputGiven | Awaitable[HumanInputGiven]],
) -> HumanInputGiven | Awaitable[HumanInputGiven]:
    """The person's answer; where nobody is there, one that says so."""
    nobody = HumanInputGiven(NOBODY, by=NO_ONE)

    async def awaited(given: Awaitable[HumanInputGiven]) -> HumanInputGiven:
        try:
            return await given
        except NobodyThere:
            return nobody

    try:
        given = ask()
    except NobodyThere:
        return nobody
    return awaited(given) if isinstance(given, Awaitable) else given


async def _later(given: Awaitable[HumanInputGiven]) -> str:
    return _told(await given)


def _told(given: HumanInputGiven) -> str:
    return SILENCE if given.text in ("", EXIT) else given.text
