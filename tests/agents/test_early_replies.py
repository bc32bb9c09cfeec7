"""The models of a round are asked at the same time."""

from threading import Barrier
from typing import Any

import pytest

from autogen_nb import DiGraphBuilder, GraphFlow, OpenAIChatCompletionClient
from autogen_nb.agents.assistant import AssistantAgent
from autogen_nb.errors import ModelError
from autogen_nb.testing import FakeOpenAI
from autogen_nb.testing.fake_openai import FakeReply, Received
from tests.agents.teams import done, spoken


def fan(url: str, *names: str) -> GraphFlow:
    builder = DiGraphBuilder()
    for name in ("start", *names, "end"):
        client = OpenAIChatCompletionClient(model=name, base_url=url, api_key="k", max_retries=0)
        builder.add_node(AssistantAgent(name, model_client=client, model_client_stream=True))
    for name in names:
        builder.add_edge("start", name).add_edge(name, "end")
    return GraphFlow(builder.get_participants(), builder.build())


def test_branches_are_asked_at_the_same_time_and_answer_in_order() -> None:
    both = Barrier(2, timeout=20)

    def reply(received: Received) -> Any:
        if received.body["model"] in ("left", "right"):
            both.wait()
        heard = [message["content"] for message in received.body["messages"][1:]]
        return f"{received.body['model']} heard {len(heard)}"

    with FakeOpenAI(reply) as server:
        result = done(fan(server.base_url, "left", "right"))

    assert spoken(result)[1:] == [
        ("start", "start heard 1"),
        ("left", "left heard 2"),
        ("right", "right heard 2"),
        ("end", "end heard 4"),
    ]
    assert result.stop_reason == "The graph is complete."


def test_failure_of_one_branch_ends_the_run_with_its_error() -> None:
    def reply(received: Received) -> Any:
        return FakeReply(status=400, error="no branch") if received.body["model"] == "right" else "Fine."

    with FakeOpenAI(reply) as server, pytest.raises(ModelError, match="no branch"):
        done(fan(server.base_url, "left", "right"))
