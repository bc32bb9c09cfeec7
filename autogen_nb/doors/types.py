"""The types of messages, under AutoGen 0.2's module name."""

from autogen_nb.core.text.fenced_code import (
    MessageContentType,
    UserMessageImageContentPart,
    UserMessageTextContentPart,
)

__all__ = ["MessageContentType", "UserMessageImageContentPart", "UserMessageTextContentPart"]
