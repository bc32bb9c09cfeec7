"""The two agents of a task: an assistant that writes code, and a user proxy that runs it."""

from autogen_nb.agents.assistant import AssistantAgent
from autogen_nb.agents.parts.agent_config import CodeConfig
from autogen_nb.agents.user_proxy import UserProxyAgent
from autogen_nb.core.chats.human_input import Mode
from autogen_nb.core.chats.termination_checks import WithoutCode
from autogen_nb.core.ports import Model


def code_pair(
    role: str, model: Model, code: CodeConfig, max_turns: int, human_input: Mode = "NEVER"
) -> tuple[UserProxyAgent, AssistantAgent]:
    assistant = AssistantAgent("assistant", role, model, is_termination_msg=lambda _: False)
    user = UserProxyAgent(
        "user", WithoutCode(), max_turns - 1, human_input, code_execution_config=code, default_auto_reply=None
    )
    return user, assistant
