import importlib
import inspect
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

NAMES: dict[str, str] = json.loads((Path(__file__).parent / "parity" / "names.json").read_text())
"""What each module of AutoGen 0.2.40 defines and each package re-exports, read from the sources of its wheel."""

PAGE = Path(__file__).parent.parent / "docs" / "autogen.md"

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
"""Why names are not here, with patterns of these names after ``autogen``; the first pattern counts."""

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
    return True


def _declared(owner: Any, name: str) -> Any:
    """An attribute that instances have: a parameter of their class, or an annotated one."""
    if inspect.isclass(owner) and name in {*inspect.signature(owner).parameters, *inspect.get_annotations(owner)}:
        return object()
    return inspect.getattr_static(owner, name)


def state_of(name: str) -> str:
    own = re.sub("^autogen", "autogen_nb", name)
    if is_here(own):
        return "here"
    if any(is_here(re.sub(pattern, place, name)) for pattern, place in ELSEWHERE if re.match(pattern, name)):
        return "here, in another module"
    return next(why for why, patterns in WHY.items() if any(re.match(f"autogen(?:{each})", name) for each in patterns))


def test_page_has_the_state_of_every_name() -> None:
    names = [f"{module}:{name}" for module, names in NAMES.items() for name in names.split()]
    counts = Counter(map(state_of, names))

    rows = dict(re.findall(r"^\| (.+?) \| ([\d,]+) \|$", PAGE.read_text(), re.MULTILINE))
    assert rows == {state: f"{count:,}" for state, count in counts.items()}
