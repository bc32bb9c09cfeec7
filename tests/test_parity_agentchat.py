"""Programs for AgentChat 0.7.5 give the same messages and the same requests here."""

import json
from typing import Any

import pytest

from tests.parity.agentchat import playing as untyped

playing: Any = untyped
GOLDEN = json.loads(playing.GOLDEN.read_text("utf-8"))


@pytest.mark.parametrize("name", sorted(playing.PROGRAMS))
def test_same_as_agentchat(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_URL", "")

    assert playing.played(name, "autogen_nb") == GOLDEN[name]
