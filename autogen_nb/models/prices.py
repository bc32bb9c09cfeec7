"""What tokens cost, by the price list that the installed `genai-prices` holds; no network is used.

1. A model that is not on the list costs an unknown amount, which is never 0: a model of another maker, a model of the
   same name on somebody else's server.
2. A price that the user gave wins over the list.
3. The list is that of the standard service; what the server saves by its own prompt cache is not deducted, so a
   cost is at most a little too high.
"""

from decimal import Decimal
from urllib.parse import urlsplit

from autogen_nb.messages import Usage

_HOSTS = ("api.openai.com", "openai.azure.com", "cognitiveservices.azure.com", "services.ai.azure.com")


def price_of(model: str) -> tuple[float, float] | None:
    """US dollars per 1,000,000 prompt tokens and per 1,000,000 completion tokens of a short request.

    None where the list is silent. A snapshot with its date costs what its family costs, unless the list says otherwise.
    """
    # Prices depend on a request's length; 1,000 tokens are below every step.
    found = _listed(model, Usage(1000, 1000))
    return None if found is None else (float(found[0] * 1000), float(found[1] * 1000))


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
    if price is not None:
        return (usage.prompt_tokens * price[0] + usage.completion_tokens * price[1]) / 1000
    found = _listed(model, usage) if is_listed_at(url) else None
    return None if found is None else float(found[0] + found[1])


def warm_up() -> None:
    """Loads the list, for which the first reply would wait; may run in any thread."""
    price_of("")


def _listed(model: str, usage: Usage) -> tuple[Decimal, Decimal] | None:
    """What the prompt and what the reply costs, by the list."""
    import genai_prices

    asked = genai_prices.Usage(input_tokens=usage.prompt_tokens, output_tokens=usage.completion_tokens)
    try:
        found = genai_prices.calc_price(asked, model.strip(), provider_id="openai")
    except LookupError:
        return None
    return found.input_price, found.output_price
