"""What the models around a model share: the name of the inner one, and what it says of itself.

A model may say more of itself than `core.ports.Model` asks for. All of it is optional:

- `identity`: a JSON value that holds, beside the messages, everything that decides its replies; None where
  a reply depends on more than that. A cache needs it.
- `price`: US dollars per 1,000 prompt tokens and per 1,000 completion tokens, None where it is not known.
- `completion_limit`: how many tokens a reply has at most, None where that is not set.
"""

from collections.abc import AsyncIterator, Callable
from typing import Any, Self

from autogen_nb.core.ports import Model, ModelRequest, Part
from autogen_nb.errors import ConfigError
from autogen_nb.models.openai.openai_model import OpenAIModel


class ModelWrapper:
    """A model around another; it is named after the inner one and passes on what that says of itself."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def __repr__(self) -> str:
        return f"<{type(self).__name__} around {self._model!r}>"

    @property
    def name(self) -> str:
        """The name of the inner model."""
        return self._model.name

    @property
    def identity(self) -> Any:
        """What decides the inner model's replies."""
        return identity_of(self._model)

    @property
    def price(self) -> tuple[float, float] | None:
        """What the inner model costs."""
        return price_of_model(self._model)

    @property
    def completion_limit(self) -> int | None:
        """How long the inner model's replies may be, in tokens."""
        return completion_limit_of(self._model)

    def reply(self, request: ModelRequest) -> AsyncIterator[Part]:
        """What the inner model replies."""
        return self._model.reply(request)

    def _around(self, wrap: Callable[[Model], Model]) -> Self:
        """The same layer around the inner model as it is wrapped."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._model = wrap(self._model)
        return other


def identity_of(model: Model) -> Any:
    """The model's `identity`; a model that says nothing of it is told by its class and its name.

    Raises
    ------
    ConfigError
        For a bare `OpenAIModel`, whose name alone would give one temperature's reply for another's.
    """
    if isinstance(model, OpenAIModel) and not hasattr(model, "identity"):
        raise ConfigError(
            f"what decides the replies of {model!r} is not known, so it cannot be cached: "
            "describe it as an llm_config, such as {'model': ..., 'base_url': ..., 'cache_seed': 42}"
        )
    return getattr(model, "identity", [type(model).__qualname__, model.name])


def price_of_model(model: Model) -> tuple[float, float] | None:
    """The model's `price`, None where it says nothing of it."""
    price: tuple[float, float] | None = getattr(model, "price", None)
    return price


def completion_limit_of(model: Model) -> int | None:
    """The model's `completion_limit`, None where it says nothing of it."""
    limit: int | None = getattr(model, "completion_limit", None)
    return limit
