"""Graphs: with a target that one branch is enough for, with a loop, saved in the middle, and with a filter of messages.

The loop is left by a review, its conditions are a text and a function, and it gets a second task; the saved graph goes on
in a new team.
"""
import json

from autogen_agentchat.agents import MessageFilterAgent, MessageFilterConfig, PerSourceFilter
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.teams import DiGraphBuilder, GraphFlow
from tests.parity.agentchat import agent
from tests.parity.recorded import told

SCRIPT = {
    "start": ["Go."],
    "left": ["Left went."],
    "right": ["Right went."],
    "end": ["One of them came."],
    "drafter": ["A first line.", "A better line.", "A line on snow."],
    "reviewer": ["REVISE it.", "APPROVE.", "APPROVE, too."],
    "printer": ["Printed.", "Printed again."],
    **{who: [f"{number}."] * 2 for who, number in (("one", "First"), ("two", "Second"), ("three", "Third"))},
}


def builder_of(*nodes):
    builder = DiGraphBuilder()
    for node in nodes:
        builder.add_node(node)
    return builder


def flow(builder, **more):
    return GraphFlow(builder.get_participants(), graph=builder.build(), **more)


async def any_branch():
    start, left, right, end = nodes = [*map(agent, ("start", "left", "right", "end"))]
    builder = builder_of(*nodes)
    builder.add_edge(start, left, condition="Go").add_edge(start, right, condition="Stay")
    builder.add_edge(left, end, activation_group="any one", activation_condition="any")
    builder.add_edge(right, end, activation_group="any one", activation_condition="any")
    return told(await flow(builder, max_turns=9).run(task="Race."))


async def loop():
    drafter, reviewer, printer = nodes = [*map(agent, ("drafter", "reviewer", "printer"))]
    builder = builder_of(*nodes)
    builder.add_edge(drafter, reviewer)
    builder.add_edge(reviewer, drafter, condition=lambda message: "REVISE" in message.to_model_text(), activation_group="again")
    builder.add_edge(reviewer, printer, condition="APPROVE")
    builder.set_entry_point(drafter)
    team = flow(builder, termination_condition=MaxMessageTermination(30))
    return [told(await team.run(task="Write a line.")), told(await team.run(task="Write about snow."))]


def chain(*more, **settings):
    one, two, *others = [agent(name, "You are {}.") for name in ("one", "two", *([] if more else ["three"]))]
    (three,) = more or others
    return flow(builder_of(one, two, three).add_edge(one, two).add_edge(two, three), **settings)


async def saved():
    first = chain(max_turns=1)
    begun = await first.run(task="Count.")
    state = json.dumps(await first.save_state())
    second = chain()
    await second.load_state(json.loads(state))
    return [told(begun), told(await second.run())]


async def filtered():
    kept = MessageFilterConfig(per_source=[PerSourceFilter(source="two", position="last", count=1)])
    three = MessageFilterAgent(name="three", wrapped_agent=agent("three", "You are {}."), filter=kept)
    return told(await chain(three).run(task="Count."))


async def main():
    return {"any": await any_branch(), "loop": await loop(), "saved": await saved(), "filter": await filtered()}
