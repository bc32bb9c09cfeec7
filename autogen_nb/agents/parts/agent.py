"""The base of all agents."""

from autogen_nb.errors import ConfigError


class Agent:
    """The base class of all agents, as AutoGen's triggers and annotations use it."""

    is_anonymous = False  # True for the sender of a `generate_reply()` call without one

    def __init__(self, name: str) -> None:
        if not isinstance(name, str) or not name.strip():
            raise ConfigError(f"an agent's name is {name!r}; it must be a text that is not empty")
        self._name = name

    @property
    def name(self) -> str:
        """The agent's name."""
        return self._name
