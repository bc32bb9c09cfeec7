import subprocess
import sys

import pytest

from autogen_nb.messages import Usage
from autogen_nb.models.prices import cost_of, is_listed_at, price_at

MILLION = Usage(1_000_000, 1_000_000)


@pytest.mark.parametrize(
    ("model", "price"),
    [
        ("gpt-4o", (2.5, 10.0)),
        ("gpt-4o-2024-08-06", (2.5, 10.0)),
        ("gpt-4o-2024-05-13", (5.0, 15.0)),
        ("gpt-4o-mini-2024-07-18", (0.15, 0.6)),
        ("gpt-35-turbo", (0.5, 1.5)),
        ("GPT-4o", (2.5, 10.0)),
        ("o4-mini-2025-04-16", (1.1, 4.4)),
        ("gpt-3.5-turbo-0301", (1.5, 2.0)),
        ("ft:gpt-4o-mini-2024-07-18:me::x", (0.3, 1.2)),
    ],
)
def test_snapshot_costs_what_its_family_costs_unless_the_list_differs(model: str, price: tuple[float, float]) -> None:
    assert price_at(model) == pytest.approx((price[0] / 1000, price[1] / 1000))


@pytest.mark.parametrize(
    "model",
    ["", "llama3", "ft:llama3:me::x", "gpt-4o-mini-mine", "gpt-4o-2024", "gpt", "claude-sonnet-4-0"],
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


@pytest.mark.parametrize(
    ("url", "listed"),
    [
        (None, True),
        ("https://api.openai.com/v1", True),
        ("https://eu.api.openai.com/v1", True),
        ("https://mine.openai.azure.com/", True),
        ("https://mine.cognitiveservices.azure.com/", True),
        ("http://localhost:8000/v1", False),
        ("https://openrouter.ai/api/v1", False),
        ("https://api.openai.com.evil.example/v1", False),
        ("https://notapi.openai.com/v1", False),
        ("nowhere", False),
    ],
)
def test_list_holds_at_openais_and_azures_addresses_only(url: str | None, listed: bool) -> None:
    assert is_listed_at(url) is listed
    assert (price_at("gpt-4o", url) == (0.0025, 0.01)) is listed
    assert (cost_of("gpt-4o", MILLION, url=url) is not None) is listed


def test_long_requests_cost_more_where_the_list_says_so() -> None:
    short, long = Usage(272_000, 1000), Usage(272_001, 1000)

    assert cost_of("gpt-5.4", short) == pytest.approx(0.272 * 2.5 + 0.015)
    assert cost_of("gpt-5.4-2026-03-05", long) == pytest.approx(0.272001 * 5 + 0.0225)
    assert cost_of("gpt-4.1", long) == pytest.approx(0.272001 * 2 + 0.008)
    assert cost_of("gpt-5.4", long, (0.0025, 0.015)) == pytest.approx(0.272001 * 2.5 + 0.015)
