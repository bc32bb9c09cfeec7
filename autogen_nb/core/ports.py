"""What the layers above must bring: protocols of one to three methods, and the values they exchange."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.effects import Effect, EffectJudged, Permissions
from autogen_nb.messages import CodeBlock, Message, Reasoning, Usage
from autogen_nb.outputs import Output


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a model is asked."""

    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]] = ()
    functions: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's whole reply; `usage` is None where the server did not say, `cost` (dollars) where it is not known.

    `cached` tells that it came from a cache; `note` is what the person must be told of how it was got; `host` is the
    server that was asked, "" where none was; `reasoning` is what the model thought, as far as it was told.
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
    """The server is asked again after a pause, and why; "" once it is."""

    why: str


Part: TypeAlias = str | Reasoning | Waiting | Completion
"""What a reply comes in: pauses before anything came, pieces of text and of reasoning, then the whole."""


class Model(Protocol):
    """Something that continues a conversation."""

    @property
    def name(self) -> str:
        """How the model is named to a person."""

    def reply(self, request: ModelRequest) -> AsyncIterator[Part]:
        """Pieces of thought and of text as they come, then exactly one `Completion`, which is the last item."""


@dataclass(frozen=True, slots=True)
class RunEnded:
    """How a run of code blocks ended."""

    exit_code: int
    ran: int
    note: str = ""


class Executor(Protocol):
    """Something that runs code blocks."""

    def run(self, blocks: Sequence[CodeBlock]) -> AsyncIterator[Output | RunEnded]:
        """Outputs as they come, then exactly one `RunEnded`; blocks after a failed one do not run."""

    async def stop(self) -> None:
        """Ends what the executor holds (a kernel, a container); it may be called twice."""


class Inquirer(Protocol):
    """Takes what code asks while it runs to whoever answers it; called on the engine's loop."""

    async def allow(self, effect: Effect, line: str) -> EffectJudged:
        """Whether the code may do this; `line` is where it waits, as far as that is known."""

    async def typed(self, prompt: str, password: bool) -> str | None:
        """What somebody types for the code; None ends its input."""


class AttendedExecutor(Executor, Protocol):
    """An executor whose code may ask while it runs."""

    def attended(
        self,
        blocks: Sequence[CodeBlock],
        inquirer: Inquirer | None,
        permissions: Permissions | None = None,
        scope: PathScope | None = None,
        timeout: float | None = None,
    ) -> AsyncIterator[Output | RunEnded]:
        """What `run` gives, with somebody there to ask, unless that is None."""
