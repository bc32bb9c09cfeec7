"""Executes the magics; imported on first use, because its own imports are slow."""

import asyncio
import os
import shlex
from collections.abc import AsyncIterator, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager, suppress
from contextvars import copy_context
from dataclasses import replace

from IPython.core.interactiveshell import InteractiveShell

from autogen_nb import run
from autogen_nb.agents.chats.export import writable_path
from autogen_nb.agents.parts.execution_target import ExecutionTarget
from autogen_nb.errors import AutogenError, ChatUnfinished, ConfigError
from autogen_nb.notebook import exporting, resuming, undoing
from autogen_nb.notebook.asking.delivery import (
    INSIDE,
    QuestionChannel,
    question_channel,
    running_code,
    running_origin,
)
from autogen_nb.notebook.asking.person import AbsentPerson, Person, TypingPerson
from autogen_nb.notebook.asking.taking_over import RunningChat, Superseded
from autogen_nb.notebook.chat_cell import ChatCell
from autogen_nb.notebook.commands import model_command, show_command
from autogen_nb.notebook.commands.line_command import Commands, name_and_options, take_option, whole_number, words_of
from autogen_nb.notebook.conversations import NotebookConversation, Origin, runs_of
from autogen_nb.notebook.each_cell import run_each
from autogen_nb.notebook.notebook import CellStage, CellView, Notebook, cell_view
from autogen_nb.notebook.options import read_options
from autogen_nb.notebook.rendering import chat_html
from autogen_nb.notebook.team_cell import run_team, team_of
from autogen_nb.notebook.view.notebook_view import NotebookView
from autogen_nb.notebook.view.plain_cell import PlainCellView
from autogen_nb.sessions.session import Session
from autogen_nb.settings import Settings, checked


class _OneLine(BaseException):
    """Ends an unfinished cell with one line instead of a traceback, and stops the cells after it."""

    def _render_traceback_(self) -> list[str]:
        # IPython shows these lines as the traceback.
        return [f"\x1b[31m{self}\x1b[0m"]


class CellFailed(_OneLine, Exception):
    """The cell raised an error of the package, which is `__cause__`."""


class CellInterrupted(_OneLine, KeyboardInterrupt):
    """A stop button, or an interrupt of the kernel, ended the cell."""


@contextmanager
def one_line() -> Iterator[None]:
    """Converts interrupts and the package's errors to one line; other exceptions keep their traceback."""
    try:
        yield
    except AutogenError as error:
        raise CellFailed(str(error)) from error
    # On an interrupt, ipykernel cancels an awaited cell; in a blocking cell, it raises KeyboardInterrupt.
    except (asyncio.CancelledError, KeyboardInterrupt):
        raise CellInterrupted("Stopped.") from None


class MagicHandler:
    def __init__(self, shell: InteractiveShell, notebook: Notebook) -> None:
        self._shell = shell
        self._notebook = notebook
        self.conversations = notebook.conversations
        self.sessions = notebook.sessions
        self._announced: set[str] = set()
        self._interactive = {
            "show": self._show,
            "resume": self._resume,
            "export": self._export,
            "model": self._choose_model,
            "undo": self._undo,
            "redo": self._redo,
            "branch": self._branch,
            "retry": self._retry,
        }
        self._commands = Commands(
            shell, self._notebook, lambda name, words: run.run_to_completion(self._interactive[name](words, "sync"))
        )

    def chat_of(self, words: Sequence[str]) -> NotebookConversation:
        return self._commands.chat_and_options("show", words)[0]

    def warm_up(self) -> None:
        """Removes expired sessions; imports the modules and reads the sessions that the first cell needs."""
        chat_html.warm_up()
        self._notebook.sessions.expire()
        _ = self._notebook.sessions.earlier
        if getattr(self._shell, "kernel", None) is not None:
            import autogen_nb.notebook.asking.panels.button_person  # noqa: F401  # imports ipywidgets

    def close(self) -> None:
        for chat in self.conversations:
            chat.end()
        self._notebook.sessions.close()
        self.conversations.folders.close()
        self.conversations.kernels.close()

    async def run_awaited(self, line: str, cell: str) -> None:
        """Runs a cell while the notebook's loop stays responsive."""
        with _responsive():
            await self._run(read_options(line, cell), "async")

    def run_blocking(self, line: str, cell: str) -> None:
        """Runs a cell and blocks the kernel's thread, for example if another cell's code calls the magic."""
        with one_line():
            run.run_to_completion(self._run(read_options(line, cell), "sync"))

    def command(self, line: str) -> None:
        with one_line():
            self._commands.run(line)

    async def run_line(self, line: str) -> None:
        """Runs a command that asks questions."""
        with _responsive():
            name, *words = words_of(line)
            await self._interactive[name](words, "async")

    async def _show(self, words: Sequence[str], waits: run.Waits) -> None:
        chat = self.chat_of(words)
        if not chat.runs:
            self._commands.say_why_empty(chat)
        waiting = chat.open_run
        show_command.show_runs([cell_run for cell_run in chat.runs if cell_run is not waiting], cell_view(self._shell))
        if waiting is not None:
            settings = waiting.settings.with_options(chat=chat.name, new=False)
            await self._run(settings, waits, resumed_cell=waiting.origin.cell or "")

    async def _resume(self, words: Sequence[str], waits: run.Waits) -> None:
        name, options = name_and_options("resume", words)
        if len(options) > 1:
            raise ConfigError("%autogen resume takes --yes or --fresh, not both")
        session = self._notebook.sessions.reopen(name, {chat.session.name for chat in self.conversations if chat.runs})
        async with self._restored_chat(session, options, waits, show=True) as (stage, chat):
            open_run = chat.open_run
            if open_run is None:
                name = "" if chat.name == self.conversations.current else f" -c {shlex.quote(chat.name)}"
                stage.view.note(f"The chat `{chat.name}` is back: `%%autogen{name}` continues it.")
            elif "--yes" not in options:
                await resuming.ask_about_unended(stage, chat)
        if open_run is not None:
            await self._run(open_run.settings.for_resume(chat.name), waits, resumed_cell=open_run.origin.cell or "")

    async def _branch(self, words: Sequence[str], waits: run.Waits) -> None:
        rest, chat = self._commands.split_started_chat(words)
        rest, at = take_option(rest, "--at")
        name, options = name_and_options("branch", rest)
        count = len(chat.runs) if at is None else whole_number("branch --at", at)
        session = undoing.branched(self._notebook, chat, checked("chat", name), count)
        try:
            async with self._restored_chat(session, options, waits) as (stage, branch):
                way = f"`%%autogen -c {shlex.quote(branch.name)}` continues it"
                stage.view.note(f"The chat `{name}` goes on after cell {count} of `{chat.name}`: {way}.")
        except BaseException:
            self._notebook.sessions.store.remove(session.name)
            raise

    async def _retry(self, words: Sequence[str], waits: run.Waits) -> None:
        rest, chat = self._commands.split_started_chat(words)
        rest, model = take_option(rest, "-m", "--model")
        name_and_options("retry", rest)
        changes = {} if model is None else {"model": checked("model", model)}
        with self._stage(waits) as stage:
            earlier = await undoing.take_back_for_retry(stage, chat)
        settings = earlier.settings.with_options(chat=chat.name, new=False, **changes)
        await self._run(settings, waits, resumed_cell=earlier.origin.cell or "")
        with self._stage(waits) as stage:
            undoing.compare(stage, earlier, chat.runs[-1])

    async def _export(self, words: Sequence[str], waits: run.Waits) -> None:
        rest, chat = self._commands.split_started_chat(words)
        file, options = name_and_options("export", rest)
        path = writable_path(file, force="--force" in options)
        if not chat.runs:
            raise ConfigError(f"chat {chat.name!r} has no cell to export")
        with self._stage(waits) as stage:
            await exporting.export(stage, chat, path, options)

    async def _undo(self, words: Sequence[str], waits: run.Waits) -> None:
        rest, chat = self._commands.split_started_chat(words)
        rest, first = take_option(rest, "--from")
        number, options = name_and_options("undo", rest)
        last = max(0, len(chat.runs) - whole_number("undo", number or "1"))
        index = last if first is None else whole_number("undo --from", first) - 1
        with self._stage(waits) as stage:
            await undoing.undo(stage, chat, index, ask="--yes" not in options)

    async def _redo(self, words: Sequence[str], waits: run.Waits) -> None:
        chat, options = self._commands.chat_and_options("redo", words)
        with self._stage(waits) as stage:
            await undoing.redo(stage, chat, ask="--yes" not in options)

    @asynccontextmanager
    async def _restored_chat(
        self, session: Session, options: AbstractSet[str], waits: run.Waits, *, show: bool = False
    ) -> AsyncIterator[tuple[CellStage, NotebookConversation]]:
        """Continues a session, and with consent restores its variables in a new kernel; an error ends the chat."""
        chat = None
        try:
            if "--yes" not in options:
                resuming.take_back_approvals(session)
            runs = runs_of(session)
            if show:
                finished = [each for each in runs if each is not runs[-1] or not each.resumable]
                show_command.show_runs(finished, cell_view(self._shell))
            with self._stage(waits) as stage:
                fresh = "--fresh" in options or not (
                    "--yes" in options or await resuming.agrees_to_restore(stage, session)
                )
                chat = self.conversations.restore(session, runs, self._notebook.defaults.where)
                await resuming.restore(stage, chat, fresh=fresh)
                yield stage, chat
        except BaseException:
            session.close()
            if chat is not None:
                self.conversations.remove(chat)
            raise

    @contextmanager
    def _stage(self, waits: run.Waits, human_timeout: float | None = None) -> Iterator[CellStage]:
        """Yields the person who answers a command's questions, and a new view, as a `CellStage`."""
        channel, running = self._channel(waits), running_origin(self._shell)
        view = cell_view(self._shell)
        with closing(view), self._person(channel, view, running, human_timeout) as person:
            yield CellStage(self._notebook, running, person, view, waits)

    async def _choose_model(self, words: Sequence[str], waits: run.Waits) -> None:
        """Opens the model form, and shows the resulting settings."""
        if self._channel(waits).way == "nobody":
            raise ConfigError("nobody is there to fill in a form: set OPENAI_API_KEY, or OPENAI_BASE_URL, or use -m")
        setting = self._notebook.model_setting
        form = model_command.form_for(words[1:], setting, os.environ)
        with self._stage(waits) as stage:
            view = stage.view
            try:
                connection = await stage.ask(lambda person: person.connection(form))
            except ChatUnfinished:
                view.note("Nothing was changed.")
                return
            remark = await run.result(asyncio.to_thread(setting.use_form, connection, os.environ), waits=waits)
            if remark:
                view.note(remark, tone="warning")
            if isinstance(view, NotebookView):
                view.add(*model_command.execute((), setting, os.environ))
            else:
                self._commands.run("model")

    async def _run(self, options: Settings, waits: run.Waits, resumed_cell: str | None = None) -> None:
        """Runs this cell, or resumes the cell with the id `resumed_cell` ("" if it has no id)."""
        channel = self._channel(waits)
        if options.each:
            with self._stage(waits, options.human_timeout or None) as stage:
                self._notebook.publish(await run_each(stage, options))
            return
        origin = running_origin(self._shell)
        if resumed_cell is not None:
            origin = replace(origin, cell=resumed_cell or None)
        team = None if not options.team else team_of(options, self._notebook.namespace)
        where = self._where(options, origin) if team is None else ExecutionTarget()
        settings = self._notebook.defaults.for_cell(
            options, attended=channel.way != "nobody", sandboxed=where.kind.wall, policy=run.policy()
        )
        members = () if team is None else [member.name for member in team.participants]
        # A team has its own models and executors.
        remark = " · ".join(filter(None, (where.text, settings.remark))) if team is None else ""
        has_buttons = channel.way == "buttons"
        view = cell_view(self._shell, remark=remark, members=members, comes_back=has_buttons, show=settings.show)
        with self._person(channel, view, origin, settings.human_timeout or None) as person:
            stage = CellStage(self._notebook, origin, person, view, waits, settings.every_block)
            if team is not None:
                await run_team(stage, options, team)
                return
            self.conversations.kernels.set_limits(
                self._notebook.defaults.kernel_idle, self._notebook.defaults.kernel_limit
            )
            self.conversations.kernels.say_in(copy_context(), self._commands.say)
            await ChatCell(stage, settings, where).run()

    def _channel(self, waits: run.Waits) -> QuestionChannel:
        channel = question_channel(self._shell, blocks=waits == "sync")
        # A blocking run never suspends, so buttons would not respond.
        return QuestionChannel("words", INSIDE) if waits == "sync" and channel.way == "buttons" else channel

    @contextmanager
    def _person(
        self, channel: QuestionChannel, view: CellView, origin: Origin, human_timeout: float | None = None
    ) -> Iterator[Person]:
        """Yields the person who answers; if panels ask, a cell such as `%autogen show` can take over the chat."""
        running = running_origin(self._shell)
        with ExitStack() as stack:
            chat = None
            if channel.way == "buttons" and isinstance(view, NotebookView):
                code = running_code(self._shell)
                chat = RunningChat(view, origin, running.cell, code, self.conversations, self.chat_of)
                stack.push(lambda _, error, __: chat.end(error))
            superseded = stack.enter_context(channel.open(self._shell, running, chat))
            if channel.way == "nobody":
                yield AbsentPerson()
            elif chat is None or isinstance(view, PlainCellView):
                yield TypingPerson(lambda: self._announce(channel.why, view), terminal=channel.terminal)
            else:
                from autogen_nb.notebook.asking.panels.button_person import ButtonPerson

                yield ButtonPerson(lambda: view, superseded, human_timeout=human_timeout)

    def _announce(self, why: str, view: CellView) -> None:
        if why and why not in self._announced:
            self._announced.add(why)
            view.note(why)

    def _where(self, options: Settings, origin: Origin) -> ExecutionTarget:
        default = self._notebook.defaults.where
        chat = self.conversations.find(options, origin)
        where = options.target(default) if chat is None else chat.target_for(options, default)
        if chat is None or chat.where != where:
            where.check(self.conversations.cwd)
        run.policy().check_walls(where.sandbox, "this cell")
        return where


@contextmanager
def _responsive() -> Iterator[None]:
    with run.heartbeat(), one_line(), suppress(Superseded):
        yield
