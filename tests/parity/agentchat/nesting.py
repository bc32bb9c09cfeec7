"""Teams in teams, and runs inside calls: what the others hear, which messages count, and which words end the team."""
from autogen_agentchat.conditions import MaxMessageTermination, TextMentionTermination
from autogen_agentchat.teams import RoundRobinGroupChat, SelectorGroupChat
from autogen_agentchat.tools import AgentTool
from tests.parity.agentchat import agent, client
from tests.parity.recorded import calls, told

SCRIPT = {
    "cook": ["Salt?", "More salt?"], "taster": ["A little.", "No."], "waiter": ["I serve it.", "I serve it again."],
    "chooser": ["crew"], "sails": ["Up go the sails."], "rudder": ["Course is set."], "captain": ["Sail!", "We sail. DONE"],
    "counting": [calls(("1", "expert", {"task": "How old?"})), "Later."], "expert": ["Old."], "clerk": ["Noted.", "Again."],
    "listening": [calls(("1", "sage", {"task": "How big?"})), "Later."], "sage": ["Big. DONE"], "guard": ["Seen.", "Again."],
}
PROMPT = "Who is next? {roles} // {participants} // {history}"


def plain(who, **more):
    return agent(who, "You are {}.", **more)


def described(who):
    return agent(who, description=f"The {who}.")


async def main():
    kitchen = RoundRobinGroupChat([agent("cook"), agent("taster")], name="kitchen", description="Cooks.", max_turns=2)
    house = RoundRobinGroupChat([kitchen, agent("waiter")], termination_condition=MaxMessageTermination(7))
    crew = RoundRobinGroupChat([described("sails"), described("rudder")], name="crew", description="Works.", max_turns=2)
    ship = SelectorGroupChat(
        [described("captain"), crew],
        client("chooser"),
        selector_prompt=PROMPT,
        selector_func=lambda messages: "captain" if messages[-1].source in ("user", "rudder") else None,
        allow_repeated_speaker=True,
        termination_condition=TextMentionTermination("DONE"),
    )
    counting = plain("counting", tools=[AgentTool(plain("expert"), return_value_as_last_message=True)])
    listening = plain("listening", tools=[AgentTool(plain("sage"))], tool_call_summary_format="Asked.")
    first = RoundRobinGroupChat([counting, plain("clerk")], termination_condition=MaxMessageTermination(4))
    second = RoundRobinGroupChat([listening, plain("guard")], termination_condition=TextMentionTermination("DONE") | MaxMessageTermination(9))
    return {
        "team": told(await house.run(task="Soup, please.")),
        "selector": told(await ship.run(task="To sea!")),
        "limits": [told(await first.run(task="Go.")), told(await second.run(task="Go."))],
    }
