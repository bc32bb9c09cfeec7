from typing import Any

from autogen_nb.events import ModelReplied
from autogen_nb.messages import Completion, Message


def replied(message: Message, model: str = "", *, seconds: float = 0.0, **fields: Any) -> ModelReplied:
    return ModelReplied(Completion(message, model, **fields), seconds)
