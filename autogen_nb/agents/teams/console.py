"""`Console`: shows the run of a team and returns its result."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from typing import Any

from autogen_nb.agents.teams.message_stream import MessageStream, own_view
from autogen_nb.agents.teams.team_messages import (
    BaseMessage,
    ModelClientStreamingChunkEvent,
    Response,
    TaskResult,
    TextMessage,
    ToolCallExecutionEvent,
    ToolCallRequestEvent,
    UserInputRequestedEvent,
)
from autogen_nb.core.chats.termination_checks import END_WORD, WordFilter, without
from autogen_nb.core.text.execution_report import plain
from autogen_nb.core.text.visible_text import visible
from autogen_nb.errors import ConfigError
from autogen_nb.views.plain_view import write

_RULE = "-" * 10


async def Console(  # noqa: N802 - AgentChat's name
    stream: AsyncIterator[Any], *, no_inline_images: bool = False, output_stats: bool = False
) -> Any:
    """Shows the items of a stream and returns the last one, a `TaskResult` or a `Response`.

    In a notebook, the run is shown like a chat of ``%%autogen``. Elsewhere, each message is printed as text after its
    type and source, and streamed pieces are printed as they arrive.

    Parameters
    ----------
    stream
        The result of ``run_stream``.
    no_inline_images
        Ignored; images are not printed.
    output_stats
        Also prints the numbers of tokens and the duration, except in a notebook.

    Raises
    ------
    ConfigError
        For a stream that ends without a `TaskResult` or a `Response`.
    """
    del no_inline_images
    if isinstance(stream, MessageStream) and (view := own_view()) is not None:
        stream.view = view
        with closing(view):
            return await _last(stream, lambda _: None)
    return await _last(stream, _Printer(stats=output_stats).show)


async def _last(stream: AsyncIterator[Any], show: Callable[[Any], None]) -> Any:
    last: Any = None
    async for item in stream:
        show(item)
        last = item
    if not isinstance(last, TaskResult | Response):
        raise ConfigError("the stream ended without a result; give Console the stream that run_stream returns")
    return last


class _Printer:
    def __init__(self, *, stats: bool) -> None:
        self._stats = stats
        self._streaming = False
        self._lines = WordFilter(END_WORD)
        self._started = time.monotonic()
        self._prompt = self._completion = 0

    def show(self, item: Any) -> None:
        match item:
            case TaskResult() if self._stats:
                self._end(item)
            case Response():
                self._message(item.chat_message)
            case BaseMessage() if not isinstance(item, UserInputRequestedEvent):
                self._message(item)

    def _message(self, message: BaseMessage) -> None:
        if not self._streaming:
            write(f"{_RULE} {type(message).__name__} ({visible(message.source)}) {_RULE}\n")
        if isinstance(message, ModelClientStreamingChunkEvent):
            self._streaming = True
            write(_printable(self._lines.add(message.content)))
            return
        text = self._lines.end() if self._streaming else _text(message)
        write(f"{_printable(text)}\n")
        self._streaming, self._lines = False, WordFilter(END_WORD)
        if usage := message.models_usage:
            self._prompt += usage.prompt_tokens
            self._completion += usage.completion_tokens
            if self._stats:
                write(f"({usage.prompt_tokens:,} prompt + {usage.completion_tokens:,} completion tokens)\n")

    def _end(self, result: TaskResult) -> None:
        write(
            f"{_RULE} Summary {_RULE}\n{len(result.messages)} messages in {time.monotonic() - self._started:.1f} s, "
            f"{self._prompt:,} prompt + {self._completion:,} completion tokens\n{result.stop_reason or ''}\n"
        )


def _text(message: BaseMessage) -> str:
    match message:
        case ToolCallRequestEvent(content=calls):
            return "\n".join(f"{call.name}({call.arguments})" for call in calls)
        case ToolCallExecutionEvent(content=results):
            return "\n".join(f"{result.name}: {result.content}" for result in results)
        case TextMessage(source=source, content=text) if source != "user" and END_WORD in text:
            return without(END_WORD, text)
        case _:
            return message.to_text()


def _printable(text: str) -> str:
    return visible(plain(text))
