"""The tools of MCP servers in a cell."""

import re
import sys
from functools import partial
from pathlib import Path

import pytest

from autogen_nb.testing import FakeOpenAI, FakeReply
from tests.notebook.conftest import python, run_chat
from tests.notebook.front_end import FrontEnd
from tests.processes import gone

SERVER = Path(__file__).parent.parent / "agents" / "mcp_server.py"
ADD = f"%autogen mcp add calc {sys.executable} {SERVER}"
CALL = FakeReply(tool_calls=[{"name": "calc_add", "arguments": {"a": 2}}])
LOOP = "total = sum(calc_add(number) for number in range(20))\nprint('total', total, calc_add.__doc__)"


def test_servers_are_added_listed_tested_and_removed(fresh: FrontEnd) -> None:
    (fresh.cwd / ".mcp.json").write_text('{"mcpServers": {"other": {"command": "${PROGRAM:-nothing}"}}}')

    assert "Added: calc (" in fresh.run(ADD, "add").text
    assert "`%autogen mcp add --from .mcp.json` reads yours" in fresh.run("%%autogen --mcp other\nGo.", "unknown").error
    assert "Added: other (${PROGRAM:-nothing})" in fresh.run("%autogen mcp add --from .mcp.json", "from").text
    assert "calc" in fresh.run("%autogen mcp", "list").text
    assert "Adds two numbers, release 1." in fresh.run("%autogen mcp test calc", "test").text
    assert "there is no program 'nothing'" in fresh.run("%autogen mcp test other", "test").error
    assert "Removed: other." in fresh.run("%autogen mcp remove other", "remove").text
    assert "there is no MCP server 'other'; known are calc" in fresh.run("%autogen mcp remove other", "remove").error


def test_a_models_call_is_asked_about_recorded_and_bound_to_the_schema(fresh: FrontEnd, model: FakeOpenAI) -> None:
    change = FakeReply(tool_calls=[{"name": "calc_change", "arguments": {}}])
    model.add(CALL, "Three.", CALL, "Again.", change, CALL, "Changed.")
    fresh.run(ADD, "add")

    first = fresh.run_clicking(
        "%%autogen --mcp calc --ask-person\nGo.", "one", click=["Always allow …", "Allow from now on"]
    )
    second = fresh.run("%%autogen --mcp calc --ask-person\nAgain.", "two")
    third = fresh.start("%%autogen --mcp calc --ask-person\nChange.", "three")
    waits = "The model waits: it calls the tool change of the MCP server calc next"
    fresh.wait(lambda: waits in third.text, "the panel")
    fresh.click("Allow")
    fresh.wait(lambda: waits.replace("change", "add") in third.text, "the next panel")
    fresh.click("Allow")
    fresh.finish(third)

    assert "Three." in first.text
    assert "calls the tool add of the MCP server calc" in first.text
    assert [message["content"] for message in model.requests[1].body["messages"] if message["role"] == "tool"] == ["3"]
    assert "Again." in second.text
    assert "Changed." in third.text
    audit = fresh.run("%autogen audit", "audit").text
    assert "your rule: mcp calc add " in audit
    assert "add of the MCP server calc as it is now" in fresh.run("%autogen rules", "rules").text


def test_a_denied_call_goes_to_the_model_and_a_stop_ends_the_chat(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(CALL, "I see.", CALL, python(LOOP))
    fresh.run(ADD, "add")

    denied = fresh.start("%%autogen --mcp calc --ask-person\nGo.", "one")
    fresh.click("Deny")
    fresh.type("too slow", "Why? The assistant reads it (may be empty)")
    fresh.click("Deny")
    fresh.finish(denied)
    stopped = fresh.run_clicking("%%autogen --mcp calc --ask-person\nGo on.", "two", click=["Stop"])
    in_code = fresh.run_clicking("%%autogen --mcp calc --confirm risky\nCode.", "three", click=["Stop"])

    assert "I see." in denied.text
    assert "the user does not allow it: too slow" in str(model.requests[1].body["messages"][-1])
    assert "Not finished." in stopped.error
    assert "Not finished." in in_code.error


def test_code_calls_tools_as_functions(fresh: FrontEnd, model: FakeOpenAI) -> None:
    fail = "try:\n    calc_fail()\nexcept RuntimeError as error:\n    print(error)\ncalc_picture()"
    model.add(python(LOOP), python(fail), "Done.", python(LOOP), "Left out.")
    fresh.run(ADD, "add")

    cell = fresh.start("%%autogen --mcp calc --confirm risky\nGo.", "one")
    for tool in ("add", "fail", "picture"):
        words = f"The running code waits: it calls the tool {tool} of"
        fresh.wait(partial(lambda words: words in cell.text, words), words)
        fresh.click("Allow")
    fresh.finish(cell)
    without = fresh.run("%%autogen --confirm risky\nWithout.", "two")

    assert "total 210 Adds two numbers, release 1." in cell.about("stream")[0]
    assert "there is no such table" in cell.text
    prompt = str(model.requests[0].body["messages"][0]["content"])
    assert "calc_add(a: int, b: int = 1) -> data: Adds two numbers" in prompt
    assert "calc_lie(mood: 'calm' | 'wild' = None) -> data" in prompt
    assert len(model.requests) == 5
    assert "there is no tool 'calc_add' in this cell" in without.text


def test_stop_and_the_end_of_the_chat_leave_nothing_running(fresh: FrontEnd, model: FakeOpenAI) -> None:
    begun = fresh.cwd / "begun"
    model.add(python("print('child', calc_child())"), "Done.", python(f"calc_hang({str(begun)!r})"))
    fresh.run(ADD, "add")

    child = fresh.run("%%autogen --mcp calc --confirm never\nGo.", "one")
    cell = fresh.start("%%autogen --mcp calc --confirm never\nHang.", "two")
    fresh.wait(begun.exists, "the call")
    fresh.stop(cell)
    fresh.run("%autogen kernel stop", "stop")

    assert "Stopped." in cell.error
    assert gone([int(child.about("stream")[0].split()[1])])


@pytest.mark.parametrize("by", ["model", "code"])
def test_a_call_shows_its_progress_and_a_stop_cancels_it(fresh: FrontEnd, model: FakeOpenAI, by: str) -> None:
    ready, begun = fresh.cwd / f"{by}-ready", fresh.cwd / f"{by}-begun"
    for tool, path in (("calc_work", str(ready)), ("calc_hang", str(begun))):
        call = FakeReply(tool_calls=[{"name": tool, "arguments": {"path": path}}])
        model.add(call if by == "model" else python(f"print({tool}({path!r}))"))
    fresh.run(ADD, "add")

    cell = fresh.start("%%autogen --mcp calc --ask-person --confirm never\nGo.", "one")
    fresh.wait(lambda: bool(re.search(r"calc: \d+ of 900 reading files", cell.text)), "the progress")
    ready.touch()
    fresh.wait(begun.exists, "the next call")
    fresh.stop(cell)
    fresh.wait(lambda: begun.read_text() == "cancelled", "the cancellation")
    audit = fresh.run("%autogen audit", "audit").text

    assert "worked" in cell.text
    assert "of 900" not in cell.text
    assert "nobody was asked" in audit
    assert ("the model calls calc_work" in audit) == (by == "model")


@pytest.mark.parametrize("tool", ["die", "flood", "hang"])
def test_a_server_that_dies_floods_or_hangs_gets_a_sentence(fresh: FrontEnd, model: FakeOpenAI, tool: str) -> None:
    fails = python(f"try:\n    calc_{tool}()\nexcept RuntimeError as error:\n    print(error)")
    fresh.run(ADD, "add")

    cell = run_chat(fresh, model, fails, python(LOOP), "Done.", options="--mcp calc --block-timeout 3")

    assert "the MCP server 'calc' " in cell.about("stream")[0]
    assert "total 210" in cell.about("stream")[1]
