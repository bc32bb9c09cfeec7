"""The two agents of a task: an assistant that writes code, and a user proxy that runs it."""

from collections.abc import Iterable

from autogen_nb.agents.assistant import AssistantAgent
from autogen_nb.agents.parts.agent_config import CodeConfig
from autogen_nb.agents.user_proxy import UserProxyAgent
from autogen_nb.core.chats.human_input import Mode
from autogen_nb.core.chats.termination_checks import END_WORD, has_no_code, without
from autogen_nb.core.ports import Model
from autogen_nb.events import Recorded, Said


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
