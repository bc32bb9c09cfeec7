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


@pytest.mark.parametrize("name", ["api.example.com", "2001:db8::1"])
def test_no_name_is_looked_up(name: str) -> None:
    with pytest.raises(NetworkUsed, match=name):
        socket.getaddrinfo(name, 443)


def test_no_key_is_in_the_environment() -> None:
    ours = home_variables(Path.home())

    assert [name for name in os.environ if name.startswith(FOREIGN) and name not in ours] == []
