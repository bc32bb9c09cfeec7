"""Which model a cell speaks to: named in the cell, in the settings or the environment, or not at all yet."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

DEFAULT_MODEL = "gpt-4o-mini"
"""The model that a key alone is used with."""

_LOCAL = ("offline", "replay:")


@dataclass(frozen=True, slots=True)
class Connection:
    """What a person gave at the first run; it lives in this process's memory only."""

    model: str = ""
    api_key: str | None = field(default=None, repr=False)
    base_url: str | None = None


def choose(named: str | None, given: Connection | None, environ: Mapping[str, str]) -> Any | None:
    """What `autogen_nb.models.select.model_for` takes, or None where no model can be had yet.

    Parameters
    ----------
    named
        The model named in the cell or in the settings.
    given
        What the person gave at the first run.
    """
    name = named or (given.model if given else "") or environ.get("AUTOGEN_NB_MODEL", "")
    if name.startswith(_LOCAL):
        return name
    if given is not None and (given.api_key or given.base_url):
        return {
            "model": name or DEFAULT_MODEL,
            **({"api_key": given.api_key} if given.api_key else {}),
            **({"base_url": given.base_url} if given.base_url else {}),
        }
    if environ.get("OPENAI_API_KEY"):
        return name or DEFAULT_MODEL
    if environ.get("OPENAI_BASE_URL") and name:
        return name
    return None
