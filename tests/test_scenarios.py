import json
from typing import Any

import pytest

import autogen_nb
from tests.parity.playing import RECORD, played
from tests.parity.scenarios import SCENARIOS

KNOWN: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", SCENARIOS)
def test_same_as_autogen(name: str) -> None:
    came_to = json.loads(json.dumps(played(autogen_nb, name), default=str))

    assert came_to == KNOWN[name]


def test_every_scenario_was_recorded() -> None:
    assert set(KNOWN) == set(SCENARIOS)
