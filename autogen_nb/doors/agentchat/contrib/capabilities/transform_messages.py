"""`TransformMessages`, under AutoGen 0.2's module name."""

from autogen_nb.agents.transform_messages import TransformMessages
from autogen_nb.core.text.message_transforms import MessageTransform

__all__ = ["MessageTransform", "TransformMessages"]
