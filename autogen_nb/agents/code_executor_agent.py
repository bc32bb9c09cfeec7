"""`CodeExecutorAgent`: the team member that runs code."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.agents.parts.agent import call_user_code
from autogen_nb.agents.parts.agent_config import CodeConfig
from autogen_nb.agents.parts.prompts import ASSISTANT
from autogen_nb.core.chats.team_flow import Respond, RunLast, WriteAndRun
from autogen_nb.effects import Confirm
from autogen_nb.errors import CallbackError, ConfigError
from autogen_nb.events import ApprovalAsked, ApprovalGiven


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A block of code that is about to run, and the earlier messages of the team."""

    code: str
    context: Sequence[Mapping[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ApprovalResponse:
    """The decision on an `ApprovalRequest`, and its reason."""

    approved: bool
    reason: str = ""


class CodeExecutorAgent(ConversableAgent):
    """An agent that runs the code of the latest message with code, or the code of its own model.

    Parameters
    ----------
    code_executor
        The executor that runs the code.
    model_client
        A model that writes code. The agent runs the code at once, and the model then reports the outcome to the team.
    max_retries_on_error
        The maximum number of times that the model rewrites failing code.
    approval_func
        A sync or async function that takes an `ApprovalRequest` before each block, and returns an `ApprovalResponse`.
    sources
        Without `model_client`, the names of the agents whose code this agent runs; None for all agents.
    model_client_stream
        Whether `run_stream` yields pieces of the replies as they arrive.
    confirm
        When the agent asks a person before code runs: "never", "risky", "always".
    """

    def __init__(
        self,
        name: str,
        code_executor: Any,
        *,
        model_client: Any = None,
        max_retries_on_error: int = 0,
        approval_func: Callable[..., Any] | None = None,
        sources: Sequence[str] | None = None,
        description: str = "Runs the code of the other agents and reports the output.",
        system_message: str | None = ASSISTANT,
        model_client_stream: bool = False,
        confirm: Confirm = "never",
    ) -> None:
        if max_retries_on_error < 0:
            raise ConfigError(f"max_retries_on_error is {max_retries_on_error!r}; it must be 0 or more")
        super().__init__(
            name,
            system_message,
            human_input_mode="NEVER",
            code_execution_config=CodeConfig(code_executor, confirm=confirm),
            llm_config=model_client or False,
            description=description,
        )
        self.streams = model_client_stream
        self._approval = approval_func
        self._retries = max_retries_on_error
        self._sources = None if sources is None else frozenset(sources)
        if approval_func is not None:
            self.judge = self._judge

    def team_step(self) -> Respond:
        assert self.code is not None
        # `self.code.confirm` includes the organisation's policy, which may be stricter than the argument.
        confirm = self.code.confirm if self._approval is None else "always"
        if self.model is not None:
            return WriteAndRun(replace(self.code.step, confirm=confirm), self._retries)
        return RunLast(replace(self.code.step, confirm=confirm, sources=self._sources))

    def _judge(
        self, question: ApprovalAsked, context: Sequence[Mapping[str, Any]]
    ) -> ApprovalGiven | Awaitable[ApprovalGiven]:
        assert self._approval is not None
        approve, request = self._approval, ApprovalRequest(question.block.code, context)

        def read(response: Any) -> ApprovalGiven:
            approved = getattr(response, "approved", None)
            if not isinstance(approved, bool):
                raise CallbackError(
                    f"approval_func of {self.name} returned {response!r}; it must return an ApprovalResponse"
                )
            reason = str(getattr(response, "reason", ""))
            return ApprovalGiven("run" if approved else "skip", reason=reason, by="approval_func")

        return call_user_code(lambda: approve(request), f"approval_func of {self.name}", read)
