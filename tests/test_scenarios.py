import asyncio
import json
from typing import Any

import pytest

import autogen_nb
from tests.parity.playing import RECORD, played
from tests.parity.scenarios import SCENARIOS

KNOWN: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", SCENARIOS)
def test_same_as_autogen(name: str) -> None:
    assert played(autogen_nb, name) == KNOWN[name]


@pytest.mark.parametrize("name", SCENARIOS)
def test_same_as_autogen_if_awaited(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for method in ("initiate_chat", "send", "receive", "generate_reply"):
        waiting = getattr(autogen_nb.ConversableAgent, method)

        def awaited(agent: Any, *args: Any, waiting: Any = waiting, method: str = method, **kwargs: Any) -> Any:
            if asyncio._get_running_loop() is not None:
                return waiting(agent, *args, **kwargs)
            return asyncio.run(getattr(agent, f"a_{method}")(*args, **kwargs))

        monkeypatch.setattr(autogen_nb.ConversableAgent, method, awaited)

    assert played(autogen_nb, name) == KNOWN[name]


def test_every_scenario_was_recorded() -> None:
    assert set(KNOWN) == set(SCENARIOS)
