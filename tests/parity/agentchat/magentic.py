"""Magentic-One: facts, a plan, two rounds by the ledger, and the answer; then one that stalls.

Its facts and its plan are made anew, and its rounds come to their end.
"""
import json

from autogen_agentchat.teams import MagenticOneGroupChat
from tests.parity.agentchat import agent, client
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
        "FACT: none.", "PLAN: dig.", ledger(False, "digger", "Dig."), ledger(False, "digger", "Dig on.", progress=False),
        ledger(False, "digger", "Dig deeper.", loop=True), "FACT: the ground is rock.", "PLAN: drill.",
        ledger(False, "digger", "Drill."), "No water was found.",
    ],
    "measurer": ["31 metres."],
    "teller": ["It is 31 metres long."],
    "digger": ["I dug.", "I dug on.", "I drilled."],
}
OWN = ["pre-survey", "Fantastic", "Recall we", "We are working", "We have completed", "As a reminder", "what went wrong"]
MARKS = ["How long is the bridge?", "measurer", "teller", "FACT: the bridge is old.", "PLAN: measure, then tell."]
MARKS += ["Find water.", "digger", "FACT: none.", "PLAN: dig.", "FACT: the ground is rock.", "PLAN: drill."]


async def main():
    members = [agent(name, description=f"The {name}.") for name in ("measurer", "teller")]
    team = MagenticOneGroupChat(members, model_client=client("boss"))
    stalled = MagenticOneGroupChat(
        [agent("digger", "You dig.", description="The digger.")], client("boss"), max_stalls=2, max_turns=3
    )
    return [told(await team.run(task="How long is the bridge?")), told(await stalled.run(task="Find water."))]
