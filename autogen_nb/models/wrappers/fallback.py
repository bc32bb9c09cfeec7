"""Several models as one: the next is asked where one cannot or will not answer."""

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

from autogen_nb.core.ports import Model, ModelRequest, Part, Waiting
from autogen_nb.errors import ConfigError, ContentFiltered, ContextTooLong, ModelRefused, ModelUnavailable
from autogen_nb.models.wrappers.reply_streams import open_reply
from autogen_nb.models.wrappers.wrapper import identity_of


class Fallback:
    """The first of several models that answers.

    The next one is asked when a model is unavailable or refuses, but not after a content filter (the same
    would be asked of another), and never once a first piece of text has come.
    """

    def __init__(self, models: Sequence[Model]) -> None:
        if not models:
            raise ConfigError("a fallback needs at least one model")
        self._models = tuple(models)

    def __repr__(self) -> str:
        return f"Fallback({list(self._models)!r})"

    @property
    def name(self) -> str:
        """The names of the models, in their order."""
        return ", ".join(model.name for model in self._models)

    @property
    def identity(self) -> Any:
        """What decides the reply: all the models, in their order; None where one's replies depend on more."""
        each = [identity_of(model) for model in self._models]
        return None if None in each else each

    def around(self, wrap: Callable[[Model], Model]) -> "Fallback":
        """A fallback over the same models, each as it is wrapped."""
        return Fallback([wrap(model) for model in self._models])

    async def reply(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        """What the first model that answers replies; its name is in the `Completion`."""
        causes: list[ModelUnavailable | ModelRefused] = []
        for model in self._models:
            spoken = False
            try:
                async with open_reply(model, request) as items:
                    async for item in items:
                        spoken = not isinstance(item, Waiting)
                        yield item
            except (ModelUnavailable, ModelRefused) as error:
                if spoken or isinstance(error, ContentFiltered):
                    raise
                causes.append(error)
            else:
                return
        if len(causes) == 1:
            raise causes[0]
        told = "; ".join(str(error) for error in causes)
        too_long = any(isinstance(error, ContextTooLong) for error in causes)
        kind = ContextTooLong if too_long else type(causes[-1])
        raise kind(f"none of {len(causes)} models answered: {told}", model=self.name)
