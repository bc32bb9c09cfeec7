"""Magentic-One: the work stalls, facts and plan are made anew, and the rounds come to their end."""
import json
import os

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.teams import MagenticOneGroupChat
from autogen_ext.models.openai import OpenAIChatCompletionClient
from tests.parity.recorded import told


def ledger(done, speaker, instruction, progress=True, loop=False):
    entry = lambda answer: {"reason": "so it is", "answer": answer}
    return json.dumps({
        "is_request_satisfied": entry(done), "is_in_loop": entry(loop), "is_progress_being_made": entry(progress),
        "next_speaker": entry(speaker), "instruction_or_question": entry(instruction),
    })


SCRIPT = {
    "boss": [
        "FACT: none.", "PLAN: dig.", ledger(False, "digger", "Dig."), ledger(False, "digger", "Dig on.", progress=False),
        ledger(False, "digger", "Dig deeper.", loop=True), "FACT: the ground is rock.", "PLAN: drill.",
        ledger(False, "digger", "Drill."), "No water was found.",
    ],
    "digger": ["I dug.", "I dug on.", "I drilled."],
}
OWN = ["pre-survey", "Fantastic", "Recall we", "We are working", "We have completed", "As a reminder", "what went wrong"]
MARKS = ["Find water.", "digger", "FACT: none.", "PLAN: dig.", "FACT: the ground is rock.", "PLAN: drill."]


def client(name):
    return OpenAIChatCompletionClient(model="gpt-4o", api_key=f"sk-{name}", base_url=os.environ["MODEL_URL"])


async def main():
    digger = AssistantAgent("digger", model_client=client("digger"), system_message="You dig.", description="The digger.")
    team = MagenticOneGroupChat([digger], model_client=client("boss"), max_stalls=2, max_turns=3)
    return told(await team.run(task="Find water."))
