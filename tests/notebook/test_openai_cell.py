"""Default cells on the models that OpenAI has now."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from autogen_nb.testing import FakeOpenAI
from tests.models.openai_world import openai
from tests.notebook.front_end import FrontEnd

QUESTION = {"name": "ask_person", "arguments": {"question": "Which colour?", "choices": ["red", "blue"]}, "id": "c1"}

# This machine is `api.openai.com`, as a resolver may say.
RESOLVER = """\
import os, socket
if "real" not in globals():
    real = socket.getaddrinfo
def resolve(name, *args, **kwargs):
    plain = name.decode() if isinstance(name, bytes) else name
    return real("127.0.0.1" if plain == "api.openai.com" else name, *args, **kwargs)
socket.getaddrinfo = resolve
os.environ.update(OPENAI_BASE_URL={url!r}, OPENAI_API_KEY="sk-a-key-of-a-person", AUTOGEN_NB_MODEL="")
os.environ["no_proxy"] = "api.openai.com"
"""


@pytest.fixture
def server(fresh: FrontEnd) -> Iterator[FakeOpenAI]:
    with FakeOpenAI(partial(openai, calls=[QUESTION], text="Red it is. TERMINATE")) as fake:
        url = fake.base_url.replace("127.0.0.1", "api.openai.com")
        assert fresh.run(RESOLVER.format(url=url), "resolver").status == "ok"
        yield fake
    fresh.run("socket.getaddrinfo = real", "resolver")


@pytest.mark.parametrize("name", ["gpt-5.6", "gpt-5.3-codex"])
def test_default_cell_with_a_question(name: str, fresh: FrontEnd, server: FakeOpenAI) -> None:
    cell = fresh.start(f"%%autogen --new -m {name}\nPaint it.")
    fresh.click("blue")
    fresh.finish(cell)

    assert cell.status == "ok", cell.error
    assert {received.path for received in server.requests} == {"/v1/responses"}
    assert cell.about("message")[-1].splitlines()[-1] == "Red it is."
    assert "Let me think." in cell.html()


def test_setting_that_the_model_refuses_is_named_once(fresh: FrontEnd, server: FakeOpenAI) -> None:
    fresh.run(
        "import json; os.environ['OAI_CONFIG_LIST'] = json.dumps([dict(model='gpt-6-sol', temperature=0, "
        "base_url=os.environ['OPENAI_BASE_URL'])])",
        "list",
    )

    cell = fresh.start("%%autogen --new\nPaint it.")
    fresh.click("blue")
    fresh.finish(cell)

    assert cell.status == "ok", cell.error
    assert cell.text.count("does not accept `temperature`, which was left out") == 1


def test_own_part_of_a_prompt_is_as_small_as_the_documentation_says(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add("Fine.")

    fresh.run("%%autogen --new\nWhich species is heaviest? Plot body mass by species.", "first")

    page = (Path(__file__).parents[2] / "docs/models.md").read_text(encoding="utf-8")
    stated = re.search(r"system message and a first task have about (\d+) tokens", page)
    characters = sum(len(message["content"]) for message in model.requests[0].body["messages"])
    assert stated is not None
    assert abs(characters / 4 - int(stated[1])) < 0.15 * int(stated[1])
