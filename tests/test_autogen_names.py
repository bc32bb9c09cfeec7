import importlib
import inspect
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from autogen_nb.autogen_modules import StandIn
from autogen_nb.cli.doctor_command import way_of

PARITY = Path(__file__).parent / "parity"
DOCS = Path(__file__).parent.parent / "docs"

NAMES: dict[str, str] = json.loads((PARITY / "names.json").read_text())
"""What each module of AutoGen 0.2.40 defines and each package re-exports, read from the sources of its wheel."""

AGENTCHAT_NAMES: dict[str, str] = json.loads((PARITY / "agentchat_names.json").read_text())
"""What the public modules of AgentChat 0.7.5 export, with the members of classes, read from its wheels: all of
`autogen_agentchat` and `autogen_core`, and the clients for OpenAI and the code executors of `autogen_ext`."""

WHY: dict[str, tuple[str, ...]] = {
    "internal to AutoGen": (
        r".*\b(logger|[A-Z]|WIN32|LEGACY_\w+|NON_CACHE_KEY|SENTINEL|TOOL_ENABLED|silence_pip|filename_patterns)$",
        r"\.(_pydantic|logger|function_utils|cache\.\w+_cache|cache\.(abstract|cache_f)|oai\.client_utils)",
        r"\.(coding\.utils|coding\.jupyter\.jupyter_client|io\.base:(In|Out)putStream|oai\.rate_limiters)",
        r"\.(math_utils|graph_utils|code_utils:)",
        r"\.agentchat\.contrib\.(capabilities\.transforms_util|multimodal_conversable_agent:DEFAULT)",
    ),
    "removed in AutoGen 0.2": (r"(\.oai)?:(ChatCompletion|Completion)$", r"\.oai\.completion:"),
    "a client of one vendor: each of their servers that has OpenAI's API can be used": (
        r"\.oai\.(anthropic|bedrock|cerebras|cohere|gemini|groq|mistral|ollama|together)",
        r"(\.oai)?:ModelClient$",
        r"\.oai\.client:",
    ),
    "OpenAI's Assistants, which OpenAI has deprecated": (r".*gpt_assistant|.*assistants|.*vector_store",),
    "retrieval and memory: hand data over, or register a function": (
        r"\.agentchat\.contrib\.(vectordb|graph_rag|retrieve|qdrant|llamaindex|text_analyzer)",
        r"\.retrieve_utils|\.agentchat\.contrib\.capabilities\.(teachability|text_comp|agent_cap|transforms:TextM)",
    ),
    "web surfing: register a function, or let the agent's code do it": (r"\.browser_utils|.*web_surfer",),
    "agents that make or judge agents": (
        r"\.agentchat\.contrib\.(agent_builder|agent_eval|agent_optimizer|math_user)",
    ),
    "pictures: they are parts of messages, for every agent": (
        r"\.agentchat\.contrib\.(img_utils|llava|multimodal)|.*(vision_capability|generate_images)",
    ),
    "another way here": (
        r"\.coding\.kubernetes|\.io\.websockets|\.io:IOWebsockets",
        r"\.agentchat\.agent:(Agent\.|LLMAgent)|:(DEFAULT|FAST)_MODEL",
        r".*:(ConversableAgent\.a_process_|GroupChat\.\w+_select_speaker)",
    ),
    "few programs use it": (r".*",),
}
"""Why names of AutoGen 0.2 are not here, with patterns of these names after ``autogen``; the first pattern counts."""

ELSEWHERE = (
    (r"autogen\.coding\.jupyter\.\w+:", "autogen_nb.coding.jupyter:"),
    (r"autogen\.coding\.(local|docker)_commandline_code_executor:", "autogen_nb.coding:"),
)
"""Patterns of modules whose names are in another one here."""


def is_here(name: str) -> bool:
    module, members = name.split(":")
    try:
        found: Any = importlib.import_module(module)
        for member in members.split("."):
            found = getattr(found, member, None) or _declared(found, member)
    except (ImportError, AttributeError):
        return False
    return not isinstance(found, StandIn)


def _declared(owner: Any, name: str) -> Any:
    """An attribute that instances have: a parameter of their class, or an annotated one."""
    if inspect.isclass(owner) and name in {*inspect.signature(owner).parameters, *inspect.get_annotations(owner)}:
        return object()
    return inspect.getattr_static(owner, name)


def state_of(name: str) -> str:
    if is_here(re.sub(r"^autogen(_agentchat|_core|_ext)?", "autogen_nb", name)):
        return "here"
    if any(is_here(re.sub(pattern, place, name)) for pattern, place in ELSEWHERE if re.match(pattern, name)):
        return "here, in another module"
    if not re.match(r"autogen\b", name):
        return way_of(name.replace(":", "."))
    return next(why for why, patterns in WHY.items() if any(re.match(f"autogen(?:{each})", name) for each in patterns))


@pytest.mark.parametrize(("page", "modules"), [("autogen", NAMES), ("coming", AGENTCHAT_NAMES)])
def test_page_has_the_state_of_every_name(page: str, modules: dict[str, str]) -> None:
    names = [f"{module}:{name}" for module, names in modules.items() for name in names.split()]
    counts = Counter(map(state_of, names))

    rows = dict(re.findall(r"^\| (.+?) \| ([\d,]+) \|$", (DOCS / f"{page}.md").read_text(), re.MULTILINE))
    assert rows == {state: f"{count:,}" for state, count in counts.items()}
