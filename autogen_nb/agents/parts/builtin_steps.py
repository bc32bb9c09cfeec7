"""An agent's own steps, one by one, as AutoGen 0.2 names them: to be called, left out, replaced or registered again."""

# ruff: noqa: ARG002 - AutoGen 0.2 passes a config to every reply function

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from autogen_nb import run
from autogen_nb.agents.parts.agent import Agent

if TYPE_CHECKING:
    from autogen_nb.agents.conversable import ConversableAgent

BuiltinStep: TypeAlias = Literal["termination", "functions", "code", "model", "group"]
Messages: TypeAlias = Sequence[Mapping[str, Any]] | None
Said: TypeAlias = tuple[bool, str | dict[str, Any] | None]


class BuiltinReplySteps(Agent):
    """Each step says whether it has a final reply, and which; `config` is accepted and not used."""

    def check_termination_and_human_reply(
        self, messages: Messages = None, sender: Any = None, config: Any = None
    ) -> Said:
        """The step that ends a chat, or asks a person."""
        return run.unsuspended(_step(self, "termination", messages, sender))

    def generate_function_call_reply(self, messages: Messages = None, sender: Any = None, config: Any = None) -> Said:
        """The step that calls the function that a message asks for."""
        return run.unsuspended(_step(self, "functions", messages, sender))

    def generate_tool_calls_reply(self, messages: Messages = None, sender: Any = None, config: Any = None) -> Said:
        """The step that calls the tools that a message asks for."""
        return run.unsuspended(_step(self, "functions", messages, sender))

    def generate_code_execution_reply(self, messages: Messages = None, sender: Any = None, config: Any = None) -> Said:
        """The step that runs the code of a message."""
        return run.unsuspended(_step(self, "code", messages, sender))

    def generate_oai_reply(self, messages: Messages = None, sender: Any = None, config: Any = None) -> Said:
        """The step that asks the agent's model."""
        return run.unsuspended(_step(self, "model", messages, sender))

    async def a_generate_oai_reply(self, messages: Messages = None, sender: Any = None, config: Any = None) -> Said:
        """The same, awaited."""
        return await _step(self, "model", messages, sender, "async")


async def _step(
    agent: BuiltinReplySteps, builtin_step: BuiltinStep, messages: Messages, sender: Any, waits: run.Waits = "sync"
) -> Said:
    from autogen_nb.agents.chats import single_messages

    return await single_messages.own_step(cast("ConversableAgent", agent), builtin_step, messages, sender, waits)


_NAMES: Mapping[str, BuiltinStep] = {
    "check_termination_and_human_reply": "termination",
    "generate_function_call_reply": "functions",
    "generate_tool_calls_reply": "functions",
    "generate_code_execution_reply": "code",
    "generate_oai_reply": "model",
    "a_generate_oai_reply": "model",
}


def builtin_step(function: Callable[..., Any]) -> BuiltinStep | None:
    """Which of an agent's own steps a method is; None where it is another function."""
    name = getattr(function, "__name__", "")
    mine = vars(BuiltinReplySteps).get(name)
    return _NAMES.get(name) if mine is not None and getattr(function, "__func__", function) is mine else None
