"""Connections to MCP servers, on the engine's loop.

1. A server on this machine is a program with the scrubbed environment; its supervisor ends it with all its processes
   when the connection or this process ends. It runs outside of sandboxes.
2. What a server says is untrusted: messages, tools and results have limits.
3. Requests for sampling, elicitation and roots are refused, as `Client` does without callbacks.
"""

import asyncio
import hashlib
import json
import logging
import os
import re
import shutil
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import IO, Any, TypeAlias

import anyio
import httpx2
import jsonschema  # type: ignore[import-untyped]  # which ``mcp`` needs
import mcp_types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from pydantic import BaseModel, Field, ValidationError

from autogen_nb._version import __version__
from autogen_nb.core.text.visible_text import visible
from autogen_nb.engine import engine
from autogen_nb.errors import ExecutionError
from autogen_nb.kernels.limits.block_limits import Limits, readable
from autogen_nb.kernels.places.environment import scrub_environment
from autogen_nb.kernels.processes.lifeline import Lifeline

FLOOD = 20_000_000
"""The maximum size of what a server sends after a request, in bytes."""
MOST_TOOLS = 100
_SCHEMA_LIMIT = 20_000
_DESCRIPTION_LIMIT = 2_000
_START_SECONDS = 30.0
_END_SECONDS = 1.0
_WORDS = 300
_INFO = mcp_types.Implementation(name="autogen-nb", version=__version__)
# Without a handler, Python would print the library's warnings.
logging.getLogger("mcp").addHandler(logging.NullHandler())
_NAME = re.compile(r"[\w.-]{1,64}", re.ASCII)


class StdioServerParams(BaseModel):
    """A server that is a program on this machine; ``env`` adds to the harmless environment variables."""

    command: str
    args: list[str] = Field(default_factory=list)
    env: dict[str, str] | None = None
    cwd: str | Path | None = None
    read_timeout_seconds: float = 5


class StreamableHttpServerParams(BaseModel):
    """A server at an address."""

    url: str
    headers: dict[str, Any] | None = None
    timeout: float = 30.0
    sse_read_timeout: float = 300.0
    terminate_on_close: bool = True


ServerParams: TypeAlias = StdioServerParams | StreamableHttpServerParams


@dataclass(frozen=True, slots=True)
class ServedTool:
    """A tool of a server; `digest` is another one when the tool or the server changes."""

    definition: dict[str, Any]
    digest: str
    is_structured: bool

    @property
    def name(self) -> str:
        return str(self.definition["name"])

    @property
    def about(self) -> str:
        return str(self.definition["description"])


@dataclass(frozen=True, slots=True)
class ServedResult:
    """A result: its text, pictures as pairs of a type and base64, and the structured value, if there is one."""

    text: str
    pictures: tuple[tuple[str, str], ...] = ()
    value: Any = None
    is_error: bool = False


class McpServer:
    """A connection, which the first request opens, and the next one after the server's end; runs on the engine."""

    def __init__(self, params: ServerParams, name: str = "") -> None:
        self.params = params
        self.name = name or (params.command if isinstance(params, StdioServerParams) else params.url)
        self._seconds = params.read_timeout_seconds if isinstance(params, StdioServerParams) else params.timeout
        self._task: asyncio.Task[None] | None = None
        self._connected: asyncio.Future[Client]
        self._stop = asyncio.Event()
        self._starting = asyncio.Lock()
        self._unregister: Callable[[], None] = lambda: None
        self._received = 0
        self._why = self._last_words = ""

    async def tools(self) -> list[ServedTool]:
        """The present tools; raises ExecutionError if one is invalid."""
        tools: list[ServedTool] = []
        cursor = None
        for _ in range(MOST_TOOLS):
            page = await self._request(methodcaller("list_tools", cursor=cursor), "list its tools")
            tools += map(self._read_tool, page.tools)
            cursor = page.next_cursor
            if cursor is None or len(tools) > MOST_TOOLS:
                break
        if cursor is not None or len(tools) > MOST_TOOLS:
            raise self._error(f"offers more than {MOST_TOOLS} tools; use another")
        return tools

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        seconds: float | None = None,
        report: Callable[[str], object] = lambda _: None,
    ) -> ServedResult:
        """The result of a call; cancelling it tells the server. `report` gets the progress in words."""

        async def on_progress(done: float, total: float | None, message: str | None) -> None:
            words = f"{self.name}: {done:g}{f' of {total:g}' if total else ''} {visible(message or '')}"
            report(" ".join(words.split())[:_WORDS])

        send = methodcaller("call_tool", name, dict(arguments), progress_callback=on_progress)
        result = await self._request(send, f"answer the call of {name}", seconds)
        pictures = [part for part in result.content if isinstance(part, mcp_types.ImageContent)]
        text = "\n".join(_text(part) for part in result.content if part not in pictures)
        value = result.structured_content
        if isinstance(value, dict) and set(value) == {"result"}:
            value = value["result"]
        return ServedResult(text, tuple((each.mime_type, each.data) for each in pictures), value, bool(result.is_error))

    async def stop(self) -> None:
        """Ends the connection, and the server if it runs on this machine."""
        self._unregister()
        self._stop.set()
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _request(self, send: Callable[[Client], Awaitable[Any]], what: str, seconds: float | None = None) -> Any:
        async with self._starting:
            client, seconds = await self._client(), seconds or self._seconds
        self._received = 0
        try:
            async with asyncio.timeout(seconds):
                return await send(client)
        except TimeoutError:
            raise self._error(f"did not {what} within {seconds:g} s") from None
        except Exception as error:
            if getattr(error, "code", 0) == mcp_types.CONNECTION_CLOSED:
                self._why = self._why or f"closed the connection, or sent more than {readable(FLOOD)} for one request"
                self._stop.set()
            raise self._error(f"did not {what}: {_line(error)}") from error

    async def _client(self) -> Client:
        if self._task is None or self._stop.is_set():
            await self.stop()
            self._stop, self._received, self._why, self._last_words = asyncio.Event(), 0, "", ""
            self._connected = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._serve())
            self._unregister = engine.at_exit(self.stop)
        await asyncio.wait([self._connected], timeout=_START_SECONDS)
        if not self._connected.done():
            self._why = f"did not start within {_START_SECONDS:g} s"
            self._task.cancel()
            await self.stop()
        return self._connected.result()

    async def _serve(self) -> None:
        # The task that opens the connection closes it, as anyio's scopes demand.
        stop = self._stop
        try:
            opened = self._program() if isinstance(self.params, StdioServerParams) else _http(self.params)
            async with Client(opened, cache=None, client_info=_INFO) as client:
                self._connected.set_result(client)
                await stop.wait()
        except BaseException as error:
            if not self._connected.done():
                self._connected.set_exception(self._error(f"cannot be used: {_line(error)}"))
            if not isinstance(error, Exception):
                raise
        finally:
            stop.set()

    def _read_tool(self, tool: mcp_types.Tool) -> ServedTool:
        schema = {"properties": {}, **tool.input_schema}
        text = json.dumps(schema, sort_keys=True)
        if _NAME.fullmatch(tool.name) and len(text) <= _SCHEMA_LIMIT and schema.get("type") == "object":
            with suppress(jsonschema.SchemaError):
                jsonschema.validators.validator_for(schema).check_schema(schema)
                place = self.params.model_dump(include={"command", "args", "url"})
                whole = json.dumps([place, tool.name, tool.description, text, tool.output_schema])
                about = visible(tool.description or "")[:_DESCRIPTION_LIMIT]
                definition = {"name": tool.name, "description": about, "parameters": schema}
                digest = hashlib.sha256(whole.encode()).hexdigest()[:12]
                return ServedTool(definition, digest, bool(tool.output_schema))
        raise self._error(f"offers a tool with an invalid name or schema: {visible(tool.name)[:64]!r}")

    def _error(self, what: str) -> ExecutionError:
        words = f" (it says: {self._last_words})" if self._last_words and self._stop.is_set() else ""
        return ExecutionError(f"the MCP server {self.name!r} {self._why or what}{words}")

    @asynccontextmanager
    async def _program(self) -> AsyncIterator[Any]:
        assert isinstance(self.params, StdioServerParams)
        loop, lifeline = asyncio.get_running_loop(), Lifeline(Limits.usual())
        async with AsyncExitStack() as stack:
            stack.callback(lifeline.close)
            stdout, stderr, stdin = _start(self.params, lifeline)
            stack.push_async_callback(lifeline.kill)
            readers = asyncio.StreamReader(limit=FLOOD), asyncio.StreamReader(limit=FLOOD)
            for reader, file in zip(readers, (stdout, stderr), strict=True):
                pipe, _ = await loop.connect_read_pipe(partial(asyncio.StreamReaderProtocol, reader), file)
                stack.callback(pipe.close)
            transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, stdin)
            writer = asyncio.StreamWriter(transport, protocol, None, loop)
            to_client, incoming = anyio.create_memory_object_stream[Any](0)
            outgoing, from_client = anyio.create_memory_object_stream[Any](0)
            work = (self._read(readers[0], to_client, lifeline), self._listen(readers[1]), _write(from_client, writer))
            for task in map(asyncio.create_task, work):
                stack.callback(task.cancel)
            yield incoming, outgoing
            writer.close()
            await asyncio.wait([lifeline.exited], timeout=_END_SECONDS)

    async def _read(self, stdout: asyncio.StreamReader, to_client: Any, lifeline: Lifeline) -> None:
        async with to_client:
            try:
                while line := await stdout.readline():
                    self._received += len(line)
                    if self._received > FLOOD:
                        raise ValueError  # noqa: TRY301  # as `readline` for a long line
                    # Some servers print other lines, too.
                    with suppress(ValidationError):
                        message = mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                        await to_client.send(SessionMessage(message))
                await asyncio.wait([lifeline.exited], timeout=_END_SECONDS)
                code = f" with exit code {lifeline.exited.result()}" if lifeline.exited.done() else ""
                self._why = f"has ended{code}; the next call starts it again"
            except ValueError:
                self._why = f"sent more than {readable(FLOOD)} for one request, and was ended"
            except anyio.BrokenResourceError:
                pass
            self._stop.set()

    async def _listen(self, stderr: asyncio.StreamReader) -> None:
        while chunk := await stderr.read(1 << 16):
            lines = visible(chunk.decode(errors="replace")).strip().splitlines()
            self._last_words = lines[-1][-_WORDS:] if lines else self._last_words


def _start(params: StdioServerParams, lifeline: Lifeline) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
    """Starts the program; returns its output, its errors and its input."""
    environ = scrub_environment(os.environ) | (params.env or {})
    if shutil.which(params.command, path=environ.get("PATH")) is None:
        raise ExecutionError(f"there is no program {params.command!r}")
    stdin, ours = os.pipe()
    options = lifeline.popen_options
    options["pass_fds"] = (*options.get("pass_fds", ()), stdin)
    # Standard input is the supervisor's lifeline, so a shell connects the server's.
    command = ["sh", "-c", f'exec "$@" </dev/fd/{stdin}', "sh", params.command, *params.args]
    options |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": True}
    try:
        process = subprocess.Popen(lifeline.wrap(command), cwd=params.cwd, env=environ, **options)  # noqa: S603
    except OSError:
        os.close(ours)
        raise
    finally:
        os.close(stdin)
    lifeline.attach(process)
    assert process.stdout is not None
    assert process.stderr is not None
    return process.stdout, process.stderr, os.fdopen(ours, "wb", buffering=0)


async def _write(from_client: Any, stdin: asyncio.StreamWriter) -> None:
    async with from_client:
        with suppress(OSError):
            async for sent in from_client:
                stdin.write(sent.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                await stdin.drain()


@asynccontextmanager
async def _http(params: StreamableHttpServerParams) -> AsyncIterator[Any]:
    timeout, ends = httpx2.Timeout(params.timeout, read=params.sse_read_timeout), params.terminate_on_close
    hooks = {"response": [_bound_body]}
    async with (
        httpx2.AsyncClient(headers=params.headers, timeout=timeout, event_hooks=hooks) as client,
        streamable_http_client(
            params.url, http_client=client, terminate_on_close=ends, max_sse_event_size=FLOOD
        ) as streams,
    ):
        yield streams


async def _bound_body(response: httpx2.Response) -> None:
    # Events have a limit of their own.
    if not response.headers.get("content-type", "").startswith("text/event-stream"):
        response.stream = _Bounded(response.stream)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > FLOOD:
                raise httpx2.ReadError(f"it sent more than {readable(FLOOD)} for one request")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def _text(part: Any) -> str:
    """A part of a result as text; links and sounds are named, not read."""
    text = getattr(part, "text", None) or getattr(getattr(part, "resource", None), "text", None)
    uri = getattr(getattr(part, "resource", part), "uri", "")
    return visible(text) if text else visible(f"[{part.type} {uri}".rstrip() + "]")


def _line(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return visible(str(error) or type(error).__name__).splitlines()[0][:_WORDS]
