"""Each API beside a server that others wrote; `make test-slow` installs it."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autogen_nb.events import ModelReplied
from autogen_nb.messages import Completion
from tests.contract.servers import free_port, listens
from tests.models.asking import pair
from tests.processes import waited

PROGRAM = Path(__file__).parents[2] / "build/aimock/node_modules/.bin/llmock"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PROGRAM.exists(), reason="aimock is not installed; `make aimock` needs npm"),
]

FIXTURES = {
    "fixtures": [
        {"match": {"userMessage": "Add", "hasToolResult": True}, "response": {"content": "It is 2. TERMINATE"}},
        {"match": {"userMessage": "Add"}, "response": {"toolCalls": [{"name": "add", "arguments": {"a": 1}}]}},
        {"match": {"userMessage": "Think"}, "response": {"content": "Yes. TERMINATE", "reasoning": "Let me think."}},
    ]
}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder, port = tmp_path_factory.mktemp("aimock"), free_port()
    (folder / "fixtures.json").write_text(json.dumps(FIXTURES))
    command = [str(PROGRAM), "-p", str(port), "-h", "127.0.0.1", "-f", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        assert waited(lambda: listens(port)), "aimock did not start within 60 s"
        yield f"http://127.0.0.1:{port}"
        server.terminate()


def chat(settings: dict[str, Any], task: str) -> tuple[list[Completion], str]:
    assistant, user = pair(
        {"api_key": "mock", **settings},
        is_termination_msg=lambda message: "TERMINATE" in str(message.get("content")),
    )
    result = user.initiate_chat(assistant, message=task, silent=True)
    replies = [event.completion for event in result.log if isinstance(event, ModelReplied)]
    return replies, str([message for message in result.chat_history if message.get("role") == "tool"])


APIS = [
    {"model": "gpt-6-sol", "api_type": "chat_completions"},
    {"model": "gpt-6-sol", "api_type": "responses"},
    {"model": "claude-opus-5", "api_type": "anthropic"},
    {"model": "gemini-4-argon", "api_type": "gemini"},
]


# Its reason for the end of a call is none of Google's, which Google's library remarks.
@pytest.mark.filterwarnings("ignore:FUNCTION_CALL is not a valid FinishReason")
@pytest.mark.parametrize("settings", APIS, ids=lambda settings: settings["api_type"])
def test_call_and_result(settings: dict[str, Any], address: str) -> None:
    path = {"anthropic": "", "gemini": ""}.get(settings["api_type"], "/v1")

    replies, results = chat({**settings, "base_url": address + path}, "Add.")

    assert [reply.message.text for reply in replies][-1] == "It is 2. TERMINATE"
    assert [call.name for call in replies[0].message.calls] == ["add"]
    assert "2" in results


@pytest.mark.parametrize("settings", APIS, ids=lambda settings: settings["api_type"])
def test_reasoning(settings: dict[str, Any], address: str) -> None:
    path = {"anthropic": "", "gemini": ""}.get(settings["api_type"], "/v1")

    replies, _ = chat({**settings, "base_url": address + path}, "Think.")

    assert replies[0].message.text == "Yes. TERMINATE"
    assert replies[0].reasoning is not None
    assert replies[0].reasoning.text == "Let me think."
