"""Which model a cell speaks to."""

from typing import Any

import pytest

from autogen_nb.notebook.connections import Connection, choose

SERVER = Connection("given", base_url="http://localhost/v1")
KEY = Connection("given", "sk-1")


@pytest.mark.parametrize(
    ("named", "given", "environ", "chosen"),
    [
        ("", None, {}, None),
        ("gpt-x", None, {}, None),
        ("", None, {"AUTOGEN_NB_MODEL": "env"}, None),
        ("", None, {"OPENAI_BASE_URL": "http://localhost/v1"}, None),
        ("", None, {"OPENAI_BASE_URL": "http://localhost/v1", "AUTOGEN_NB_MODEL": "env"}, "env"),
        ("", None, {"OPENAI_API_KEY": "sk"}, "gpt-4o-mini"),
        ("", None, {"OPENAI_API_KEY": "sk", "AUTOGEN_NB_MODEL": "env"}, "env"),
        ("gpt-x", None, {"OPENAI_API_KEY": "sk", "AUTOGEN_NB_MODEL": "env"}, "gpt-x"),
        ("offline", None, {}, "offline"),
        ("replay:talk.jsonl", None, {}, "replay:talk.jsonl"),
        ("", None, {"AUTOGEN_NB_MODEL": "offline"}, "offline"),
        ("", SERVER, {}, {"model": "given", "base_url": "http://localhost/v1"}),
        ("", SERVER, {"AUTOGEN_NB_MODEL": "env"}, {"model": "given", "base_url": "http://localhost/v1"}),
        ("", KEY, {}, {"model": "given", "api_key": "sk-1"}),
        ("other", KEY, {"OPENAI_API_KEY": "sk"}, {"model": "other", "api_key": "sk-1"}),
        ("offline", KEY, {}, "offline"),
    ],
)
def test_the_model_of_a_cell(named: str, given: Connection | None, environ: dict[str, str], chosen: Any) -> None:
    """The cell's own model wins, then what the person gave, then the environment; a name alone is no connection."""
    assert choose(named, given, environ) == chosen


def test_a_key_is_not_printed() -> None:
    """A connection's representation does not hold the key."""
    assert "sk-1" not in repr(KEY)
