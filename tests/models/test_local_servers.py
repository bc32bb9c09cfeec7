import socket
from typing import Any

import pytest

from autogen_nb.models.config.local_servers import LocalServers
from tests.models.local import models, serving

PATIENT = 20.0
"""Seconds that a server on a busy machine may take where time is not what is tested."""


@pytest.mark.parametrize(
    ("says", "status"),
    [
        (b"<html>", 200),
        (models("a"), 404),
        ({"data": "a"}, 200),
        ([1], 200),
        ({"data": [{}]}, 200),
        (b'{"data": [' + b" " * 1_000_001 + b"]}", 200),
        (b"[" * 100_000, 200),
    ],
    ids=["no JSON", "not found", "no list", "a list", "no name", "too long", "too deep"],
)
def test_what_is_no_server_of_models_is_left_out(says: Any, status: int) -> None:
    with serving(says, status) as local:
        assert LocalServers({"vLLM": local.port}, timeout=PATIENT).listening() == ()


@pytest.mark.slow
def test_one_that_never_answers_does_not_hold_the_others_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, serving(models("a")) as local:
        never = dict.fromkeys(("one", "three", "four", "five"), silent.getsockname()[1])
        found = LocalServers({**never, "two": local.port}, timeout=4.0).listening()

    assert [server.kind for server in found] == ["two"]


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]

    assert LocalServers({"Ollama": port}, timeout=PATIENT).listening() == ()
    assert LocalServers({}).listening() == ()
