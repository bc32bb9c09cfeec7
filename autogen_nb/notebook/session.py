"""Executes the magics. This module imports everything heavy, so it is imported on first use."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from pathlib import Path

from ipykernel.connect import get_connection_file
from IPython.core.interactiveshell import InteractiveShell

from autogen_nb import run
from autogen_nb.agents.chats.chat_result import ChatResult
from autogen_nb.agents.parts.execution_target import ExecutionTarget
from autogen_nb.agents.teams.team_messages import TaskResult
from autogen_nb.errors import AutogenError, ChatUnfinished, ConfigError
from autogen_nb.notebook import reruns
from autogen_nb.notebook.asking import stop_question
from autogen_nb.notebook.asking.delivery import INSIDE, QuestionDelivery, delivery
from autogen_nb.notebook.asking.person import AbsentPerson, Person, StopAnswer, TypingPerson
from autogen_nb.notebook.asking.taking_over import RunningChat
from autogen_nb.notebook.chat_cell import ChatCell
from autogen_nb.notebook.commands import model_command, show_command
from autogen_nb.notebook.commands.line_command import Commands
from autogen_nb.notebook.conversations import Conversations, NotebookConversation, Origin
from autogen_nb.notebook.notebook import CellStage, CellView, Notebook
from autogen_nb.notebook.options import read_options
from autogen_nb.notebook.rendering import chat_html
from autogen_nb.notebook.restarts import Restarts
from autogen_nb.notebook.team_cell import run_team, team_of
from autogen_nb.notebook.view.notebook_view import NotebookView
from autogen_nb.notebook.view.plain_cell import PlainCellView
from autogen_nb.settings import Settings


class _OneLine(BaseException):
    """Ends an unfinished cell with one line instead of a traceback, and stops the cells after it."""

    def _render_traceback_(self) -> list[str]:
        # IPython shows these lines as the traceback.
        return [f"\x1b[31m{self}\x1b[0m"]


class CellFailed(_OneLine, Exception):  # IPython shows the class name
    """The cell has no answer; the cause is chained."""


class CellInterrupted(_OneLine, KeyboardInterrupt):
    """The person interrupted the cell."""


@contextmanager
def one_line() -> Iterator[None]:
    """Converts the package's errors to one line; other exceptions keep their traceback."""
    try:
        yield
    except AutogenError as error:
        raise CellFailed(str(error)) from error


class Session:
    def __init__(self, shell: InteractiveShell, defaults: Settings, conversations: Conversations) -> None:
        self._shell = shell
        self._defaults = defaults
        self.conversations = conversations
        self._announced: set[str] = set()
        restarts = Restarts()
        if getattr(shell, "kernel", None) is not None:
            # The file may be missing, and an embedded kernel has none.
            with suppress(OSError, RuntimeError):
                restarts = Restarts(Path(get_connection_file()))
        self._notebook = Notebook(shell.user_ns, self.conversations, defaults, _publish, restarts=restarts)
        self._commands = Commands(
            shell, self._notebook, choose_model=lambda words: run.run_to_completion(self._choose_model(words, "sync"))
        )

    def chat_of(self, words: Sequence[str]) -> NotebookConversation:
        """Returns the named chat, or the current one."""
        return self._commands.chat_of(words)

    def warm_up(self) -> None:
        """Imports the modules that the first cell needs."""
        chat_html.warm_up()
        if getattr(self._shell, "kernel", None) is not None:
            import autogen_nb.notebook.asking.panels  # noqa: F401  # ipywidgets takes a while

    def close(self) -> None:
        for chat in self.conversations:
            chat.end()
        self.conversations.folders.close()
        self.conversations.kernels.close()

    async def run_show(self, line: str) -> None:
        """Shows a chat again, and repeats its open question."""
        with one_line():
            chat = self._commands.chat_of(line.split()[1:])
        if not chat.runs:
            self._commands.say_why_empty(chat)
        waiting = show_command.waiting_run(chat)
        show_command.show_runs([member for member in chat.runs if member is not waiting], NotebookView())
        if waiting is None:
            return
        options = waiting.settings.changed(chat=chat.name, new=False)
        await self._run_awaited(lambda: options, waiting.origin.cell or "")

    async def run_model_form(self, line: str) -> None:
        """Opens the model form, and shows the resulting settings."""
        with run.heartbeat(), one_line():
            try:
                await self._choose_model(line.split()[2:], "async")
            except reruns.Superseded:
                return
            except (asyncio.CancelledError, KeyboardInterrupt):
                raise CellInterrupted("Stopped.") from None

    async def _choose_model(self, words: Sequence[str], waits: run.Waits) -> None:
        delivered = delivery(self._shell, blocks=waits == "sync")
        if delivered.way == "nobody":
            raise ConfigError("nobody is there to fill in a form: set OPENAI_API_KEY, or OPENAI_BASE_URL, or use -m")
        if waits == "sync":
            delivered = delivered.in_words(INSIDE)
        setting = self._notebook.model_setting
        form = model_command.form_for(words, setting, os.environ)
        view = PlainCellView() if delivered.plain else NotebookView()
        running = reruns.origin(self._shell)
        mover = self._movable_chat(delivered, view, running, running)
        with mover or nullcontext(), delivered.open(self._shell, running, mover) as superseded:
            try:
                answer = self._person(delivered, view, superseded, None).connection(form)
                connection = await answer if isinstance(answer, Awaitable) else answer
            except ChatUnfinished:
                view.note("Nothing was changed.")
                return
            setting.use_form(connection, os.environ)
            if isinstance(view, NotebookView):
                view.add(*model_command.execute((), setting, os.environ))
            else:
                self._commands.run("model")

    async def run_awaited(self, line: str, cell: str) -> None:
        """Runs a cell while the notebook's loop stays responsive."""
        await self._run_awaited(lambda: read_options(line, cell))

    def run_blocking(self, line: str, cell: str) -> None:
        """Runs a cell that blocks the kernel's thread, for example inside another cell."""
        with one_line():
            try:
                run.run_to_completion(self._run(read_options(line, cell), "sync"))
            except KeyboardInterrupt:
                raise CellInterrupted("Stopped.") from None

    def command(self, line: str) -> None:
        with one_line():
            self._commands.run(line)

    async def _run_awaited(self, options: Callable[[], Settings], cell: str | None = None) -> None:
        """Runs a cell; `cell` is the id of the cell to resume ("" if it has no id), or None for the running cell."""
        with run.heartbeat(), one_line():
            try:
                await self._run(options(), "async", cell)
            except reruns.Superseded:
                return
            except (asyncio.CancelledError, KeyboardInterrupt):
                # ipykernel cancels an awaited cell, and interrupts a plain one.
                raise CellInterrupted("Stopped.") from None

    async def _run(self, options: Settings, waits: run.Waits, cell: str | None = None) -> ChatResult | TaskResult:
        delivered = delivery(self._shell, blocks=waits == "sync")
        if waits == "sync":
            # A blocking run never suspends, so buttons would not respond.
            delivered = delivered.in_words(INSIDE)
        running = reruns.origin(self._shell)
        origin = running if cell is None else replace(running, cell=cell or None)
        team = None if not options.team else team_of(options, self._notebook.namespace)
        where = self._where(options, origin) if team is None else ExecutionTarget()
        settings = self._defaults.for_cell(
            options, attended=delivered.way != "nobody", sandboxed=where.walled, policy=run.policy()
        )
        # Teams bring their own models and places.
        members = () if team is None else [member.name for member in team.participants]
        remark = " · ".join(filter(None, (where.text, settings.remark))) if team is None else ""
        view = (
            PlainCellView(remark=remark)
            if delivered.plain
            else NotebookView(remark=remark, members=members, comes_back=delivered.way == "buttons", show=settings.show)
        )
        mover = self._movable_chat(delivered, view, origin, running)
        with mover or nullcontext(), delivered.open(self._shell, running, mover) as superseded:
            person = self._person(delivered, view, superseded, settings.human_timeout or None)
            ask_below = None if mover is None or isinstance(view, PlainCellView) else partial(_ask_below, view)
            stage = CellStage(self._notebook, origin, person, view, waits, ask_below, settings.every_block)
            if team is not None:
                return await run_team(stage, options, team)
            self.conversations.kernels.set_limits(self._defaults.kernel_idle, self._defaults.kernel_limit)
            self.conversations.kernels.say_in(copy_context(), self._commands.say)
            return await ChatCell(stage, settings, where).run()

    def _movable_chat(
        self, delivered: QuestionDelivery, view: CellView, origin: Origin, running: Origin
    ) -> RunningChat | None:
        """Returns the chat that other cells can take over; None if nobody can request that."""
        if delivered.way != "buttons" or isinstance(view, PlainCellView):
            return None
        source = reruns.source(self._shell)
        return RunningChat(view, origin, running.cell, source, self.conversations, self.chat_of)

    def _person(
        self,
        delivered: QuestionDelivery,
        view: CellView,
        superseded: Callable[[], bool],
        human_timeout: float | None,
    ) -> Person:
        if delivered.way == "nobody":
            return AbsentPerson()
        if delivered.way == "words" or isinstance(view, PlainCellView):
            return TypingPerson(lambda: self._announce(delivered.why, view), terminal=delivered.terminal)
        from autogen_nb.notebook.asking.panels import ButtonPerson

        return ButtonPerson(lambda: view, superseded, human_timeout=human_timeout)

    def _announce(self, why: str, view: CellView) -> None:
        if why and why not in self._announced:
            self._announced.add(why)
            view.note(why)

    def _where(self, options: Settings, origin: Origin) -> ExecutionTarget:
        usual = self._defaults.where
        chat = self.conversations.find(options, origin)
        where = options.target(usual) if chat is None else chat.target_for(options, usual)
        if chat is None or chat.where != where:
            where.check(self.conversations.cwd)
        run.policy().check_walls(where.sandbox, "this cell")
        return where


async def _ask_below(view: NotebookView, what: str) -> StopAnswer:
    from autogen_nb.notebook.asking.panels import ButtonPerson

    below = NotebookView(publish=view.publish)
    answer = await ButtonPerson(lambda: below, lambda: False).stopping(what)
    below.note(stop_question.KILLED if answer == "kill" else stop_question.LEFT, kind="decision")
    return answer


def _publish(result: ChatResult | TaskResult) -> None:
    sys.modules["autogen_nb"].last = result  # type: ignore[attr-defined]  # defined in `__init__.py`
