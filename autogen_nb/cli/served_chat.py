"""A chat whose assistant is a program, such as an MCP client: each call runs a block in the chat's kernel.

A call is a run of the chat, as a cell of a notebook is: the program's code takes the place of a model's reply. So a
call passes the same questions, rules and limits, its session is stored, and a notebook resumes it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

from autogen_nb.agents.chats.call_context import NestedView
from autogen_nb.agents.chats.export import Export, writable_path
from autogen_nb.agents.chats.initiated_chat import ChatOptions, TwoAgentChat
from autogen_nb.agents.parts.agent_config import CodeConfig
from autogen_nb.agents.user_proxy import code_pair
from autogen_nb.conversations.chat_kernels import ChatFolders, remove_empty
from autogen_nb.conversations.chat_sessions import ChatSessions
from autogen_nb.conversations.conversations import CellRun, Conversations, Origin
from autogen_nb.core.ports import Human, ModelRequest
from autogen_nb.effects import EffectJudged
from autogen_nb.errors import ConfigError
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
    Said,
)
from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.human.rule_based_approver import NobodyToAsk, RuleBasedApprover, RulesFile
from autogen_nb.kernels.places.writable import make_folder
from autogen_nb.kernels.transfer.variable_transfer import HandedVariable
from autogen_nb.messages import Completion, Content, Message, Usage
from autogen_nb.run import result
from autogen_nb.sessions.attachment import Attachment
from autogen_nb.sessions.session import Session
from autogen_nb.settings import Settings
from autogen_nb.views.in_words import shortened

_RETURNED = "The program has the result."
_FENCE = "`" * 8


class ProgramPerson(Protocol):
    """The person behind a program."""

    def input(self, question: HumanInputAsked) -> HumanInputGiven: ...

    async def approve(self, question: ApprovalAsked) -> ApprovalGiven: ...

    async def allow(self, question: EffectAsked) -> EffectJudged: ...

    async def typed(self, question: CodeInputAsked) -> CodeInputGiven: ...


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

    def __init__(self, attachment: Attachment, human: ProgramPerson) -> None:
        self._attachment = attachment
        self._human = human
        self.input = human.input

    async def approve(self, question: ApprovalAsked) -> ApprovalGiven:
        answer = await self._attachment.ask(question)
        return answer if isinstance(answer, ApprovalGiven) else await self._human.approve(question)

    async def allow(self, question: EffectAsked) -> EffectJudged:
        answer = await self._attachment.ask(question)
        return answer if isinstance(answer, EffectJudged) else await self._human.allow(question)

    async def typed(self, question: CodeInputAsked) -> CodeInputGiven:
        answer = await self._attachment.ask(question)
        return answer if isinstance(answer, CodeInputGiven) else await self._human.typed(question)


class ServedChats:
    """The chats of a server, each with a kernel of its own."""

    def __init__(self, options: Settings, cwd: Path, kernels: int = 0) -> None:
        place = options.place()
        place.check(cwd)
        self._settings = Settings().for_cell(options, attended=True, sandboxed=place.is_sandbox)
        self._place = place
        self._cwd = cwd
        sessions = ChatSessions(cwd, days=lambda: self._settings.session_days)
        self._conversations = Conversations(
            cwd,
            kernel_options=lambda: self._settings.kernel_options,
            folders=ChatFolders(cwd),
            begin_session=sessions.begin,
        )
        self._conversations.kernels.set_limits(self._settings.kernel_idle, kernels)
        self._conversations.kernels.way_out = "--kernels N of the server allows more, and unused ones end after a while"
        self._turns: dict[str, asyncio.Lock] = {}
        self._attachments: dict[str, Attachment] = {}

    async def run(
        self, name: str, code: str, human: ProgramPerson, show: Callable[[Event], None]
    ) -> tuple[Content, bool]:
        """Runs a block; returns the report that a model would read, and whether the block ran without an error."""
        chat = self._conversations.named(name)
        async with self._turns.setdefault(name, asyncio.Lock()):
            chat.move_to(self._place, self._place)
            make_folder(chat.cwd, chat.folder)
            task = shortened(next(filter(None, map(str.strip, code.splitlines())), "nothing"))
            cell_run = chat.begin(Origin(None, uuid4().hex), task, task, self._settings)
            attachment = await self._attachment(name, chat.session)

            def show_everywhere(event: Event) -> None:
                show(event)
                if not _frames(event, task):
                    attachment.show(event)

            try:
                await self._hold(chat.executor, cell_run, code, _Attended(attachment, human), show_everywhere)
            finally:
                if not (self._place.is_sandbox and chat.alive):
                    remove_empty(chat.cwd, chat.folder)
        return _report(cell_run)

    async def _hold(
        self, executor: BlockExecutor, cell_run: CellRun, code: str, human: Human, show: Callable[[Event], None]
    ) -> None:
        settings = self._settings
        config = CodeConfig(
            executor, confirm=settings.confirm or "always", pictures=True, timeout=settings.block_timeout or None
        )
        user, assistant = code_pair("", ProgramModel(code), config, max_turns=2)
        scope = None if user.code is None else user.code.scope
        approver = RuleBasedApprover(human, RulesFile(), tell=lambda _: None, scope=scope, offers_all=False)
        options = ChatOptions(cell_run.message)
        held = TwoAgentChat(user, assistant, options, waits="async", human=approver, log=cell_run.log)
        async with aclosing(held.exchange().stream_events()) as stream:
            async for event in stream:
                show(event)

    async def _attachment(self, name: str, session: Session) -> Attachment:
        if name not in self._attachments:
            self._attachments[name] = Attachment(session.folder)
            if session.is_stored:
                await self._attachments[name].listen()
        return self._attachments[name]

    async def variables(self, name: str) -> tuple[HandedVariable, ...]:
        chat = self._conversations.named(name)
        return tuple(await result(chat.executor.variables(), waits="async")) if chat.alive else ()

    async def undo(self, name: str) -> bool:
        """Takes back the last block and its variables; returns False if the variables stay."""
        chat = self._conversations.named(name)
        if not chat.runs:
            raise ConfigError(f"session {name!r} has no block to take back")
        return await result(chat.undo(len(chat.runs) - 1, always=True), waits="async")

    async def interrupt(self, name: str) -> bool:
        """Interrupts the running block; returns False if nothing runs."""
        chat = self._conversations.named(name)
        busy = chat.busy
        await result(chat.executor.interrupt(), waits="async")
        return busy

    async def restart(self, name: str) -> None:
        chat = self._conversations.named(name)
        await result(chat.executor.restart(), waits="async")
        chat.forget_variables()

    async def export(self, name: str, file: str) -> str:
        """Writes the session's code and outputs to a file in the working directory, and returns its path."""
        chat, path = self._conversations.named(name), writable_path(self._cwd / file, force=False)
        if not chat.runs or not path.resolve().is_relative_to(self._cwd.resolve()):
            why = f"session {name!r} has no block" if not chat.runs else f"{file!r} is outside of the server's folder"
            raise ConfigError(f"{why}, so nothing is exported")
        executor = BlockExecutor(place=self._place, cwd=path.parent)
        human = RuleBasedApprover(NobodyToAsk(), RulesFile(), tell=lambda _: None)
        exported = Export(
            chat.session, path, executor, lambda _: human, NestedView(), lambda _: None, "async", unchecked=True
        )
        await exported.write()
        return str(path)

    def history(self, name: str) -> list[tuple[str, str]]:
        """The first line of each block, and how it ended."""
        return [(run.task, _ended(run)) for run in self._conversations.named(name).runs]

    def session(self, name: str) -> str:
        """The name under which a notebook resumes the session; "" if it is not stored."""
        chat = self._conversations.named(name)
        return chat.session.name if chat.runs and chat.session.is_stored else ""

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


def _report(cell_run: CellRun) -> tuple[Content, bool]:
    reports = [event for event in cell_run.log if isinstance(event, Said) and event.sender == "user"]
    content: Any = reports[-1].message.content if len(reports) > 1 else "The block did not run."
    return content, _ended(cell_run) == "ran"


def _ended(cell_run: CellRun) -> str:
    ran = [event for event in cell_run.log if isinstance(event, CodeRan)]
    return "did not run" if not ran else f"exit code {ran[-1].exit_code}" if ran[-1].exit_code else "ran"
