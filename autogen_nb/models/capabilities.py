"""Which models can see pictures: what an entry says of it, else what is known of a model's name."""

import re
from collections.abc import Mapping
from typing import Any

_SEEING = re.compile(
    r"gpt-4o|gpt-4\.1|gpt-4-turbo|gpt-4\.5|gpt-5|chatgpt-4o|\bo1\b(?!-mini|-preview)|\bo3\b(?!-mini)|\bo4"
    r"|claude-|gemini|gemma-?3|llava|pixtral|vision|llama-?4|mistral-(small|medium)-?3|-vl\b|vl[:-]|internvl|minicpm-v",
    re.IGNORECASE,
)
"""As the providers' own lists of models have them, as of November 2026; a name that is not known here does not see."""

_BLIND = re.compile(r"audio|realtime|transcribe|tts|embedding|search|instruct", re.IGNORECASE)


def named(model: str) -> bool:
    """Whether a model of this name is known to see pictures."""
    return bool(_SEEING.search(model)) and not _BLIND.search(model)


def sees(spec: str | Mapping[str, Any]) -> bool:
    """Whether a name or an `llm_config` means a model that sees pictures; of several, which fall back, all must.

    An entry's own ``vision`` (True or False) is what counts, where it has one.
    """
    if isinstance(spec, str):
        return named(spec)
    entries = spec.get("config_list") or [spec]
    common = spec.get("vision")
    return all(_entry(entry, common) for entry in entries if isinstance(entry, Mapping))


def _entry(entry: Mapping[str, Any], common: Any) -> bool:
    said = entry.get("vision", common)
    return named(str(entry.get("model", ""))) if said is None else bool(said)
