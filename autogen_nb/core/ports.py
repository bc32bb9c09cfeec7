"""Protocols that the upper layers implement, and the values that they exchange."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.effects import Effect, EffectJudged, Permissions
from autogen_nb.messages import CodeBlock, Message, Reasoning, Usage
from autogen_nb.outputs import Output


@dataclass(frozen=True, slots=True)
class ModelRequest:
    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]] = ()
    functions: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class Completion:
    """A complete reply of a model; `usage` and `cost` (in dollars) are None if they are unknown.

    `note` tells the person something about the request; `host` is the server, or "" without a server.
    """

    message: Message
    model: str
    usage: Usage | None = None
    finish_reason: str = "stop"
    cost: float | None = None
    cached: bool = False
    note: str = ""
    host: str = ""
    reasoning: Reasoning | None = None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A pause before the next request to the server; `why` is "" when the pause ends."""

    why: str


Part: TypeAlias = str | Reasoning | Waiting | Completion
"""An item of a streamed reply: pauses first, then pieces of text and reasoning, then the complete reply."""


class Model(Protocol):
    @property
    def name(self) -> str:
        """The name to show to a person."""

    def reply(self, request: ModelRequest) -> AsyncIterator[Part]:
        """Yields pieces of reasoning and text as they arrive, then exactly one `Completion`."""


@dataclass(frozen=True, slots=True)
class RunEnded:
    exit_code: int
    ran: int
    note: str = ""


class Executor(Protocol):
    def run(self, blocks: Sequence[CodeBlock]) -> AsyncIterator[Output | RunEnded]:
        """Yields outputs as they arrive, then exactly one `RunEnded`; a failed block ends the run."""

    async def stop(self) -> None:
        """Releases the kernel or container; repeated calls do nothing."""


class Inquirer(Protocol):
    """Passes the questions of running code to a person; its methods run on the engine's loop."""

    async def allow(self, effect: Effect, line: str) -> EffectJudged:
        """Decides about an effect; `line` is the line of code that waits for the decision, if known."""

    async def typed(self, prompt: str, password: bool) -> str | None:
        """Returns what the person types; None closes the code's input."""


class AttendedExecutor(Executor, Protocol):
    """An executor whose code may ask questions while it runs."""

    def attended(
        self,
        blocks: Sequence[CodeBlock],
        inquirer: Inquirer | None,
        permissions: Permissions | None = None,
        scope: PathScope | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[Output | RunEnded]:
        """Runs blocks like `run`; `inquirer` receives the questions, or is None if nobody can answer."""
