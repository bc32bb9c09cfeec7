import asyncio
import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import autogen_nb
from autogen_nb.event_json import to_json
from autogen_nb.testing import FakeOpenAI
from tests.parity.measured import fake_openai
from tests.parity.measured import run as untyped

pytestmark = pytest.mark.slow

run: Any = untyped

GOLDEN = json.loads(Path(__file__).with_name("parity").joinpath("measured", "golden.json").read_text("utf-8"))
"""What AutoGen made of the scenarios."""

METHODS = ("initiate_chat", "send", "generate_reply")


@pytest.fixture
def port() -> Iterator[int]:
    logging.disable(logging.WARNING)
    with FakeOpenAI(fake_openai.reply) as server:
        yield int(server.base_url.split(":")[2].removesuffix("/v1"))
    logging.disable(logging.NOTSET)


def watched(method: str, logs: list[Any], *, awaits: bool) -> Callable[..., Any]:
    """The method, which logs its chats where no loop runs; its async twin instead, if it `awaits`."""
    original = getattr(autogen_nb.ConversableAgent, method)

    def called(agent: Any, *args: Any, **kwargs: Any) -> Any:
        if asyncio._get_running_loop() is not None:
            return original(agent, *args, **kwargs)
        twin = getattr(agent, f"a_{method}")
        returned = asyncio.run(twin(*args, **kwargs)) if awaits else original(agent, *args, **kwargs)
        log = [to_json(event) for event in getattr(returned, "log", ())]
        logs.append((method, [{key: each[key] for key in each.keys() - {"seconds"}} for each in log]))
        return returned

    return called


@pytest.mark.parametrize("name", sorted(run.S))
def test_same_both_ways(name: str, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    came_to = []
    for awaits in (False, True):
        logs: list[Any] = []
        with monkeypatch.context() as patched:
            for method in METHODS:
                patched.setattr(autogen_nb.ConversableAgent, method, watched(method, logs, awaits=awaits))
            came_to.append((*run.run_one(name, autogen_nb, port), logs))
    (recorded, error, logs), awaited = came_to

    assert error is None
    assert awaited == (recorded, error, logs)
    assert run.kept(recorded) == GOLDEN[name]
    assert sum(len(log) for _, log in logs) >= 3 * sum(method == "initiate_chat" for method, _ in logs)
    assert logs


def test_every_scenario_is_compared() -> None:
    assert run.S.keys() == GOLDEN.keys()
