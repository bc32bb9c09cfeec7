"""What the models around a model share: the name of the inner one, and what it says of itself.

A model may say more of itself than `core.ports.Model` asks for. All of it is optional:

- `identity`: a JSON value that holds, beside the messages, everything that decides its replies; None where
  a reply depends on more than that. A cache needs it.
- `price`: US dollars per 1,000 prompt tokens and per 1,000 completion tokens, None where it is not known.
- `completion_limit`: how many tokens a reply has at most, None where that is not set.
"""

from collections.abc import Callable
from copy import copy
from typing import Any, Self

from autogen_nb.core.ports import Model
from autogen_nb.models.prices import Price


class ModelWrapper:
    """A model around another; it is named after the inner one and passes on what that says of itself."""

    def __init__(self, model: Model) -> None:
        self.inner = model

    def __repr__(self) -> str:
        return f"<{type(self).__name__} around {self.inner!r}>"

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def identity(self) -> Any:
        """What decides the inner model's replies."""
        return identity_of(self.inner)

    @property
    def price(self) -> Price | None:
        """What the inner model costs."""
        return getattr(self.inner, "price", None)

    @property
    def completion_limit(self) -> int | None:
        """How long the inner model's replies may be, in tokens."""
        return getattr(self.inner, "completion_limit", None)

    def around(self, wrap: Callable[[Model], Model]) -> Self:
        other = copy(self)
        other.inner = wrap(self.inner)
        return other


def identity_of(model: Model) -> Any:
    """The model's `identity`; a model that says nothing of it is told by its class and its name."""
    return getattr(model, "identity", [type(model).__qualname__, model.name])
