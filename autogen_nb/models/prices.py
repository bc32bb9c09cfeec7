"""What tokens cost, by the price list that the installed `genai-prices` holds; no network is used.

1. A model that is not on the list costs an unknown amount, which is never 0: a model of another maker, a model of the
   same name on somebody else's server.
2. A price that the user gave wins over the list.
3. The list is that of the standard service; what the server saves by its own prompt cache is not deducted, so a
   cost is at most a little too high.
"""

from typing import TypeAlias
from urllib.parse import urlsplit

from autogen_nb.messages import Usage

Price: TypeAlias = tuple[float, float]
"""US dollars per 1,000 prompt tokens and per 1,000 completion tokens."""

_HOSTS = ("api.openai.com", "openai.azure.com", "cognitiveservices.azure.com", "services.ai.azure.com")


def is_listed_at(url: str | None) -> bool:
    """Whether the list is that of the server at this address: OpenAI's (None) or Azure's."""
    if url is None:
        return True
    host = (urlsplit(url).hostname or "").lower()
    return any(host == known or host.endswith(f".{known}") for known in _HOSTS)


def price_at(model: str, url: str | None = None) -> Price | None:
    """The price of a short request at this address; None where the list is silent.

    A snapshot with its date costs what its family costs, unless the list says otherwise.
    """
    # Prices depend on a request's length; 1,000 tokens are below every step.
    return _listed(model, Usage(1000, 1000), url)


def cost_of(model: str, usage: Usage, price: Price | None = None, *, url: str | None = None) -> float | None:
    """What a reply cost in US dollars; None where it is not known."""
    if price is not None:
        return cost_at(usage, price)
    found = _listed(model, usage, url)
    return None if found is None else sum(found)


def cost_at(usage: Usage, price: Price) -> float:
    """What the tokens cost at this price, in US dollars."""
    return (usage.prompt_tokens * price[0] + usage.completion_tokens * price[1]) / 1000


def _listed(model: str, usage: Usage, url: str | None) -> tuple[float, float] | None:
    if not is_listed_at(url):
        return None
    import genai_prices

    asked = genai_prices.Usage(input_tokens=usage.prompt_tokens, output_tokens=usage.completion_tokens)
    try:
        found = genai_prices.calc_price(asked, model.strip(), provider_id="openai")
    except LookupError:
        return None
    return float(found.input_price), float(found.output_price)
