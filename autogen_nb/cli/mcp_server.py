"""The MCP server of ``autogen-nb mcp``: a chat's kernel as tools for other agents.

A question about code goes to the client's person, by elicitation. Revisions of MCP from 2026-07-28 on answer a call by
the question, and the client repeats the call with the answer; the run waits meanwhile.
"""

import asyncio
import hmac
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Literal, TypeAlias, TypeVar
from uuid import uuid4

import mcp_types as types
from mcp.server.mcpserver import Context, MCPServer
from mcp_types.version import is_version_at_least
from pydantic import BaseModel, Field

from autogen_nb._version import __version__
from autogen_nb.cli.served_chat import ServedChats
from autogen_nb.core.text.visible_text import visible
from autogen_nb.effects import EffectJudged
from autogen_nb.errors import AutogenError, NobodyThere
from autogen_nb.events import (
    ApprovalAsked,
    ApprovalGiven,
    CodeInputAsked,
    CodeInputGiven,
    EffectAsked,
    Event,
    HumanInputAsked,
    HumanInputGiven,
    OutputAdded,
)
from autogen_nb.messages import Content
from autogen_nb.outputs import Stream

T = TypeVar("T", bound=BaseModel)
Form: TypeAlias = type[BaseModel]

_INSTRUCTIONS = (
    "A Python kernel that keeps variables, imports and plots between calls of `run`. Each `session` has a kernel of "
    "its own. Effects that are not clearly harmless need the approval of the client's person; without one, they are "
    "refused with a reason. `undo` takes the last block and its variables back."
)
_BY = "the MCP client"
_BEAT = 5.0
_NOBODY = (
    "nobody can be asked: the client does not support elicitation. The server's person allows more by saved rules, a "
    "--sandbox, or --confirm never"
)


class Approval(BaseModel):
    decision: Literal["run", "skip"] = Field(description="Run the code, or skip it")
    reason: str = Field("", description="Why the code is skipped; the agent reads it")


class Judgement(BaseModel):
    decision: Literal["allow", "deny"] = Field(description="Let the code go on, or deny what it does")
    reason: str = Field("", description="Why it is denied; the agent reads it")


class Typed(BaseModel):
    text: str = Field(description="What the code reads")


class _Question:
    def __init__(self, message: str, form: Form) -> None:
        self.message = message
        self.form = form
        self.answer: asyncio.Future[BaseModel | None] = asyncio.get_running_loop().create_future()

    @property
    def request(self) -> types.ElicitRequest:
        schema = {"type": "object", "properties": {}, **self.form.model_json_schema()}
        params = types.ElicitRequestFormParams(message=self.message, requested_schema=schema)
        return types.ElicitRequest(params=params)

    def take(self, outcome: Any) -> None:
        """Takes the client's answer; anything but a valid one is a refusal."""
        answer: BaseModel | None = None
        with suppress(ValueError):
            if getattr(outcome, "action", "") == "accept":
                answer = self.form.model_validate(outcome.content)
        self.answer.set_result(answer)


class _Call:
    """A call of `run`, with the questions and the progress that it has for the client; it answers as the person."""

    def __init__(self, has_person: bool) -> None:
        self.news: asyncio.Queue[_Question | str] = asyncio.Queue()
        self.question: _Question | None = None
        self._has_person = has_person
        self.task: asyncio.Task[tuple[Content, bool]]

    def show(self, event: Event) -> None:
        if isinstance(event, OutputAdded) and isinstance(event.output, Stream) and event.output.text.strip():
            self.news.put_nowait(visible(event.output.text.strip().splitlines()[-1]))

    def input(self, question: HumanInputAsked) -> HumanInputGiven:
        raise NobodyThere(f"{question.agent} asks for a message, which a client of this server cannot write")

    async def approve(self, question: ApprovalAsked) -> ApprovalGiven:
        why = f" It {'; '.join(question.reasons)}." if question.reasons else ""
        answer = await self._ask(f"Run this code?{why}\n\n{visible(question.block.code)}", Approval)
        if answer is None:
            return ApprovalGiven("skip", reason=self._refusal, by=_BY)
        return ApprovalGiven(answer.decision, reason=answer.reason, by=_BY)

    async def allow(self, question: EffectAsked) -> EffectJudged:
        line = f"\n\n{visible(question.line.strip())}" if question.line else ""
        answer = await self._ask(f"The running code {visible(question.effect.words)}. Allow it?{line}", Judgement)
        if answer is None:
            return EffectJudged(allowed=False, reason=self._refusal, by=_BY)
        return EffectJudged(allowed=answer.decision == "allow", reason=answer.reason, by=_BY)

    async def typed(self, question: CodeInputAsked) -> CodeInputGiven:
        if question.password:
            # A form of a client is no place for a secret.
            return CodeInputGiven(None, by=_BY)
        answer = await self._ask(f"The code reads: {visible(question.prompt)}", Typed)
        return CodeInputGiven(None if answer is None else answer.text, by=_BY)

    @property
    def _refusal(self) -> str:
        return "the client's person did not agree" if self._has_person else _NOBODY

    async def _ask(self, message: str, form: type[T]) -> T | None:
        if not self._has_person:
            return None
        question = _Question(message, form)
        self.news.put_nowait(question)
        answer = await question.answer
        return answer if isinstance(answer, form) else None


class Tools:
    """The tools of the server; each has a parameter `session`, the name of a kernel."""

    def __init__(self, chats: ServedChats) -> None:
        self._chats = chats
        self._waiting: dict[str, _Call] = {}

    async def run(self, code: str, ctx: Context[Any, Any], session: str = "main") -> Any:
        """Runs Python code in the session's kernel; returns its text, tables and pictures."""
        if (call := self._waiting.pop(ctx.request_state or "", None)) is not None:
            assert call.question is not None
            call.question.take((ctx.input_responses or {}).get("answer"))
        else:
            capabilities = ctx.client_capabilities
            call = _Call(capabilities is not None and capabilities.elicitation is not None)
            call.task = asyncio.create_task(self._chats.run(session, code, call, call.show))
        try:
            return await self._follow(call, ctx)
        except asyncio.CancelledError:
            call.task.cancel()
            await asyncio.wait([call.task])
            raise

    async def _follow(self, call: _Call, ctx: Context[Any, Any]) -> Any:
        count = 0
        while True:
            following = asyncio.create_task(call.news.get())
            await asyncio.wait([call.task, following], timeout=_BEAT, return_when=asyncio.FIRST_COMPLETED)
            if not following.done():
                following.cancel()
                if call.task.done():
                    content, succeeded = call.task.result()
                    return types.CallToolResult(content=_contents(content), is_error=not succeeded)
            # Many clients give a call up if it is silent for too long.
            news = following.result() if following.done() else "running"
            if isinstance(news, str):
                count += 1
                await ctx.report_progress(count, message=news)
            elif is_version_at_least(ctx.request_context.protocol_version, "2026-07-28"):
                state, call.question = uuid4().hex, news
                self._waiting[state] = call
                return types.InputRequiredResult(input_requests={"answer": news.request}, request_state=state)
            else:
                params = news.request.params
                assert isinstance(params, types.ElicitRequestFormParams)
                outcome = await ctx.request_context.session.elicit_form(
                    params.message, params.requested_schema, ctx.request_id
                )
                news.take(outcome)

    async def variables(self, session: str = "main") -> str:
        """Lists the variables of the session's kernel, with their types and shapes."""
        rows = [f"{each.name}: {each.type} {each.shape}".strip() for each in await self._chats.variables(session)]
        return visible("\n".join(rows)) or "The kernel has no variables."

    async def undo(self, session: str = "main") -> str:
        """Takes back the last block, and what it did to the kernel's variables."""
        restored = await self._chats.undo(session)
        kept = "The last block is taken back, but there was no checkpoint: its variables stay."
        return "The last block and its variables are taken back." if restored else kept

    async def interrupt(self, session: str = "main") -> str:
        """Interrupts the code that runs in the session's kernel."""
        return "Interrupted." if await self._chats.interrupt(session) else "Nothing runs."

    async def restart(self, session: str = "main") -> str:
        """Restarts the session's kernel; its variables are lost."""
        await self._chats.restart(session)
        return "The kernel has restarted, and its variables are lost."

    async def export(self, file: str, session: str = "main") -> str:
        """Writes the session's code and outputs to a file: .ipynb, .py, .md or .html."""
        return f"Written: {await self._chats.export(session, file)}"

    async def history(self, session: str = "main") -> str:
        """Lists the blocks of the session, and how each ended."""
        lines = [f"{number}. {task} ({end})" for number, (task, end) in enumerate(self._chats.history(session), 1)]
        stored = self._chats.session(session)
        resumed = f"A notebook continues this session with: %autogen resume {stored}" if stored else ""
        return visible("\n".join(filter(None, (*lines, resumed)))) or "No block has run."


def server(chats: ServedChats) -> MCPServer[Any]:
    served: MCPServer[Any] = MCPServer("autogen-nb", instructions=_INSTRUCTIONS, version=__version__, log_level="ERROR")
    tools = Tools(chats)
    for tool in (tools.run, tools.variables, tools.undo, tools.interrupt, tools.restart, tools.export, tools.history):
        served.add_tool(_naming_errors(tool), name=tool.__name__, description=tool.__doc__, structured_output=False)
    return served


async def serve(chats: ServedChats, port: int | None, token: str) -> None:
    """Serves on standard input and output, or on a port of this machine, for clients with the token."""
    served = server(chats)
    try:
        if port is None:
            await served.run_stdio_async()
            return
        import uvicorn

        app = _Guarded(served.streamable_http_app(host="127.0.0.1"), token)
        config = uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning")
        print(f"http://127.0.0.1:{port}/mcp (Authorization: Bearer {token})", file=sys.stderr, flush=True)  # noqa: T201
        await uvicorn.Server(config).serve()
    finally:
        await chats.close()


class _Guarded:
    """Lets requests with the token pass."""

    def __init__(self, app: Any, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        given = dict(scope.get("headers", ())).get(b"authorization", b"")
        if scope["type"] != "http" or hmac.compare_digest(given, self._expected):
            await self._app(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 401, "headers": [(b"www-authenticate", b"Bearer")]})
        await send({"type": "http.response.body", "body": b"this server needs the token that it printed at its start"})


def _naming_errors(tool: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    import functools

    @functools.wraps(tool)
    async def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return await tool(*args, **kwargs)
        except AutogenError as error:
            return types.CallToolResult(content=[types.TextContent(text=str(error))], is_error=True)

    return called


def _contents(content: Content) -> list[Any]:
    parts = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
    return [_content(part) for part in parts]


def _content(part: dict[str, Any]) -> Any:
    if part.get("type") != "image_url":
        return types.TextContent(text=str(part.get("text", "")))
    head, _, data = str(part["image_url"]["url"]).partition(",")
    return types.ImageContent(data=data, mime_type=head.removeprefix("data:").removesuffix(";base64"))
