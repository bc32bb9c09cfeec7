"""Chats of a person's own agents in a cell: calls of functions, notes, and what came from a cache."""

import pytest
from playwright.sync_api import expect

from tests.browser.looks import misfits_of, picture
from tests.browser.notebook_page import NotebookPage

LONG = "lorem ipsum " * 40
AGENTS = f"""
import asyncio
import autogen_nb as autogen
from autogen_nb.core.ports import Completion
from autogen_nb.messages import Message, Usage
from autogen_nb.testing import ScriptedModel

def call(number, name, arguments):
    return {{"id": str(number), "type": "function", "function": {{"name": name, "arguments": arguments}}}}

def asks(*calls, note="", **more):
    return Completion(Message(None, tool_calls=list(calls)), "small-model", Usage(100, 20), note=note, **more)

model = ScriptedModel([
    {{"content": "I shall look.",
      "tool_calls": [call(1, "add", '{{"a": 2, "b": 3}}'), call(2, "table", '{{"rows": 40}}')]}},
    asks(call(3, "add", '{{"a": "x"}}'), call(4, "write", '{{"text": "{LONG}"}}'), cached=True),
    Completion(Message("Two and three are **five**.\\n\\nTERMINATE"), "large-model", Usage(100, 20), cost=0.0123,
               note="The request was too long: 2 older outputs were left out of it."),
])
assistant = autogen.AssistantAgent("assistant", llm_config=model)
user = autogen.UserProxyAgent("user", human_input_mode="NEVER", code_execution_config=False,
                              is_termination_msg=lambda m: "TERMINATE" in (m.get("content") or ""))

def add(a: int, b: int) -> int:
    return a + b

async def table(rows: int) -> str:
    await asyncio.sleep(1.5)
    return "\\n".join(f"{{i:4d}} {{i * i:6d}} some text in the row" for i in range(rows))

def write(text: str) -> str:
    return "<b>written</b>\\nin $x$ two lines"

for f in (add, table, write):
    autogen.register_function(f, caller=assistant, executor=user, description=f.__name__)
"""
CHATS = {
    "waited": "chat = user.initiate_chat(assistant, message='Add two and three.')",
    "awaited": "chat = await user.a_initiate_chat(assistant, message='Add two and three.')",
}

GROUP = """
import autogen_nb as autogen
from autogen_nb.testing import ScriptedModel

def agent(name, *says, **more):
    llm_config = ScriptedModel(list(says)) if says else False
    return autogen.ConversableAgent(name, llm_config=llm_config, human_input_mode="NEVER", **more)

def add(a: int, b: int) -> int:
    return a + b

asked = {"id": "1", "function": {"name": "add", "arguments": '{"a": 1, "b": 2}'}}
planner = agent("planner", "First, add.", "That is all.\\n\\nTERMINATE")
coder = agent("coder", {"content": None, "tool_calls": [asked]}, "It is 3.")
runner = agent("runner")
autogen.register_function(add, caller=coder, executor=runner, description="adds")
group = autogen.GroupChat([planner, coder, runner], messages=[], max_round=6)
choices = ScriptedModel(["planner", "I am not sure", "coder", "coder", "planner"])
manager = autogen.GroupChatManager(
    group, llm_config=choices, is_termination_msg=lambda m: "TERMINATE" in (m.get("content") or "")
)
user = agent("user")
"""


def test_a_group_names_its_speakers(notebook: NotebookPage) -> None:
    notebook.create(GROUP, "chat = user.initiate_chat(manager, message='Add one and two.')")
    notebook.run_all()
    notebook.await_idle()
    picture(notebook, "group", 1)
    lines = [line for line in notebook.outputs(1).text.splitlines() if line.startswith(("next:", "\u25cf"))]

    assert [line.split(" \u00b7 ")[0].strip() for line in lines] == [
        "\u25cf user",
        "\u25cf planner",
        "next: coder (named at attempt 2)",
        "\u25cf coder",
        "\u25cf coder",
        "\u25cf planner",
    ]


@pytest.mark.parametrize("way", CHATS)
def test_calls_are_shown_as_they_go_and_afterwards(notebook: NotebookPage, way: str) -> None:
    notebook.create(AGENTS, CHATS[way])
    notebook.run_all()
    area = notebook.output(1)
    expect(area).to_contain_text("calling \u2026")
    notebook.screenshot(f"calls-{way}-live", 1)
    notebook.await_idle()
    expect(area).to_contain_text("two lines")
    picture(notebook, f"calls-{way}", 1)
    misfits = misfits_of(area)
    notebook.page.set_viewport_size({"width": 700, "height": 900})
    notebook.screenshot(f"calls-{way}-narrow", 1)
    misfits += misfits_of(area)
    notebook.page.set_viewport_size({"width": 1280, "height": 900})
    before = notebook.outputs(1).text
    notebook.save()
    notebook.reload()

    assert misfits == []
    expect(area).not_to_contain_text("calling")
    expect(area.locator("details pre").first).to_be_hidden()
    assert notebook.outputs(1).text == before
    area.locator("summary").first.click()
    expect(area.locator("details pre").first).to_be_visible()
    notebook.screenshot(f"calls-{way}-reloaded", 1)
