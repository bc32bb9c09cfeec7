import logging
import subprocess
import sys
from importlib import import_module
from typing import Any

import pytest

import autogen_nb as autogen
from autogen_nb.agents.group_chat import check_graph_validity, invert_disallowed_to_allowed
from autogen_nb.errors import ConfigError
from tests.test_autogen_names import NAMES
from tests.test_imports import HEAVY


def test_its_modules_load_no_large_library() -> None:
    names = [name.replace("autogen", "autogen_nb", 1) for name in NAMES]
    load = f"for name in {names}:\n    with suppress(ImportError): __import__(name)"

    assert program("from contextlib import suppress", load, f"print({{*sys.modules}} & {{*{HEAVY}}})") == "set()"


@pytest.mark.parametrize(
    ("module", "name", "advice"),
    [
        ("agentchat.contrib.gpt_assistant_agent", "GPTAssistantAgent", "use an AssistantAgent with tools"),
        ("agentchat.contrib.retrieve_user_proxy_agent", "RetrieveUserProxyAgent", "a function tool that searches"),
        ("agentchat.contrib.capabilities.teachability", "Teachability", "update_system_message"),
        ("agentchat.contrib.capabilities.transforms", "TextMessageCompressor", "MessageTokenLimiter"),
        ("io.websockets", "IOWebsockets", "a subclass of IOStream"),
        ("cache.in_memory_cache", "InMemoryCache", "Cache.disk"),
        ("oai.cerebras", "CerebrasClient", "base_url"),
        ("agentchat.group.guardrails", "RegexGuardrail", "hand over by an OnContextCondition"),
        ("retrieve_utils", "query_vector_db", "a function tool that searches"),
    ],
)
def test_the_use_of_what_is_missing_says_what_to_use(module: str, name: str, advice: str) -> None:
    missing = getattr(import_module(f"autogen_nb.{module}"), name)

    with pytest.raises(ValueError, match=f"{name} is not available in autogen_nb; .*{advice}") as caught:
        missing("agent", llm_config=False)
    with pytest.raises(ValueError, match=advice):
        type("Own", (missing,), {})()
    with pytest.raises(AttributeError, match=f"{name} is not available in autogen_nb; .*{advice}"):
        missing.run_server_in_thread()
    assert "\n" not in str(caught.value)


def test_import_autogen_gives_the_same_modules_which_are_attributes() -> None:
    shown = "autogen_nb.agentchat.ChatResult is autogen_nb.ChatResult, autogen_nb.formatting_utils.colored.__name__"
    printed = program(
        "import autogen_nb",
        f"print({shown})",
        "autogen_nb.install_as_autogen(); autogen_nb.install_as_autogen()",
        "import autogen, autogen.agentchat.utils as utils",
        "from autogen.coding import jupyter",
        "same = autogen is autogen_nb, utils is autogen_nb.agentchat.utils, jupyter is autogen_nb.coding.jupyter",
        "print(same, autogen.__spec__.name, utils.__spec__.name)",
        "try: import autogen.nothing",
        "except ModuleNotFoundError as error: print(error)",
    )

    assert printed.splitlines() == [
        "True colored",
        "(True, True, True) autogen_nb autogen_nb.agentchat.utils",
        "autogen_nb has no module 'autogen.nothing'",
    ]


def test_another_autogen_is_not_replaced() -> None:
    printed = program(
        "import types, autogen_nb",
        "sys.modules['autogen'] = types.ModuleType('autogen')",
        "try: autogen_nb.install_as_autogen()",
        "except ValueError as error: print(error)",
    )

    assert printed == "another autogen is already imported; restart Python and call install_as_autogen() first"


def program(*lines: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-c", "\n".join(("import sys", *lines))], check=True, stdout=subprocess.PIPE, text=True
    )
    return ran.stdout.strip()


A, B, C = (autogen.ConversableAgent(name, llm_config=False) for name in "abc")


@pytest.mark.parametrize(
    ("graph", "warning"),
    [
        ({A: [B], B: [C], C: [A]}, ""),
        ({A: [B, B], B: [A], C: [A]}, "twice in one list: b"),
        ({A: [A], B: [A]}, "not in the dict: c"),
    ],
)
def test_a_graph_is_checked(graph: Any, warning: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        check_graph_validity(graph, [A, B, C])

    assert warning in caplog.text
    assert bool(caplog.text) == bool(warning)


@pytest.mark.parametrize("graph", [[A], {A: B}, {A: ["b"]}, {"a": [B]}])
def test_a_graph_of_other_agents_is_an_error(graph: Any) -> None:
    with pytest.raises(ConfigError, match="allowed_speaker_transitions_dict"):
        check_graph_validity(graph, [A, B, C])


def test_forbidden_transitions_become_allowed_ones() -> None:
    assert invert_disallowed_to_allowed({A: [B], B: [A, B, C]}, [A, B, C]) == {A: [A, C], B: [], C: [A, B, C]}
