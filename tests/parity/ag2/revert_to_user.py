"""A model's function gives the word back to the person; after the person, the agent before goes on."""

from autogen import ConversableAgent
from autogen.agentchat import initiate_group_chat
from autogen.agentchat.group import AgentTarget, OnCondition, RevertToUserTarget, StringLLMCondition, TerminateTarget
from autogen.agentchat.group.patterns import DefaultPattern

from tests.parity.ag2 import agent
from tests.parity.recorded import calls, history

SCRIPT = {
    "tailor": [
        calls(("t1", "transfer_to_revert_to_user_1", {})),
        "Blue it is.",
        calls(("t2", "transfer_to_presser_2", {})),
    ],
    "presser": ["Pressed."],
}
ANSWERS = ["Blue, please.", "And press it."]
OWN, MARKS = ["Revert to User", "Transfer to "], []


def main():
    tailor, presser = agent("tailor"), agent("presser")
    guest = ConversableAgent("guest", llm_config=False, human_input_mode="ALWAYS")
    tailor.handoffs.add_llm_conditions(
        [
            OnCondition(target=RevertToUserTarget(), condition=StringLLMCondition(prompt="The colour is not clear.")),
            OnCondition(target=AgentTarget(presser), condition=StringLLMCondition(prompt="The coat is to be pressed.")),
        ]
    )
    tailor.handoffs.set_after_work(RevertToUserTarget())
    presser.handoffs.set_after_work(TerminateTarget())
    pattern = DefaultPattern(initial_agent=tailor, agents=[tailor, presser], user_agent=guest)
    result, variables, last = initiate_group_chat(pattern=pattern, messages="A coat, please.", max_rounds=14)
    return {"chat": [history(result.chat_history), result.summary], "last": last.name}
