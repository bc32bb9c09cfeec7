from playwright.sync_api import expect

from autogen_nb.testing import FakeOpenAI
from tests.browser.cells import connected
from tests.browser.notebook_page import NotebookPage

PARTS = """
import autogen_nb as autogen
from autogen_nb.testing import ScriptedModel

def agent(name, *replies, **more):
    return autogen.AssistantAgent(name, model_client=ScriptedModel(replies), **more)
"""
GRAPH = """
writer, reviewer, checker, editor = map(agent, ["writer", "reviewer", "fact_checker", "editor"])
builder = autogen.DiGraphBuilder()
for each in (writer, reviewer, checker, editor):
    builder.add_node(each)
builder.add_edge(writer, reviewer).add_edge(writer, checker)
builder.add_edge(reviewer, writer, lambda message: "$x$" in message.to_text(), activation_group="again")
builder.add_edge(reviewer, editor, "APPROVE").add_edge(checker, editor)
builder.set_entry_point(writer)
autogen.GraphFlow([writer, reviewer, checker, editor], builder.build(), max_turns=9)
"""
TURNS = 'autogen.RoundRobinGroupChat([agent("poet"), agent("judge"), agent("printer")])'
CHOSEN = (
    'autogen.SelectorGroupChat(list(map(agent, ["planner", "coder", "tester", "writer", "critic"])), ScriptedModel([]))'
)
SWARM = """
model = autogen.OpenAIChatCompletionClient(model="fake-model")
desk = autogen.AssistantAgent("desk", model_client=model, handoffs=["refunds", "customer"])
refunds = agent("refunds", handoffs=["desk", autogen.Handoff("bank", name="ask_the_bank")])
customer = autogen.UserProxyAgent("customer")
end = autogen.TextMentionTermination("DONE")
team = autogen.Swarm([desk, refunds, customer], termination_condition=end)
team
"""
ASK = {"id": "call 1", "type": "function", "function": {"name": "transfer_to_customer", "arguments": "{}"}}


def test_teams_are_drawn_in_both_themes(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add({"tool_calls": [ASK]}, "DONE")
    notebook.create(connected(fake), PARTS, GRAPH, TURNS, CHOSEN, SWARM, 'await team.run(task="My bag is lost.")')
    notebook.run_all()
    field = notebook.field(6)
    expect(field).to_be_visible()
    for theme in ("light", "dark"):
        notebook.set_theme(theme)
        for cell, name in enumerate(("graph", "turns", "chosen", "swarm", "question"), 2):
            notebook.screenshot(f"team-{name}-{theme}", cell)
