"""The agents that run code: `UserProxyAgent`, which represents a person, and `CodeExecutorAgent`.

For a task, an assistant writes the code that a user proxy runs.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from autogen_nb.agents.assistant import AssistantAgent
from autogen_nb.agents.conversable import ConversableAgent, TerminationTest
from autogen_nb.agents.parts.agent import call_user_code
from autogen_nb.agents.parts.agent_config import CodeConfig
from autogen_nb.agents.parts.handoffs import ContextVariables, Handoffs
from autogen_nb.agents.parts.prompts import ASSISTANT
from autogen_nb.core.chats.team_flow import Respond, RunLast, Think, WriteAndRun, ask_user
from autogen_nb.core.chats.termination_checks import END_WORD, Mode, has_no_code, without
from autogen_nb.core.ports import Model
from autogen_nb.effects import Confirm
from autogen_nb.errors import CallbackError, ConfigError
from autogen_nb.events import ApprovalAsked, ApprovalGiven, Recorded, Said


class UserProxyAgent(ConversableAgent):
    """An agent that runs code, calls functions and asks a person; it has no model by default.

    The other parameters are those of `ConversableAgent`, in AutoGen 0.2's order and with its defaults for a user proxy.
    In a team, the agent asks its model if it has one, or else the person. With a `code_execution_config`, it instead
    runs the code of the last messages. If they have none, it calls `input_func`, or else reports that there is no code.

    Parameters
    ----------
    input_func
        A sync or async function that asks the person. It takes a prompt and optionally a cancellation token, and
        returns the answer.
    """

    DEFAULT_USER_PROXY_AGENT_DESCRIPTIONS: ClassVar[dict[str, str]] = {
        "ALWAYS": "A person who answers questions about the task, and can run code and report its output.",
        "TERMINATE": "A user who can run Python and shell code and report its output.",
        "NEVER": "A program that only runs the Python and shell code blocks of messages and reports their output.",
    }

    def __init__(
        self,
        name: str,
        is_termination_msg: TerminationTest | None = None,
        max_consecutive_auto_reply: int | None = None,
        human_input_mode: str = "ALWAYS",
        function_map: Mapping[str, Callable[..., Any]] | None = None,
        code_execution_config: Any = None,
        default_auto_reply: str | dict[str, Any] | None = "",
        llm_config: Any = False,
        system_message: str | list[str] | None = "",
        description: str | None = None,
        *,
        input_func: Callable[..., Any] | None = None,
        chat_messages: Mapping[ConversableAgent, list[dict[str, Any]]] | None = None,
        silent: bool | None = None,
        context_variables: ContextVariables | None = None,
        functions: Any = (),
        update_agent_state_before_reply: Any = None,
        handoffs: Handoffs | None = None,
    ) -> None:
        if input_func is not None and not callable(input_func):
            raise ConfigError(f"input_func is {input_func!r}; give a function that takes a prompt and returns a text")
        if description is None:
            description = self.DEFAULT_USER_PROXY_AGENT_DESCRIPTIONS.get(human_input_mode)
        super().__init__(
            name,
            system_message=system_message,
            is_termination_msg=is_termination_msg,
            max_consecutive_auto_reply=max_consecutive_auto_reply,
            human_input_mode=human_input_mode,
            function_map=function_map,
            code_execution_config=code_execution_config,
            llm_config=llm_config,
            default_auto_reply=default_auto_reply,
            description=description,
            chat_messages=chat_messages,
            silent=silent,
            context_variables=context_variables,
            functions=functions,
            update_agent_state_before_reply=update_agent_state_before_reply,
            handoffs=handoffs,
        )
        self.input_func = input_func
        self._runs_code = code_execution_config is not None and self.code is not None

    def team_step(self) -> Respond:
        if not self._runs_code or self.code is None:
            return ask_user if self.model is None else Think()
        return RunLast(self.code.step, ask_user if self.input_func is not None else None)


def last_answer(log: Iterable[Recorded]) -> str:
    """The assistant's last message, without `END_WORD`; "" if there is no message."""
    texts = [event.message.text for event in log if isinstance(event, Said) and event.sender == "assistant"]
    return without(END_WORD, texts[-1]) if texts else ""


def code_pair(
    role: str, model: Model, code: CodeConfig, max_turns: int, human_input: Mode = "NEVER"
) -> tuple[UserProxyAgent, AssistantAgent]:
    assistant = AssistantAgent("assistant", role, model, is_termination_msg=lambda _: False)
    user = UserProxyAgent(
        "user", has_no_code, max_turns - 1, human_input, code_execution_config=code, default_auto_reply=None
    )
    return user, assistant


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
        self._approval, self._retries = approval_func, max_retries_on_error
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
