"""Default cells on the models that OpenAI, Anthropic and Google have now."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from google.genai.types import FunctionCall, Part

from autogen_nb.testing import FakeOpenAI
from tests.models.fake_anthropic import KEY as ANTHROPIC_KEY
from tests.models.fake_anthropic import FakeAnthropic, Reply
from tests.models.fake_gemini import KEY as GEMINI_KEY
from tests.models.fake_gemini import FakeGemini, chunk
from tests.models.openai_world import openai
from tests.notebook.front_end import FrontEnd, Run

QUESTION: dict[str, Any] = {
    "name": "ask_person",
    "arguments": {"question": "Which colour?", "choices": ["red", "blue"]},
    "id": "c1",
}

# This machine is the provider, as a resolver may say.
NAMES = """\
import os, socket
if "real" not in globals():
    real = socket.getaddrinfo
NAMES = ("api.openai.com", "api.anthropic.com", "generativelanguage.googleapis.com")
def resolve(name, *args, **kwargs):
    plain = name.decode() if isinstance(name, bytes) else name
    return real("127.0.0.1" if plain in NAMES else name, *args, **kwargs)
socket.getaddrinfo = resolve
os.environ["no_proxy"] = ",".join(NAMES)
"""
RESOLVER = (
    NAMES
    + """\
os.environ.update(OPENAI_BASE_URL={url!r}, OPENAI_API_KEY="sk-a-key-of-a-person", AUTOGEN_NB_MODEL="")
"""
)


@pytest.fixture
def front(fresh: FrontEnd) -> Iterator[FrontEnd]:
    assert fresh.run(f"{NAMES}os.environ.pop('OPENAI_BASE_URL')", "resolver").status == "ok"
    yield fresh
    fresh.run(
        "socket.getaddrinfo = real\n"
        "for name in [name for name in os.environ if name.startswith(('ANTHROPIC', 'GEMINI', 'GOOGLE'))]:\n"
        "    del os.environ[name]",
        "resolver",
    )


@pytest.fixture
def server(front: FrontEnd) -> Iterator[FakeOpenAI]:
    with FakeOpenAI(partial(openai, calls=[QUESTION], text="Red it is. TERMINATE")) as fake:
        url = fake.base_url.replace("127.0.0.1", "api.openai.com")
        assert front.run(RESOLVER.format(url=url), "key").status == "ok"
        yield fake


def painted(front: FrontEnd, options: str, answer: str) -> Run:
    cell = front.run_clicking(f"%%autogen --new {options}\nPaint it.", click=["blue"])
    assert cell.status == "ok", cell.error
    assert cell.about("message")[-1].splitlines()[-1] == answer
    return cell


@pytest.mark.parametrize("name", ["gpt-5.6", "gpt-5.3-codex"])
def test_default_cell_with_a_question(name: str, front: FrontEnd, server: FakeOpenAI) -> None:
    cell = painted(front, f"-m {name}", "Red it is.")

    assert {received.path for received in server.requests} == {"/v1/responses"}
    assert "Let me think." in cell.html()


def test_default_cell_with_a_key_of_anthropic(front: FrontEnd) -> None:
    with FakeAnthropic() as server:
        thought = {"type": "thinking", "thinking": "Let me think."}
        use = {"type": "tool_use", "id": "c1", "name": "ask_person", "input": QUESTION["arguments"]}
        server.add(Reply((thought, use), "tool_use"), "Blue it is. TERMINATE")
        url = server.url.replace("127.0.0.1", "api.anthropic.com")
        front.run(f"os.environ.update(ANTHROPIC_API_KEY={ANTHROPIC_KEY!r}, ANTHROPIC_BASE_URL={url!r})", "key")

        cell = painted(front, "-m claude-opus-5", "Blue it is.")

    assert "Let me think." in cell.html()
    assert "tool_result" in str(server.bodies[1])


def test_default_cell_with_a_key_of_google(front: FrontEnd) -> None:
    with FakeGemini() as server:
        call = Part(function_call=FunctionCall(name="ask_person", args=QUESTION["arguments"]), thought_signature=b"s")
        thought = Part(text="Let me think.", thought=True)
        server.answers = [[chunk(thought, call, finish="STOP")], [chunk(Part(text="Blue. TERMINATE"), finish="STOP")]]
        url = server.url.replace("127.0.0.1", "generativelanguage.googleapis.com")
        front.run(f"os.environ.update(GEMINI_API_KEY={GEMINI_KEY!r}, GOOGLE_GEMINI_BASE_URL={url!r})", "key")

        cell = painted(front, "-m gemini-3-pro", "Blue.")

    assert "Let me think." in cell.html()
    assert "thoughtSignature" in str(server.bodies[1])


def test_setting_that_the_model_refuses_is_named_once(front: FrontEnd, server: FakeOpenAI) -> None:
    front.run(
        "import json; os.environ['OAI_CONFIG_LIST'] = json.dumps([dict(model='gpt-6-sol', temperature=0, "
        "base_url=os.environ['OPENAI_BASE_URL'])])",
        "list",
    )

    cell = painted(front, "", "Red it is.")

    assert cell.text.count("does not accept `temperature`, which was left out") == 1


def test_own_part_of_a_prompt_is_as_small_as_the_documentation_says(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add("Fine.")

    fresh.run("%%autogen --new\nWhich species is heaviest? Plot body mass by species.", "first")

    page = (Path(__file__).parents[2] / "docs/models.md").read_text(encoding="utf-8")
    stated = re.search(r"system message and a first task have about (\d+) tokens", page)
    characters = sum(len(message["content"]) for message in model.requests[0].body["messages"])
    assert stated is not None
    assert abs(characters / 4 - int(stated[1])) < 0.15 * int(stated[1])
