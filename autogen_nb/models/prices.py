"""The cost of tokens and the sizes of context windows, from the list in `genai-prices`, without network access.

1. The cost of a model that is not on the list is unknown, never 0, and so is the cost at a server that is not a
   provider's.
2. A price from the user takes precedence over the list.
3. The list has the prices of the standard service tier. Tokens that the server read from its prompt cache, or wrote to
   it, have prices of their own.
"""

from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from autogen_nb.messages import Usage
from autogen_nb.models.config.providers import OPENAI, is_openai, provider_at

if TYPE_CHECKING:
    from genai_prices.types import PriceCalculation

Price: TypeAlias = tuple[float, float]
"""US dollars per 1,000 prompt tokens and per 1,000 completion tokens."""


def _price_list(url: str | None) -> str:
    """The list's name for the provider at an address; "" if there is none."""
    provider = OPENAI if is_openai(url) else provider_at(url)
    return (provider.price_list or provider.name) if provider else ""


def is_listed_at(url: str | None) -> bool:
    """True if the list may have the prices of the server."""
    return bool(_price_list(url))


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


@cache
def window_of(model: str, url: str | None = None) -> int | None:
    """The size of a model's context window in tokens, from the same list; None if it is unknown."""
    calculation = _calculated(model, Usage(1, 1), url)
    return None if calculation is None else calculation.model.context_window


def _listed(model: str, usage: Usage, url: str | None) -> tuple[float, float] | None:
    calculation = _calculated(model, usage, url)
    return None if calculation is None else (float(calculation.input_price), float(calculation.output_price))


def _calculated(model: str, usage: Usage, url: str | None) -> "PriceCalculation | None":
    if not is_listed_at(url):
        return None
    import genai_prices

    caches = {"cache_read_tokens": usage.cached_tokens, "cache_write_tokens": usage.cache_write_tokens}
    tokens = genai_prices.Usage(
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.completion_tokens,
        **{name: count for name, count in caches.items() if count},
    )
    try:
        return genai_prices.calc_price(tokens, model.strip(), provider_id=_price_list(url))
    except (LookupError, ValueError):
        return None
