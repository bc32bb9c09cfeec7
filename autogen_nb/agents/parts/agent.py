"""The base of all agents."""

from autogen_nb.errors import ConfigError


class Agent:
    """What every agent is, for AutoGen's own triggers and annotations.

    Attributes
    ----------
    is_somebody
        Whether reply functions are told of it as a sender; who asks for a reply without naming one is nobody.
    """

    is_somebody = True

    def __init__(self, name: str) -> None:
        if not isinstance(name, str) or not name.strip():
            raise ConfigError(f"an agent's name is {name!r}; it must be a text that is not empty")
        self._name = name

    @property
    def name(self) -> str:
        """How the agent is called."""
        return self._name
