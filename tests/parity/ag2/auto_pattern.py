"""The manager's model chooses who speaks; the chat ends with the person's word."""

import os
from typing import Any

from autogen import ConversableAgent, LLMConfig
from autogen.agentchat import initiate_group_chat
from autogen.agentchat.group.patterns import AutoPattern

from tests.parity.recorded import history

SCRIPT = {
    "chooser": ["taster", "person"],
    "baker": ["I bake a rye loaf."],
    "taster": ["It is too salty."],
}
ANSWERS = ["exit"]
OWN, MARKS = ["Read the ", "You are in a role play"], ["baker", "taster", "person"]


def config(who):
    return LLMConfig({"model": "gpt-4o", "api_key": f"sk-{who}", "base_url": os.environ["MODEL_URL"]}, cache_seed=None)


def main() -> Any:
    baker, taster = (
        ConversableAgent(n, llm_config=config(n), system_message=f"You are the {n}.", human_input_mode="NEVER")
        for n in ("baker", "taster")
    )
    person = ConversableAgent("person", llm_config=False, human_input_mode="ALWAYS")
    pattern = AutoPattern(
        initial_agent=baker,
        agents=[baker, taster],
        user_agent=person,
        group_manager_args={"llm_config": config("chooser")},
    )
    result, variables, last = initiate_group_chat(pattern=pattern, messages="A loaf, please.", max_rounds=6)
    return {"chat": [history(result.chat_history), result.summary], "variables": variables.to_dict(), "last": last.name}
