"""The agent that stands for a person."""

from collections.abc import Callable, Mapping
from typing import Any

from autogen_nb.agents.conversable import ConversableAgent


class UserProxyAgent(ConversableAgent):
    """An agent that runs code, calls functions and gives the word to a person; it has no model unless told.

    The parameters are those of `ConversableAgent`, in AutoGen 0.2's order and with its defaults for a user proxy.
    """

    def __init__(
        self,
        name: str,
        is_termination_msg: Any = None,
        max_consecutive_auto_reply: int | None = None,
        human_input_mode: str = "ALWAYS",
        function_map: Mapping[str, Callable[..., Any]] | None = None,
        code_execution_config: Any = None,
        default_auto_reply: str | dict[str, Any] | None = "",
        llm_config: Any = False,
        system_message: str | list[str] | None = "",
        description: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            name,
            system_message,
            is_termination_msg,
            max_consecutive_auto_reply,
            human_input_mode,
            function_map,
            code_execution_config,
            llm_config,
            default_auto_reply,
            description,
            **kwargs,
        )
