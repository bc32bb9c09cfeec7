"""`UserProxyAgent`: represents a person."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from autogen_nb.agents.conversable import ConversableAgent, TerminationTest
from autogen_nb.agents.handoffs.conditions import Handoffs
from autogen_nb.agents.parts.context_variables import ContextVariables
from autogen_nb.core.chats.team_replies import AskPerson, Respond, RunLast, Think
from autogen_nb.errors import ConfigError


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
        ask_person = AskPerson("Your words to the team: ")
        if not self._runs_code or self.code is None:
            return ask_person if self.model is None else Think()
        otherwise = ask_person if self.input_func is not None else None
        return RunLast(self.code.step, otherwise)
