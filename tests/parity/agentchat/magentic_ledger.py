"""Magentic-One: facts, a plan, two rounds by the ledger, and the answer."""
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
        "FACT: the bridge is old.", "PLAN: measure, then tell.", ledger(False, "measurer", "Measure the bridge."),
        ledger(False, "teller", "Tell the length."), ledger(True, "teller", ""), "The bridge has 31 metres.",
    ],
    "measurer": ["31 metres."],
    "teller": ["It is 31 metres long."],
}
OWN = ["pre-survey", "Fantastic", "Recall we", "We are working", "We have completed"]
MARKS = ["How long is the bridge?", "measurer", "teller", "FACT: the bridge is old.", "PLAN: measure, then tell."]


def client(name):
    return OpenAIChatCompletionClient(model="gpt-4o", api_key=f"sk-{name}", base_url=os.environ["MODEL_URL"])


def agent(name):
    return AssistantAgent(name, model_client=client(name), system_message=f"You are the {name}.", description=f"The {name}.")


async def main():
    team = MagenticOneGroupChat([agent("measurer"), agent("teller")], model_client=client("boss"))
    return told(await team.run(task="How long is the bridge?"))
