"""The cost of tokens, from the price list in the package `genai-prices`, without network access.

1. The cost of a model that is not on the list is unknown, never 0. The cost of other vendors' models, and of any model
   on another server, is unknown, too.
2. A price from the user takes precedence over the list.
3. The list has the prices of the standard service tier, without discounts for the server's prompt cache, so a cost may
   be slightly too high.
"""

from typing import TypeAlias
from urllib.parse import urlsplit

from autogen_nb.messages import Usage

Price: TypeAlias = tuple[float, float]
"""US dollars per 1,000 prompt tokens and per 1,000 completion tokens."""

_HOSTS = (".api.openai.com", ".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")


def is_listed_at(url: str | None) -> bool:
    """True if the list has the prices of the server: OpenAI (also for None) or Azure."""
    return url is None or f".{urlsplit(url).hostname}".endswith(_HOSTS)


def price_at(model: str, url: str | None = None) -> Price | None:
    """The price of a short request; None for a model that is not on the list.

    A dated snapshot has the price of its model, unless the list has a price for the snapshot.
    """
    # Some models cost more per token in long requests; 1,000 tokens are short for all of them.
    return _listed(model, Usage(1000, 1000), url)


def cost_of(model: str, usage: Usage, price: Price | None = None, *, url: str | None = None) -> float | None:
    """The cost of a reply in US dollars; None if it is unknown."""
    if price is not None:
        return cost_at(usage, price)
    costs = _listed(model, usage, url)
    return None if costs is None else sum(costs)


def cost_at(usage: Usage, price: Price) -> float:
    return (usage.prompt_tokens * price[0] + usage.completion_tokens * price[1]) / 1000


def _listed(model: str, usage: Usage, url: str | None) -> tuple[float, float] | None:
    if not is_listed_at(url):
        return None
    import genai_prices

    tokens = genai_prices.Usage(input_tokens=usage.prompt_tokens, output_tokens=usage.completion_tokens)
    try:
        calculation = genai_prices.calc_price(tokens, model.strip(), provider_id="openai")
    except LookupError:
        return None
    return float(calculation.input_price), float(calculation.output_price)
