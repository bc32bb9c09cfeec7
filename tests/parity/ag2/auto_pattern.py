"""The manager's model chooses who speaks; the chat ends with the person's word."""

from autogen import ConversableAgent
from autogen.agentchat import initiate_group_chat
from autogen.agentchat.group.patterns import AutoPattern

from tests.parity.ag2 import agent, config, told

SCRIPT = {
    "chooser": ["taster", "person"],
    "baker": ["I bake a rye loaf."],
    "taster": ["It is too salty."],
}
ANSWERS = ["exit"]
OWN, MARKS = ["Read the ", "You are in a role play"], ["baker", "taster", "person"]


def main():
    baker, taster = agent("baker"), agent("taster")
    person = ConversableAgent("person", llm_config=False, human_input_mode="ALWAYS")
    pattern = AutoPattern(
        initial_agent=baker,
        agents=[baker, taster],
        user_agent=person,
        group_manager_args={"llm_config": config("chooser")},
    )
    return told(*initiate_group_chat(pattern=pattern, messages="A loaf, please.", max_rounds=6))
