"""What `tests/conftest.py` promises to every other test."""

import asyncio
import os
import socket
from pathlib import Path

import pytest

from tests.conftest import FOREIGN, NetworkUsed, home_variables

ELSEWHERE = "192.0.2.1"
"""An address that RFC 5737 reserves for documentation: no one is there."""


def test_no_connection_leaves_this_machine() -> None:
    with socket.socket() as one, pytest.raises(NetworkUsed, match=r"socket\.connect"):
        one.connect((ELSEWHERE, 443))


def test_no_datagram_leaves_this_machine() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as one, pytest.raises(NetworkUsed, match=r"socket\.sendto"):
        one.sendto(b"hello", (ELSEWHERE, 53))


@pytest.mark.parametrize("name", ["api.example.com", "2001:db8::1"])
def test_no_name_is_looked_up(name: str) -> None:
    with pytest.raises(NetworkUsed, match=name):
        socket.getaddrinfo(name, 443)


def test_asyncio_does_not_leave_either() -> None:
    with pytest.raises(NetworkUsed):
        asyncio.run(asyncio.open_connection(ELSEWHERE, 443))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_loopback_is_open(host: str) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection((host, server.getsockname()[1])) as one,
    ):
        assert one.getpeername()[0] == "127.0.0.1"


def test_unix_sockets_are_open(tmp_path: Path) -> None:
    path = f"{tmp_path}/s"
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as one:
        server.bind(path)
        server.listen()
        one.connect(path)

        assert one.getpeername() == path


def test_no_key_is_in_the_environment() -> None:
    ours = home_variables(Path.home())

    assert [name for name in os.environ if name.startswith(FOREIGN) and name not in ours] == []


def test_home_is_a_folder_of_the_run() -> None:
    assert Path.home().name.startswith("autogen-nb-tests-")
