import subprocess
import sys

import pytest

from autogen_nb.messages import Usage
from autogen_nb.models.prices import cost_of, price_at

MILLION = Usage(1_000_000, 1_000_000)


@pytest.mark.parametrize(
    "model", ["", "llama3", "ft:llama3:me::x", "gpt-4o-mini-mine", "gpt-4o-2024", "gpt", "claude-sonnet-4-0"]
)
def test_what_the_list_does_not_name_is_unknown(model: str) -> None:
    assert price_at(model) is None
    assert cost_of(model, MILLION) is None


def test_list_needs_no_network() -> None:
    source = """
import socket, sys
import autogen_nb.models.prices as prices
assert "genai_prices" not in sys.modules
def refuse(*args): raise AssertionError("a socket was opened")
socket.socket.connect = refuse
assert prices.price_at("gpt-4o") == (0.0025, 0.01)
"""
    subprocess.run([sys.executable, "-c", source], check=True)


def test_given_price_wins_over_the_list() -> None:
    usage = Usage(2000, 1000)

    assert cost_of("gpt-4o", usage) == pytest.approx(0.015)
    assert cost_of("gpt-4o", usage, (1.0, 2.5)) == pytest.approx(4.5)
    assert cost_of("llama3", usage, (0.0, 0.0), url="http://localhost:11434/v1") == 0.0
