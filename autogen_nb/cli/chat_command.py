"""``autogen-nb chat``: a conversation in the terminal, with the same questions as in a notebook."""

import os
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import click

from autogen_nb.agents.chats.initiated_chat import ChatOptions, TwoAgentChat
from autogen_nb.agents.parts.agent_config import CodeConfig
from autogen_nb.agents.parts.prompts import ASSISTANT
from autogen_nb.agents.user_proxy import code_pair
from autogen_nb.cli import exit_codes
from autogen_nb.cli.task_options import load, task_options
from autogen_nb.engine import engine
from autogen_nb.errors import AutogenError, ChatUnfinished, NobodyThere
from autogen_nb.events import Ended
from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.human.rule_based_approver import RuleBasedApprover, RulesFile
from autogen_nb.human.terminal_human import TerminalHuman
from autogen_nb.kernels.transfer.describe import describe, variables_text
from autogen_nb.models.config import model_selection
from autogen_nb.models.config.model_selection import model_for
from autogen_nb.models.wrappers.budget import Budget, budgeted
from autogen_nb.settings import Settings
from autogen_nb.views.plain_view import PlainView

_UNFINISHED = {"stopped": "stopped by you", "max_auto_replies": "not finished: the limit of turns was reached"}
_INPUT_ENDED = (
    "the standard input ended before a question had its answer; answer in a terminal or on further lines, or let the "
    "code run without questions by --confirm never"
)


@click.command(short_help="A conversation in the terminal; you approve code before it runs.", epilog=exit_codes.TABLE)
@task_options()
def chat(data: tuple[Path, ...], **values: Any) -> int:
    """Reads a task, runs it, and asks for the next task.

    Before code runs, you see it and choose "run", "edit", "skip", "all from here" or "stop". Ctrl-C interrupts a task.
    Ctrl-D, "exit" or another Ctrl-C ends the conversation. If tasks come from a pipe, the first failure ends it, too.
    """
    if sys.stdin.isatty():
        with suppress(ImportError):
            # The import gives `input` a history and line editing.
            import readline  # noqa: F401
    options, loaded = Settings.from_options("", **values), load(data)
    for path, (name, table) in zip(data, loaded.items(), strict=True):
        _print_notice(f"{path} is loaded as the variable `{name}`: {len(table):,} rows.")
    with closing(_Conversation(options, loaded)) as conversation:
        return _converse(conversation)


class _Conversation:
    """A series of tasks for the same agents and kernel."""

    def __init__(self, options: Settings, data: dict[str, Any]) -> None:
        place = options.place()
        place.check(Path.cwd())
        self._settings = Settings().for_cell(options, attended=True, sandboxed=place.is_sandbox)
        spec = model_selection.configured(self._settings.model, os.environ)
        for host in model_selection.hosts(spec, os.environ):
            _print_notice(model_selection.disclosure(host, rows=self._settings.share == "rows").replace("`", ""))
        model = model_for(spec, empty_reply="refuse")
        for budget in filter(None, (self._settings.budget, self._settings.policy_budget)):
            model = budgeted(model, Budget.parse(budget))
        timeout = self._settings.block_timeout or None
        self._executor = BlockExecutor(place=place, cwd=Path.cwd(), timeout=timeout, **self._settings.kernel_options)
        self._code = CodeConfig(self._executor, confirm=self._settings.confirm or "always")
        self._user, self._assistant = code_pair(ASSISTANT, model, self._code, self._settings.max_turns)
        self._tables = ""
        if data:
            engine.call(self._executor.put(data))
            self._tables = variables_text([describe(*item, share=self._settings.share) for item in data.items()])

    def run(self, task: str) -> None:
        message, self._tables = task + self._tables, ""
        human = RuleBasedApprover(
            TerminalHuman(),
            RulesFile(),
            scope=self._code.scope,
            offers_all=not self._settings.every_block,
            agents_decide=False,
            tell=_print_notice,
        )
        options = ChatOptions(message, clear_history=False)
        exchange = TwoAgentChat(self._user, self._assistant, options, waits="sync", human=human).exchange()
        normal_ends = ("answered", "terminated")
        view = PlainView(repeats=False, last_line=lambda end: "" if end.reason in normal_ends else end.detail)
        view.hide(message)
        with closing(view), closing(exchange.events(view.tick)) as events:
            for event in events:
                view.show(event)
                if isinstance(event, Ended) and event.reason in _UNFINISHED:
                    raise ChatUnfinished(_UNFINISHED[event.reason], reason=event.reason)

    def close(self) -> None:
        engine.call(self._executor.stop())


def _converse(conversation: _Conversation) -> int:
    is_terminal = sys.stdin.isatty()
    code = exit_codes.ANSWERED
    while True:
        try:
            task = input("\nYour task: " if is_terminal else "").strip()
            if task.lower() in ("exit", "quit"):
                return code
            if task:
                code = exit_codes.ANSWERED
                conversation.run(task)
        except EOFError:
            return code
        except KeyboardInterrupt:
            if code == exit_codes.INTERRUPTED:
                return code
            _print_notice("Interrupted; Ctrl-C once more, or Ctrl-D, ends the conversation.")
            code = exit_codes.INTERRUPTED
        except AutogenError as error:
            _print_notice(_INPUT_ENDED if isinstance(error, NobodyThere) else " ".join(str(error).split()))
            code = exit_codes.code_of(error)
            if not is_terminal:
                return code


def _print_notice(text: str) -> None:
    click.echo(f"autogen-nb chat: {text}", err=True)
