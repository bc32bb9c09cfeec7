import inspect
from collections.abc import Callable
from typing import Any

import pytest

import autogen_nb as autogen

CLASSES = "AssistantAgent UserProxyAgent GroupChatManager GroupChat BaseGroupChat RoundRobinGroupChat SelectorGroupChat"
FUNCTIONS = "initiate_chats a_initiate_chats register_function gather_usage_summary Console"
OPEN = "initiate_chat a_initiate_chat generate_init_message a_generate_init_message register_model_client".split()
"""What takes further names, since AutoGen hands them on to the program's own functions and classes."""


def called() -> dict[str, Callable[..., Any]]:
    classes = {name: getattr(autogen, name) for name in CLASSES.split()}
    methods = {
        f"{owner}.{name}": method
        for owner, cls in classes.items()
        for name, method in inspect.getmembers(cls, inspect.isfunction)
        if not name.startswith("_") and name not in OPEN
    }
    return classes | methods | {name: getattr(autogen, name) for name in FUNCTIONS.split()}


@pytest.mark.parametrize(("name", "function"), called().items(), ids=called())
def test_no_parameter_hides_others(name: str, function: Callable[..., Any]) -> None:
    found = [each for key, each in inspect.signature(function).parameters.items() if key != "self"]

    assert [each for each in found if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD)] == []
    assert [each for each in found if each.annotation is each.empty] == []
