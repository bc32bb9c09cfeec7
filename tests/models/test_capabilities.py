from typing import Any

import pytest

from autogen_nb.errors import ConfigError
from autogen_nb.models.config.model_connection import sees
from autogen_nb.models.config.model_selection import model_for


@pytest.mark.parametrize(
    ("spec", "seeing"),
    [
        ("gpt-4o-mini", True),
        ("gpt-4o-audio-preview", False),
        ("gpt-5", True),
        ("gpt-3.5-turbo", False),
        ("o1-mini", False),
        ("o3", True),
        ("claude-sonnet-4-5", True),
        ("qwen2.5-vl:7b", True),
        ("llama3.2", False),
        ("offline", False),
        ({"model": "my-own", "vision": True}, True),
        ({"model": "gpt-4o", "vision": False}, False),
        ({"config_list": [{"model": "gpt-4o"}, {"model": "gpt-3.5-turbo"}]}, False),
        ({"config_list": [{"model": "gpt-4o"}, {"model": "mine"}], "vision": True}, True),
        ({"config_list": [{"model": "gpt-4o"}, {"model": "mine", "vision": False}], "vision": True}, False),
    ],
    ids=str,
)
def test_models_that_see(spec: Any, seeing: bool) -> None:
    assert sees(spec) is seeing


def test_vision_is_a_truth() -> None:
    with pytest.raises(ConfigError, match="vision is 'no'"):
        model_for({"model": "mine", "vision": "no"})
