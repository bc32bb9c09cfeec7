"""`TransformMessages`, under AutoGen 0.2's module name."""

from autogen_nb.agents.message_transforms import MessageTransform
from autogen_nb.agents.transform_messages import TransformMessages

__all__ = ["MessageTransform", "TransformMessages"]
