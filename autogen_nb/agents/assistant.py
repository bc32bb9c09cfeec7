"""The agent that thinks."""

from typing import Any

from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.agents.prompts import ASSISTANT


class AssistantAgent(ConversableAgent):
    """An agent that writes code and words with a model, runs nothing and asks nobody.

    The parameters are those of `ConversableAgent`, in AutoGen 0.2's order and with its defaults for an assistant.
    """

    DEFAULT_SYSTEM_MESSAGE = ASSISTANT

    def __init__(
        self,
        name: str,
        system_message: str | list[str] | None = ASSISTANT,
        llm_config: Any = None,
        is_termination_msg: Any = None,
        max_consecutive_auto_reply: int | None = None,
        human_input_mode: str = "NEVER",
        description: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            name,
            system_message,
            is_termination_msg,
            max_consecutive_auto_reply,
            human_input_mode,
            llm_config=llm_config,
            description=description,
            **kwargs,
        )
