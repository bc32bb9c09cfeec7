"""Runs the magics: cells of chats and teams, and the commands of ``%autogen``.

Imported on first use, because its own imports are slow.
"""

import asyncio
import difflib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, aclosing, closing, contextmanager, suppress
from contextvars import copy_context
from dataclasses import replace
from functools import partial, reduce
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from autogen_nb import run
from autogen_nb.agents.teams.message_stream import MessageStream
from autogen_nb.agents.teams.team_chats import BaseGroupChat
from autogen_nb.agents.teams.team_messages import BaseChatMessage, TaskResult
from autogen_nb.conversations.conversations import NotebookConversation, Origin
from autogen_nb.core.chats.termination_checks import END_WORD, without
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.errors import AutogenError, ChatUnfinished, ConfigError
from autogen_nb.events import Ended
from autogen_nb.kernels.places.place import Place
from autogen_nb.notebook.asking.delivery import (
    INSIDE,
    QuestionChannel,
    question_channel,
    running_origin,
)
from autogen_nb.notebook.asking.person import AbsentPerson, Person, TypingPerson
from autogen_nb.notebook.asking.taking_over import RunningChat, Superseded
from autogen_nb.notebook.cell_source import read_options
from autogen_nb.notebook.chat_cell import ChatCell
from autogen_nb.notebook.commands.command import CommandContext
from autogen_nb.notebook.commands.table import run_line
from autogen_nb.notebook.context import quoted
from autogen_nb.notebook.each_cell import run_each
from autogen_nb.notebook.notebook import CellStage, Notebook
from autogen_nb.notebook.rendering import chat_html
from autogen_nb.notebook.view.notebook_view import CellView, NotebookView, cell_view, running_request
from autogen_nb.settings import OPTIONS, Settings
from autogen_nb.trusted import policy_file
from autogen_nb.views.plain_view import PlainCellView


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
        self.notebook = notebook
        self.conversations = notebook.conversations
        self.sessions = notebook.sessions
        self._announced: set[str] = set()

    def chat_of(self, name: str) -> NotebookConversation:
        return self._context("async").chat(name)

    def warm_up(self) -> None:
        """Removes expired sessions; imports the modules and reads the sessions that the first cell needs."""
        chat_html.warm_up()
        self.notebook.sessions.expire()
        _ = self.notebook.sessions.earlier
        if getattr(self._shell, "kernel", None) is not None:
            import autogen_nb.notebook.asking.button_person  # noqa: F401  # imports ipywidgets

    def close(self) -> None:
        for chat in self.conversations:
            chat.end()
        self.notebook.sessions.close()
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
        """Runs a command and blocks the kernel's thread."""
        with one_line():
            run.run_to_completion(run_line(self._context("sync"), line))

    async def run_line(self, line: str) -> None:
        """Runs a command while the notebook's loop stays responsive."""
        with _responsive():
            await run_line(self._context("async"), line)

    def _context(self, waits: run.Waits) -> CommandContext:
        async def run_cell(settings: Settings, cell: str) -> None:
            await self._run(settings, waits, resumed_cell=cell)

        return CommandContext(self._shell, self.notebook, waits, partial(self._stage, waits), run_cell)

    @contextmanager
    def _stage(self, waits: run.Waits, human_timeout: float | None = None) -> Iterator[CellStage]:
        """Yields the person who answers a command's questions, and a new view, as a `CellStage`."""
        channel, running = self._channel(waits), running_origin(self._shell)
        view = cell_view(self._shell)
        with closing(view), self._person(channel, view, running, human_timeout) as person:
            yield CellStage(self.notebook, running, person, view, waits)

    async def _run(self, options: Settings, waits: run.Waits, resumed_cell: str | None = None) -> None:
        """Runs this cell, or resumes the cell with the id `resumed_cell` ("" if it has no id)."""
        channel = self._channel(waits)
        if options.each:
            with self._stage(waits, options.human_timeout or None) as stage:
                self.notebook.publish(await run_each(stage, options))
            return
        origin = running_origin(self._shell)
        if resumed_cell is not None:
            origin = replace(origin, cell=resumed_cell or None)
        team = None if not options.team else team_of(options, self.notebook.namespace)
        place = self._place(options, origin) if team is None else Place()
        settings = self.notebook.defaults.for_cell(
            options, attended=channel.way != "nobody", sandboxed=place.is_sandbox
        )
        members = () if team is None else [member.name for member in team.participants]
        guard = "no guard here" if place.lacks_guard and settings.confirm != "never" else ""
        # A team has its own models and executors.
        remark = " · ".join(filter(None, (place.text, guard, settings.remark))) if team is None else ""
        has_buttons = channel.way == "buttons"
        view = cell_view(self._shell, remark=remark, members=members, comes_back=has_buttons, show=settings.show)
        with self._person(channel, view, origin, settings.human_timeout or None) as person:
            stage = CellStage(self.notebook, origin, person, view, waits, settings.every_block)
            if team is not None:
                await run_team(stage, options, team)
                return
            self.conversations.kernels.set_limits(
                self.notebook.defaults.kernel_idle, self.notebook.defaults.kernel_limit
            )
            say = partial(self._context(waits).say, kind="kernel")
            self.conversations.kernels.say_in(copy_context(), say)
            try:
                await ChatCell(stage, settings, place).run()
            finally:
                self.conversations.take_back_renewal()

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
                code = str(running_request(self._shell).get("content", {}).get("code", ""))
                chat = RunningChat(view, origin, running.cell, code, self.conversations, self.chat_of)
                stack.push(lambda _, error, __: chat.end(error))
            superseded = stack.enter_context(channel.open(self._shell, running, chat))
            if channel.way == "nobody":
                yield AbsentPerson()
            elif chat is None or isinstance(view, PlainCellView):
                yield TypingPerson(lambda: self._announce(channel.why, view), terminal=channel.terminal)
            else:
                from autogen_nb.notebook.asking.button_person import ButtonPerson

                yield ButtonPerson(lambda: view, superseded, human_timeout=human_timeout)

    def _announce(self, why: str, view: CellView) -> None:
        if why and why not in self._announced:
            self._announced.add(why)
            view.note(why)

    def _place(self, options: Settings, origin: Origin) -> Place:
        default = self.notebook.defaults.default_place
        chat = self.conversations.find(options, origin)
        place = options.place(default) if chat is None else chat.place_for(options, default)
        if chat is None or chat.place != place:
            place.check(self.conversations.cwd)
        policy_file.policy().check_sandbox(place.sandbox, "this cell")
        return place


@contextmanager
def _responsive() -> Iterator[None]:
    with run.heartbeat(), one_line(), suppress(Superseded):
        yield


def team_of(options: Settings, namespace: Mapping[str, Any]) -> BaseGroupChat:
    used = [trait.metadata for name, trait in OPTIONS.items() if name in options.options]
    unavailable = [metadata["flags"][-1] for metadata in used if "team" not in metadata]
    if unavailable:
        verb = "is" if len(unavailable) == 1 else "are"
        raise ConfigError(
            f"%%autogen: {' and '.join(unavailable)} {verb} not available with --team: a team has its own models, "
            "executors and limits; set them when you create the team"
        )
    name = options.team
    teams = {variable: value for variable, value in namespace.items() if isinstance(value, BaseGroupChat)}
    if name in teams:
        return teams[name]
    near = difflib.get_close_matches(name, teams, n=1)
    hint = f"did you mean {near[0]}?" if near else "create a team in a cell above, such as RoundRobinGroupChat([...])"
    problem = (
        f"{name} is a {type(namespace[name]).__name__}, not a team"
        if name in namespace
        else f"there is no variable {name}"
    )
    raise ConfigError(f"%%autogen: {problem}; {hint}")


async def run_team(stage: CellStage, options: Settings, team: BaseGroupChat) -> TaskResult:
    notebook, view = stage.notebook, stage.view
    task, name = notebook.task(options), options.team
    scope = PathScope(str(notebook.conversations.cwd), home=str(Path.home()))
    with closing(view):
        log = notebook.sessions.team_log(name, task)
        exchange = team.exchange(task, log=log, human=stage.approver(scope, own_agents=True), waits=stage.waits)
        notebook.teams[name] = team
        before = len(team.messages)
        memory_note = f" It remembers {before} messages; `await {name}.reset()` clears them." if before else ""
        view.note(f"`{name}`: {quoted([member.name for member in team.participants])}.{memory_note}")
        view.hide(task)
        stream = MessageStream(lambda: exchange, token=None)
        stream.view = view
        async with aclosing(stream):
            result = await stream.result()
    last = exchange.log[-1] if exchange.log else None
    if isinstance(last, Ended) and last.reason == "stopped":
        raise ChatUnfinished("Not finished.", reason=last.reason)
    notebook.publish(result)
    if options.answer:
        messages = [message for message in result.messages if isinstance(message, BaseChatMessage)]
        texts = (message.to_text() for message in reversed(messages) if not exchange.follower.is_task(message))
        ending_words = (END_WORD, *team.ending_words)
        answers = (reduce(lambda text, word: without(word, text), ending_words, message) for message in texts)
        notebook.namespace[options.answer] = next(filter(None, answers), "")
    return result
