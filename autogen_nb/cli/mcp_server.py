"""The MCP server of ``autogen-nb mcp``: a chat's kernel as tools for other agents.

1. The assistant of the chat is a program, such as an MCP client: each call runs a block in the chat's kernel. A call is
   a run of the chat, as a cell of a notebook is: the program's code takes the place of a model's reply. So a call
   passes the same questions, rules and limits, its session is stored, and a notebook resumes it.
2. A question about code goes to the client's person, by elicitation. Revisions of MCP from 2026-07-28 on answer a call
   by the question, and the client repeats the call with the answer; the run waits meanwhile.
"""

import asyncio
import hmac
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, suppress
from functools import partial, wraps
from pathlib import Path
from typing import Any, Literal, TypeVar
from uuid import uuid4

import mcp_types as types
from mcp.server.mcpserver import Context, MCPServer
from mcp_types.version import is_version_at_least
from pydantic import BaseModel, Field

from autogen_nb._version import __version__
from autogen_nb.agents.chats.call_context import NestedView
from autogen_nb.agents.chats.export import Export, writable_path
from autogen_nb.agents.chats.initiated_chat import ChatOptions, TwoAgentChat
from autogen_nb.agents.parts.agent_config import CodeConfig
from autogen_nb.agents.user_proxy import code_pair
from autogen_nb.conversations.chat_kernels import remove_empty
from autogen_nb.conversations.chat_sessions import ChatSessions
from autogen_nb.conversations.conversations import CellRun, Conversations, Origin
from autogen_nb.core.ports import Human, ModelRequest
from autogen_nb.core.text.visible_text import visible
from autogen_nb.effects import EffectJudged
from autogen_nb.errors import AutogenError, ConfigError, NobodyThere
from autogen_nb.events import (
    ApprovalAsked,
    ApprovalGiven,
    CodeInputAsked,
    CodeInputGiven,
    CodeRan,
    EffectAsked,
    Ended,
    Event,
    HumanInputAsked,
    HumanInputGiven,
    ModelAsked,
    ModelReplied,
    OutputAdded,
    Said,
)
from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.human.rule_based_approver import NobodyToAsk, RuleBasedApprover, RulesFile
from autogen_nb.kernels.places.writable import make_folder
from autogen_nb.messages import Completion, Content, Message, Usage
from autogen_nb.outputs import Stream
from autogen_nb.run import result
from autogen_nb.sessions.attachment import Attachment
from autogen_nb.sessions.session import Session
from autogen_nb.settings import Settings
from autogen_nb.views.in_words import shortened

_RETURNED = "The program has the result."
_FENCE = "`" * 8


class ProgramModel:
    """A model whose replies are a program's code and, after its run, a remark."""

    name = "program"

    def __init__(self, code: str) -> None:
        self._texts = [f"{_FENCE}python\n{code}\n{_FENCE}", _RETURNED]

    async def reply(self, request: ModelRequest) -> AsyncIterator[Completion]:
        del request
        yield Completion(Message(self._texts.pop(0)), self.name, Usage(), cost=0.0)


class _Attended:
    """Asks the notebooks that show the session, and without one the program's own person."""

    def __init__(self, attachment: Attachment, person: "_Call") -> None:
        self._attachment = attachment
        self.input = person.input
        self.approve = partial(self._ask, person.approve)
        self.allow = partial(self._ask, person.allow)
        self.typed = partial(self._ask, person.typed)

    async def _ask(self, ask_person: Callable[[Any], Awaitable[Any]], question: Any) -> Any:
        return await self._attachment.ask(question) or await ask_person(question)


class ServedChats:
    """The chats of a server, each with a kernel of its own.

    The async methods are the server's tools; their parameter `session` is the name of a kernel.
    """

    def __init__(self, options: Settings, cwd: Path, kernels: int) -> None:
        place = options.place()
        place.check(cwd)
        self._settings = Settings().for_cell(options, attended=True, sandboxed=place.is_sandbox)
        self._place = place
        self._cwd = cwd
        sessions = ChatSessions(cwd, days=lambda: self._settings.session_days)
        self._conversations = Conversations(
            cwd, kernel_options=lambda: self._settings.kernel_options, begin_session=sessions.begin
        )
        self._conversations.kernels.set_limits(self._settings.kernel_idle, kernels)
        self._conversations.kernels.way_out = "--kernels N of the server allows more, and unused ones end after a while"
        self._turns: dict[str, asyncio.Lock] = {}
        self._attachments: dict[str, Attachment] = {}
        self._waiting: dict[str, _Call] = {}

    async def _run(self, name: str, code: str, call: "_Call") -> tuple[Content, bool]:
        """Runs a block; returns the report that a model would read, and whether the block ran without an error."""
        chat = self._conversations.named(name)
        async with self._turns.setdefault(name, asyncio.Lock()):
            chat.move_to(self._place, self._place)
            make_folder(chat.cwd, chat.folder)
            task = shortened(next(filter(None, map(str.strip, code.splitlines())), "nothing"))
            cell_run = chat.begin(Origin(None, uuid4().hex), task, task, self._settings)
            attachment = await self._attachment(name, chat.session)
            try:
                held = self._held(chat.executor, cell_run, code, _Attended(attachment, call))
                async with aclosing(held.exchange().stream_events()) as stream:
                    async for event in stream:
                        call.show(event)
                        if not _frames(event, task):
                            attachment.show(event)
            finally:
                if not (self._place.is_sandbox and chat.alive):
                    remove_empty(chat.cwd, chat.folder)
        reports = [event for event in cell_run.log if isinstance(event, Said) and event.sender == "user"]
        content: Any = reports[-1].message.content if len(reports) > 1 else "The block did not run."
        return content, _ended(cell_run) == "ran"

    def _held(self, executor: BlockExecutor, cell_run: CellRun, code: str, human: Human) -> TwoAgentChat:
        confirm, timeout = self._settings.confirm or "always", self._settings.block_timeout or None
        config = CodeConfig(executor, confirm=confirm, pictures=True, timeout=timeout)
        user, assistant = code_pair("", ProgramModel(code), config, max_turns=2)
        approver = RuleBasedApprover(human, RulesFile(), tell=lambda _: None, scope=config.scope, offers_all=False)
        options = ChatOptions(cell_run.message)
        return TwoAgentChat(user, assistant, options, waits="async", human=approver, log=cell_run.log)

    async def _attachment(self, name: str, session: Session) -> Attachment:
        if name not in self._attachments:
            self._attachments[name] = Attachment(session.folder)
            if session.is_stored:
                await self._attachments[name].listen()
        return self._attachments[name]

    async def run(self, code: str, ctx: Context[Any, Any], session: str = "main") -> Any:
        """Runs Python code in the session's kernel; returns its text, tables and pictures."""
        if (call := self._waiting.pop(ctx.request_state or "", None)) is not None:
            assert call.question is not None
            call.question.take((ctx.input_responses or {}).get("answer"))
        else:
            capabilities = ctx.client_capabilities
            call = _Call(capabilities is not None and capabilities.elicitation is not None)
            call.task = asyncio.create_task(self._run(session, code, call))
        try:
            return await self._follow(call, ctx)
        except asyncio.CancelledError:
            call.task.cancel()
            await asyncio.wait([call.task])
            raise

    async def _follow(self, call: "_Call", ctx: Context[Any, Any]) -> Any:
        count = 0
        while True:
            following = asyncio.create_task(call.news.get())
            await asyncio.wait([call.task, following], timeout=5, return_when=asyncio.FIRST_COMPLETED)
            if not following.done():
                following.cancel()
                if call.task.done():
                    content, succeeded = call.task.result()
                    parts = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
                    return types.CallToolResult(content=[*map(_content, parts)], is_error=not succeeded)
            # Many clients give a call up if it is silent for too long.
            news = following.result() if following.done() else "running"
            if isinstance(news, str):
                count += 1
                await ctx.report_progress(count, message=news)
            elif is_version_at_least(ctx.request_context.protocol_version, "2026-07-28"):
                state, call.question = uuid4().hex, news
                self._waiting[state] = call
                request = types.ElicitRequest(params=news.params)
                return types.InputRequiredResult(input_requests={"answer": request}, request_state=state)
            else:
                asked = (news.params.message, news.params.requested_schema, ctx.request_id)
                news.take(await ctx.request_context.session.elicit_form(*asked))

    async def variables(self, session: str = "main") -> str:
        """Lists the variables of the session's kernel, with their types and shapes."""
        chat = self._conversations.named(session)
        variables = await result(chat.executor.variables(), waits="async") if chat.alive else ()
        rows = [f"{each.name}: {each.type} {each.shape}".strip() for each in variables]
        return visible("\n".join(rows)) or "The kernel has no variables."

    async def undo(self, session: str = "main") -> str:
        """Takes back the last block, and what it did to the kernel's variables."""
        chat = self._conversations.named(session)
        if not chat.runs:
            raise ConfigError(f"session {session!r} has no block to take back")
        if await result(chat.undo(len(chat.runs) - 1, always=True), waits="async"):
            return "The last block and its variables are taken back."
        return "The last block is taken back, but there was no checkpoint: its variables stay."

    async def interrupt(self, session: str = "main") -> str:
        """Interrupts the code that runs in the session's kernel."""
        chat = self._conversations.named(session)
        busy = chat.busy
        await result(chat.executor.interrupt(), waits="async")
        return "Interrupted." if busy else "Nothing runs."

    async def restart(self, session: str = "main") -> str:
        """Restarts the session's kernel; its variables are lost."""
        chat = self._conversations.named(session)
        await result(chat.executor.restart(), waits="async")
        chat.forget_variables()
        return "The kernel has restarted, and its variables are lost."

    async def export(self, file: str, session: str = "main") -> str:
        """Writes the session's code and outputs to a file: .ipynb, .py, .md or .html."""
        chat, path = self._conversations.named(session), writable_path(self._cwd / file, force=False)
        if not chat.runs or not path.resolve().is_relative_to(self._cwd.resolve()):
            why = f"{file!r} is outside of the server's folder" if chat.runs else f"session {session!r} has no block"
            raise ConfigError(f"{why}, so nothing is exported")
        executor = BlockExecutor(place=self._place, cwd=path.parent)
        human = RuleBasedApprover(NobodyToAsk(), RulesFile(), tell=lambda _: None)
        exported = Export(
            chat.session, path, executor, lambda _: human, NestedView(), lambda _: None, "async", unchecked=True
        )
        await exported.write()
        return f"Written: {path}"

    async def history(self, session: str = "main") -> str:
        """Lists the blocks of the session, and how each ended."""
        chat = self._conversations.named(session)
        lines = [f"{number}. {run.task} ({_ended(run)})" for number, run in enumerate(chat.runs, 1)]
        if chat.runs and chat.session.is_stored:
            lines.append(f"A notebook continues this session with: %autogen resume {chat.session.name}")
        return visible("\n".join(lines)) or "No block has run."

    async def close(self) -> None:
        for attachment in self._attachments.values():
            await attachment.close()
        for chat in self._conversations:
            await result(chat.stop(), waits="async")
            if chat.runs:
                chat.session.close()
        self._conversations.kernels.close()


def _frames(event: Event, task: str) -> bool:
    """Whether the event only makes a chat of a call: the words that nobody said, and the end."""
    match event:
        case Said(message=message) | ModelReplied(completion=Completion(message=message)):
            return message.content in (task, _RETURNED)
        case _:
            return isinstance(event, ModelAsked | Ended)


def _ended(cell_run: CellRun) -> str:
    ran = [event for event in cell_run.log if isinstance(event, CodeRan)]
    return "did not run" if not ran else f"exit code {ran[-1].exit_code}" if ran[-1].exit_code else "ran"


T = TypeVar("T", bound=BaseModel)

_INSTRUCTIONS = (
    "A Python kernel that keeps variables, imports and plots between calls of `run`. Each `session` has a kernel of "
    "its own. Effects that are not clearly harmless need the approval of the client's person; without one, they are "
    "refused with a reason. `undo` takes the last block and its variables back."
)
_BY = "the MCP client"
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
    def __init__(self, message: str, form: type[BaseModel]) -> None:
        self.form = form
        schema = {"type": "object", "properties": {}, **form.model_json_schema()}
        self.params = types.ElicitRequestFormParams(message=message, requested_schema=schema)
        self.answer: asyncio.Future[BaseModel | None] = asyncio.get_running_loop().create_future()

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


async def serve(chats: ServedChats, port: int | None, token: str) -> None:
    """Serves on standard input and output, or on a port of this machine, for clients with the token."""
    served: MCPServer[Any] = MCPServer("autogen-nb", instructions=_INSTRUCTIONS, version=__version__, log_level="ERROR")
    for tool in (chats.run, chats.variables, chats.undo, chats.interrupt, chats.restart, chats.export, chats.history):
        served.add_tool(_naming_errors(tool), name=tool.__name__, description=tool.__doc__, structured_output=False)
    try:
        if port is None:
            await served.run_stdio_async()
            return
        import uvicorn

        app = _guarded(served.streamable_http_app(host="127.0.0.1"), token)
        config = uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning")
        print(f"http://127.0.0.1:{port}/mcp (Authorization: Bearer {token})", file=sys.stderr, flush=True)  # noqa: T201
        await uvicorn.Server(config).serve()
    finally:
        await chats.close()


def _guarded(app: Any, token: str) -> Any:
    """Lets requests with the token pass."""

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        given = dict(scope.get("headers", ())).get(b"authorization", b"")
        if scope["type"] != "http" or hmac.compare_digest(given, f"Bearer {token}".encode()):
            await app(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 401, "headers": [(b"www-authenticate", b"Bearer")]})
        await send({"type": "http.response.body", "body": b"this server needs the token that it printed at its start"})

    return guarded


def _naming_errors(tool: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    @wraps(tool)
    async def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return await tool(*args, **kwargs)
        except AutogenError as error:
            return types.CallToolResult(content=[types.TextContent(text=str(error))], is_error=True)

    return called


def _content(part: dict[str, Any]) -> Any:
    if part.get("type") != "image_url":
        return types.TextContent(text=str(part.get("text", "")))
    head, _, data = str(part["image_url"]["url"]).partition(",")
    return types.ImageContent(data=data, mime_type=head.removeprefix("data:").removesuffix(";base64"))
