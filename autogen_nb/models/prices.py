"""What tokens cost: OpenAI's public price list as of a date, and nothing that the list does not say.

1. A model that is not on the list costs an unknown amount, which is never 0: a fine-tune, a model of another
   maker, a model of the same name on somebody else's server.
2. A price that the user gave wins over the list.
3. The list is that of the standard service; what the server saves by its own prompt cache is not deducted, so a
   cost is at most a little too high.
"""

import re
from datetime import date
from urllib.parse import urlsplit

from autogen_nb.messages import Usage

AS_OF = date(2026, 11, 21)
"""When the list was last compared with OpenAI's."""

SOURCE = "https://developers.openai.com/api/docs/pricing"
"""Where the list is published; it was compared with the tables of litellm 1.109.1 and genai-prices 0.2.3."""

LONG = 272_000
"""Prompt tokens above which some models charge more for the whole request."""

_LONG_FACTORS = (2.0, 1.5)

DOLLARS_PER_MILLION: dict[str, tuple[float, float]] = {
    "chat-latest": (5.0, 30.0),
    "gpt-3.5-turbo": (0.5, 1.5),
    "gpt-3.5-turbo-0125": (0.5, 1.5),
    "gpt-3.5-turbo-1106": (1.0, 2.0),
    "gpt-3.5-turbo-16k": (3.0, 4.0),
    "gpt-4": (30.0, 60.0),
    "gpt-4-0613": (30.0, 60.0),
    "gpt-4-1106-preview": (10.0, 30.0),
    "gpt-4-turbo": (10.0, 30.0),
    "gpt-4.1": (2.0, 8.0),
    "gpt-4.1-mini": (0.4, 1.6),
    "gpt-4.1-nano": (0.1, 0.4),
    "gpt-4o": (2.5, 10.0),
    "gpt-4o-2024-05-13": (5.0, 15.0),
    "gpt-4o-mini": (0.15, 0.6),
    "gpt-4o-mini-search-preview": (0.15, 0.6),
    "gpt-4o-search-preview": (2.5, 10.0),
    "gpt-5": (1.25, 10.0),
    "gpt-5-chat-latest": (1.25, 10.0),
    "gpt-5-codex": (1.25, 10.0),
    "gpt-5-mini": (0.25, 2.0),
    "gpt-5-nano": (0.05, 0.4),
    "gpt-5-pro": (15.0, 120.0),
    "gpt-5-search-api": (1.25, 10.0),
    "gpt-5.1": (1.25, 10.0),
    "gpt-5.1-chat-latest": (1.25, 10.0),
    "gpt-5.1-codex": (1.25, 10.0),
    "gpt-5.1-codex-max": (1.25, 10.0),
    "gpt-5.1-codex-mini": (0.25, 2.0),
    "gpt-5.2": (1.75, 14.0),
    "gpt-5.2-chat-latest": (1.75, 14.0),
    "gpt-5.2-codex": (1.75, 14.0),
    "gpt-5.2-pro": (21.0, 168.0),
    "gpt-5.3-chat-latest": (1.75, 14.0),
    "gpt-5.3-codex": (1.75, 14.0),
    "gpt-5.4": (2.5, 15.0),
    "gpt-5.4-mini": (0.75, 4.5),
    "gpt-5.4-nano": (0.2, 1.25),
    "gpt-5.4-pro": (30.0, 180.0),
    "gpt-5.5": (5.0, 30.0),
    "gpt-5.5-pro": (30.0, 180.0),
    "gpt-5.6": (4.0, 20.0),
    "gpt-5.6-luna": (0.2, 1.2),
    "gpt-5.6-sol": (4.0, 20.0),
    "gpt-5.6-terra": (2.0, 12.0),
    "gpt-6-astra": (10.0, 50.0),
    "gpt-6-luna": (0.1, 0.5),
    "gpt-6-sol": (2.0, 10.0),
    "gpt-6.1-sol": (2.0, 10.0),
    "gpt-6.1-terra": (1.0, 5.0),
    "o1": (15.0, 60.0),
    "o1-pro": (150.0, 600.0),
    "o3": (2.0, 8.0),
    "o3-deep-research": (10.0, 40.0),
    "o3-mini": (1.1, 4.4),
    "o3-pro": (20.0, 80.0),
    "o4-mini": (1.1, 4.4),
    "o4-mini-deep-research": (2.0, 8.0),
}
"""US dollars per 1,000,000 prompt tokens and per 1,000,000 completion tokens."""

_DEARER_WHEN_LONG = {
    "gpt-5.4",
    "gpt-5.4-pro",
    "gpt-5.5",
    "gpt-5.5-pro",
    "gpt-5.6",
    "gpt-5.6-luna",
    "gpt-5.6-sol",
    "gpt-5.6-terra",
    "gpt-6-astra",
    "gpt-6-luna",
    "gpt-6-sol",
    "gpt-6.1-sol",
    "gpt-6.1-terra",
}

# The short snapshots, such as gpt-4-0613, differ from what their family costs today: they are on the list or unknown.
_SNAPSHOT = re.compile(r"-20\d\d-\d\d-\d\d$")

_HOSTS = ("api.openai.com", "openai.azure.com", "cognitiveservices.azure.com", "services.ai.azure.com")


def price_of(model: str) -> tuple[float, float] | None:
    """US dollars per 1,000,000 prompt tokens and per 1,000,000 completion tokens; None where the list is silent.

    A snapshot with its whole date (``gpt-4o-2024-08-06``) costs what its family costs, unless the list says otherwise.
    """
    return DOLLARS_PER_MILLION.get(_listed_name(model))


def is_listed_at(url: str | None) -> bool:
    """Whether the list is that of the server at this address: OpenAI's (None) or Azure's."""
    if url is None:
        return True
    host = (urlsplit(url).hostname or "").lower()
    return any(host == known or host.endswith(f".{known}") for known in _HOSTS)


def price_at(
    model: str, price: tuple[float, float] | None = None, *, url: str | None = None
) -> tuple[float, float] | None:
    """US dollars per 1,000 tokens: `price` if it was given, else that of the list; None where it is not known.

    Parameters
    ----------
    url
        The server's address, None for OpenAI's own; the list holds at OpenAI's and Azure's addresses only.
    """
    listed = price_of(model) if price is None and is_listed_at(url) else None
    return price if listed is None else (listed[0] / 1000, listed[1] / 1000)


def cost_of(
    model: str, usage: Usage, price: tuple[float, float] | None = None, *, url: str | None = None
) -> float | None:
    """What a reply cost in US dollars; None where it is not known.

    Parameters
    ----------
    model
        The name that the server gave; it tells the snapshot, and on Azure what is behind the deployment's name.
    price
        US dollars per 1,000 prompt tokens and per 1,000 completion tokens; wins over the list.
    url
        As in `price_at`.
    """
    known = price_at(model, price, url=url)
    if known is None:
        return None
    long = price is None and usage.prompt_tokens > LONG and _listed_name(model) in _DEARER_WHEN_LONG
    factors = _LONG_FACTORS if long else (1.0, 1.0)
    prompt, written = (part * factor for part, factor in zip(known, factors, strict=True))
    return (usage.prompt_tokens * prompt + usage.completion_tokens * written) / 1000


def _listed_name(model: str) -> str:
    # Azure allows no dot in the names of deployments, and names these models without it.
    name = model.strip().lower().replace("gpt-35-", "gpt-3.5-")
    return name if name in DOLLARS_PER_MILLION else _SNAPSHOT.sub("", name)
