"""The built-in steps to a reply, as AutoGen 0.2 names them: to be called, left out, replaced or registered again."""

# ruff: noqa: ARG002 - AutoGen 0.2 passes a config to every reply function

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from autogen_nb import run
from autogen_nb.agents.parts.agent import Agent

BuiltinStep: TypeAlias = Literal["termination", "functions", "code", "model", "group"]
Messages: TypeAlias = Sequence[Mapping[str, Any]] | None
StepReply: TypeAlias = tuple[bool, str | dict[str, Any] | None]


class BuiltinReplySteps(Agent):
    """Each step says whether it has a final reply, and which; `config` is accepted and not used."""

    async def take_step(self, step: BuiltinStep, messages: Messages, sender: Any, waits: run.Waits) -> StepReply:
        """Takes one of the agent's own steps; an agent that has none of it says nothing."""
        raise NotImplementedError

    def check_termination_and_human_reply(
        self, messages: Messages = None, sender: Any = None, config: Any = None
    ) -> StepReply:
        """The step that ends a chat, or asks a person."""
        return run.unsuspended(self.take_step("termination", messages, sender, "sync"))

    def generate_function_call_reply(
        self, messages: Messages = None, sender: Any = None, config: Any = None
    ) -> StepReply:
        """The step that calls the function that a message asks for."""
        return run.unsuspended(self.take_step("functions", messages, sender, "sync"))

    def generate_tool_calls_reply(self, messages: Messages = None, sender: Any = None, config: Any = None) -> StepReply:
        """The step that calls the tools that a message asks for."""
        return run.unsuspended(self.take_step("functions", messages, sender, "sync"))

    def generate_code_execution_reply(
        self, messages: Messages = None, sender: Any = None, config: Any = None
    ) -> StepReply:
        """The step that runs the code of a message."""
        return run.unsuspended(self.take_step("code", messages, sender, "sync"))

    def generate_oai_reply(self, messages: Messages = None, sender: Any = None, config: Any = None) -> StepReply:
        """The step that asks the agent's model."""
        return run.unsuspended(self.take_step("model", messages, sender, "sync"))

    async def a_generate_oai_reply(
        self, messages: Messages = None, sender: Any = None, config: Any = None
    ) -> StepReply:
        """The same, awaited."""
        return await self.take_step("model", messages, sender, "async")


_NAMES: Mapping[str, BuiltinStep] = {
    "check_termination_and_human_reply": "termination",
    "generate_function_call_reply": "functions",
    "generate_tool_calls_reply": "functions",
    "generate_code_execution_reply": "code",
    "generate_oai_reply": "model",
    "a_generate_oai_reply": "model",
}


def builtin_step(function: Callable[..., Any]) -> BuiltinStep | None:
    """Which of the built-in steps a method is; None where it is another function."""
    name = getattr(function, "__name__", "")
    mine = vars(BuiltinReplySteps).get(name)
    return _NAMES.get(name) if mine is not None and getattr(function, "__func__", function) is mine else None
