"""Protocols that the upper layers implement: `Model`, `Executor`, `Inquirer`, and `Human`."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.effects import Effect, EffectJudged, Permissions
from autogen_nb.messages import CodeBlock, Completion, Reasoning
from autogen_nb.outputs import Output

if TYPE_CHECKING:
    from autogen_nb.events import (
        ApprovalAsked,
        ApprovalGiven,
        CodeInputAsked,
        CodeInputGiven,
        EffectAsked,
        HumanInputAsked,
        HumanInputGiven,
    )


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a model is asked; if `may_call` is False, the model sees the tools, but must answer in words."""

    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]] = ()
    functions: Sequence[Mapping[str, Any]] = ()
    may_call: bool = True


@dataclass(frozen=True, slots=True)
class Retry:
    """The next retry of a request: the reason, the seconds to wait, and the HTTP status of the failed response."""

    reason: str
    wait: float
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """A server of one's own has a long prompt, of about this number of tokens, to read before it can reply."""

    host: str
    tokens: int


Notice: TypeAlias = Retry | Reading
"""What precedes a reply."""

Part: TypeAlias = str | Reasoning | Notice | Completion
"""An item of a streamed reply: notices first, then pieces of text and reasoning, then the complete reply."""


class Model(Protocol):
    @property
    def name(self) -> str:
        """The model's name, as a person sees it."""

    def reply(self, request: ModelRequest) -> AsyncIterator[Part]:
        """Yields the parts of the reply; the last part, and only the last, is a `Completion`."""


@dataclass(frozen=True, slots=True)
class RunEnded:
    exit_code: int
    ran: int
    note: str = ""
    changes: str = ""


class Executor(Protocol):
    def run(self, blocks: Sequence[CodeBlock]) -> AsyncIterator[Output | RunEnded]:
        """Yields outputs as they arrive, then one `RunEnded`; the run ends after the first failed block."""

    async def stop(self) -> None:
        """Releases the kernel or container; callers may call it more than once."""


class Inquirer(Protocol):
    """Passes the questions of running code to a person, on the event loop of `autogen_nb.engine`."""

    async def allow(self, effect: Effect, line: str = "") -> EffectJudged:
        """Returns the decision about an effect; `line` is the waiting call, or "" if it is unknown."""

    async def typed(self, prompt: str, password: bool) -> str | None:
        """Returns the person's input, or None at the end of the input."""


class AttendedExecutor(Executor, Protocol):
    async def attended(
        self,
        blocks: Sequence[CodeBlock],
        emit: Callable[[Output], Awaitable[object] | None],
        inquirer: Inquirer | None = None,
        permissions: Permissions | None = None,
        scope: PathScope | None = None,
        timeout: float | None = None,  # noqa: ASYNC109  # the code is interrupted, not this coroutine
    ) -> RunEnded:
        """Runs blocks like `run`, but passes outputs to `emit`, and the questions of the code to `inquirer`."""


class Human(Protocol):
    def input(self, question: "HumanInputAsked") -> "HumanInputGiven | Awaitable[HumanInputGiven]": ...

    def approve(self, question: "ApprovalAsked") -> "ApprovalGiven | Awaitable[ApprovalGiven]": ...


class CodeQuestionAnswerer(Protocol):
    """Answers the questions of running code; a `Human` may implement this protocol, too."""

    def allow(self, question: "EffectAsked") -> "EffectJudged | Awaitable[EffectJudged]": ...

    def typed(self, question: "CodeInputAsked") -> "CodeInputGiven | Awaitable[CodeInputGiven]": ...
