from playwright.sync_api import expect

from autogen_nb.testing import FakeOpenAI
from tests.browser.cells import connected
from tests.browser.looks import misfits_of
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
CHOSEN = """
names = ["planner", "coder", "tester", "writer", "critic"]
autogen.SelectorGroupChat(list(map(agent, names)), ScriptedModel([]))
"""
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


def test_teams_are_drawn_and_a_swarm_asks_a_person(notebook: NotebookPage, fake: FakeOpenAI) -> None:
    fake.add({"tool_calls": [ASK]}, "Found. DONE")
    notebook.create(connected(fake), PARTS, GRAPH, TURNS, CHOSEN, SWARM, 'await team.run(task="My bag is lost.")')
    notebook.run_all()
    expect(notebook.button(6, "Send")).to_be_visible()
    colours = set()
    for theme in ("light", "dark"):
        notebook.set_theme(theme)
        for cell, name in enumerate(("graph", "turns", "chosen", "swarm", "question"), 2):
            notebook.screenshot(f"team-{name}-{theme}", cell)
        label = notebook.output(2).get_by_text("writer", exact=True)
        colours.add(label.evaluate("label => getComputedStyle(label).fill"))
    drawings = [notebook.output(cell).get_by_role("img") for cell in range(2, 6)]

    assert len(colours) == 2
    assert fake.requests[0].body["tools"]
    for cell, drawing in enumerate(drawings, 2):
        expect(drawing).to_be_visible()
        assert misfits_of(notebook, cell) == []
    # MathJax has typeset no condition.
    expect(drawings[0]).to_contain_text('"$x$" in message.to_text()')
    notebook.fill(6, "It is red.")
    notebook.click(6, "Send")
    notebook.await_idle()
    expect(notebook.output(6)).to_contain_text("Found. DONE")
    notebook.screenshot("team-answered", 6)
