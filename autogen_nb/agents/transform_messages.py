"""`TransformMessages`: AutoGen 0.2's capability that changes the messages for a model."""

from collections.abc import Sequence
from copy import deepcopy

from autogen_nb.agents.message_transforms import Messages, MessageTransform
from autogen_nb.agents.parts.message_hooks import ALL, MessageHooks
from autogen_nb.run.io_stream import IOStream


class TransformMessages:
    """Applies transforms, in order, to the messages before each reply of an agent.

    Parameters
    ----------
    verbose
        Prints a line for each transform that changes the messages.
    """

    def __init__(self, *, transforms: Sequence[MessageTransform] = (), verbose: bool = True) -> None:
        self._transforms = transforms
        self._verbose = verbose

    def add_to_agent(self, agent: MessageHooks) -> None:
        """Registers the transforms as a hook of the agent."""
        agent.register_hook(ALL, self._transformed)

    def _transformed(self, messages: Messages) -> Messages:
        system = messages[:1] if messages[0].get("role") == "system" else []
        changed = deepcopy(messages[len(system) :])
        for transform in self._transforms:
            before = deepcopy(changed)
            changed = transform.apply_transform(changed)
            line, has_effect = transform.get_logs(before, changed)
            if self._verbose and has_effect:
                IOStream.get_default().print(line)
        return [*system, *changed]
