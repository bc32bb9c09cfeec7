"""A model that asks several models in order until one replies."""

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

from autogen_nb.core.ports import Model, ModelRequest, Notice, Part
from autogen_nb.errors import ContentFiltered, ContextTooLong, ModelRefused, ModelUnavailable
from autogen_nb.models.wrappers.wrapper import ModelWrapper, identity_of, open_reply


class Fallback:
    """Asks the next model if a model is unavailable or refuses a request.

    `ContentFiltered` and an error after the first piece of a reply are final.
    """

    def __init__(self, models: Sequence[Model]) -> None:
        self._models = tuple(models)

    def __repr__(self) -> str:
        return f"Fallback({list(self._models)!r})"

    @property
    def name(self) -> str:
        return ", ".join(model.name for model in self._models)

    @property
    def identity(self) -> Any:
        identities = [identity_of(model) for model in self._models]
        return None if None in identities else identities

    def around(self, wrap: Callable[[Model], Model]) -> "Fallback":
        return Fallback([wrap(model) for model in self._models])

    async def reply(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        """The reply of the first model that replies; the `Completion` names the model."""
        causes: list[ModelUnavailable | ModelRefused] = []
        for model in self._models:
            has_reply = False
            try:
                async with open_reply(model, request) as items:
                    async for item in items:
                        has_reply = not isinstance(item, Notice)
                        yield item
            except (ModelUnavailable, ModelRefused) as error:
                if has_reply or isinstance(error, ContentFiltered):
                    raise
                causes.append(error)
            else:
                return
        if len(causes) == 1:
            raise causes[0]
        reasons = "; ".join(str(error) for error in causes)
        too_long = any(isinstance(error, ContextTooLong) for error in causes)
        kind = ContextTooLong if too_long else type(causes[-1])
        raise kind(f"none of {len(causes)} models answered: {reasons}", model=self.name)


def around_each(model: Model, wrap: Callable[[Model], Model]) -> Model:
    """The model with `wrap` as the innermost wrapper, around each model of a fallback."""
    if isinstance(model, ModelWrapper | Fallback):
        return model.around(lambda inner: around_each(inner, wrap))
    return wrap(model)
