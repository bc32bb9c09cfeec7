"""Requests to the models of a chat, and the replies as events."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, TypeVar, cast

from autogen_nb.agents.chats.participant import Participant
from autogen_nb.core.ports import Model, ModelRequest, Reading, Retry
from autogen_nb.errors import ModelError
from autogen_nb.events import (
    ModelDelta,
    ModelReading,
    ModelReplied,
    ModelRetry,
    ReasoningDelta,
    SpeakerGiven,
    SummaryGiven,
)
from autogen_nb.messages import Reasoning, wire
from autogen_nb.run import runtime_log

W = TypeVar("W", SpeakerGiven, SummaryGiven)


def model_request(agent: Participant, messages: Sequence[Mapping[str, Any]], *, calls: bool = True) -> ModelRequest:
    """A request with the agent's system message, the conversation and, with `calls`, the agent's tools."""
    system = [{"role": "system", "content": agent.system_message}] if agent.system_message else []
    conversation = (*system, *wire(messages))
    if not calls:
        return ModelRequest(conversation)
    return ModelRequest(conversation, tuple(agent.api_definitions("tool")), tuple(agent.api_definitions("function")))


async def ask_model(
    model: Model,
    request: ModelRequest,
    agent: Any,
    emit: Callable[[ModelDelta | ReasoningDelta | ModelRetry | ModelReading], None] = lambda _: None,
) -> ModelReplied:
    """Returns a model's reply, and emits its pieces as they arrive; `agent` is the author for the runtime log."""
    started = time.monotonic()
    async with aclosing(cast("Any", model.reply(request))) as parts:
        async for part in parts:
            if isinstance(part, str):
                emit(ModelDelta(agent, part))
            elif isinstance(part, Reasoning):
                emit(ReasoningDelta(agent, part.text))
            elif isinstance(part, Retry):
                emit(ModelRetry(agent, part.reason, part.wait))
            elif isinstance(part, Reading):
                emit(ModelReading(agent, part.host, part.tokens))
            else:
                seconds = time.monotonic() - started
                if runtime_log.active:
                    runtime_log.log_completion(agent, model, request, part, seconds)
                return ModelReplied(part, seconds)
    raise ModelError("the model ended without a reply", model=model.name)


async def ask_for_words(model: Model, request: ModelRequest, kind: type[W]) -> W:
    """A model's reply as the choice of a speaker or as a summary."""
    reply = await ask_model(model, request, "speaker_selection_agent" if kind is SpeakerGiven else "summary")
    return kind(reply.completion.message.text, completion=reply.completion)
