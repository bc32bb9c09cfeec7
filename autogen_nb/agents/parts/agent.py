"""What every agent is: a name for AutoGen's own triggers and annotations."""


class Agent:
    """The base of all agents."""
