"""A conversation in a terminal: a series of tasks for the same agents and kernel."""

import os
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from autogen_nb import run
from autogen_nb.agents.assistant import AssistantAgent
from autogen_nb.agents.chats.initiated_chat import ChatOptions, TwoAgentChat
from autogen_nb.agents.parts.agent_config import CodeConfig
from autogen_nb.agents.parts.prompts import ASSISTANT
from autogen_nb.agents.user_proxy import UserProxyAgent
from autogen_nb.cli.task_options import TaskOptions
from autogen_nb.core.chats.termination_checks import WithoutCode
from autogen_nb.core.ports import Model
from autogen_nb.errors import ChatUnfinished, ConfigError
from autogen_nb.events import Ended
from autogen_nb.human.rule_based_approver import ApproveAll, RuleBasedApprover
from autogen_nb.human.rules_file import RulesFile
from autogen_nb.human.terminal_human import TerminalHuman
from autogen_nb.kernels.limits import machine_memory
from autogen_nb.kernels.transfer.describe import Share, describe, variables_text
from autogen_nb.models.config import model_connection
from autogen_nb.models.config.model_selection import model_for
from autogen_nb.models.wrappers.budget import Budget, budgeted
from autogen_nb.views.plain_view import PlainView

_MOST_TURNS = 20


class TerminalConversation:
    def __init__(self, options: TaskOptions, data: Mapping[str, Any], *, tell: Callable[[str], None]) -> None:
        self._data = dict(data)
        self._share: Share = options.share or "schema"
        target = options.execution_target()
        target.check(Path.cwd())
        model = self._model(options, tell)
        self._executor = target.executor(
            cwd=Path.cwd(), timeout=options.block_timeout, imports=machine_memory.preimports()
        )
        confirm = options.confirm or ("risky" if target.walled else "always")
        self._unregister = run.engine.at_exit(self._executor.stop)
        self._assistant = AssistantAgent("assistant", ASSISTANT, model, is_termination_msg=lambda _: False)
        self._user = UserProxyAgent(
            "user",
            WithoutCode(),
            (options.max_turns or _MOST_TURNS) - 1,
            "NEVER",
            code_execution_config=CodeConfig(self._executor, confirm=confirm),
            default_auto_reply=None,
        )
        self._every_block = options.confirm == "always"
        self._tell = tell

    def do(self, task: str) -> None:
        message = task + self._hand_over()
        chat = TwoAgentChat(
            self._user,
            self._assistant,
            ChatOptions(message, clear_history=False),
            waits="sync",
            human=self._approver(),
        )
        view = PlainView(
            repeats=False, last_line=lambda end: "" if end.reason in ("answered", "terminated") else end.detail
        )
        view.hide(message)
        ended: Ended | None = None
        with closing(view), closing(chat.exchange().events(view.tick)) as events:
            for event in events:
                view.show(event)
                ended = event if isinstance(event, Ended) else ended
        if ended is not None and ended.reason in ("stopped", "max_auto_replies"):
            what = "stopped by you" if ended.reason == "stopped" else "not finished: the limit of turns was reached"
            raise ChatUnfinished(what, reason=ended.reason)

    def close(self) -> None:
        self._unregister()
        run.engine.call(self._executor.stop())

    def _approver(self) -> RuleBasedApprover:
        """Combines the person, the saved rules and "run all from here" of one task."""
        return RuleBasedApprover(
            TerminalHuman(),
            RulesFile(),
            scope=None if self._user.code is None else self._user.code.scope,
            onwards=ApproveAll(offered=not self._every_block, agents_decide=False),
            tell=self._tell,
        )

    def _hand_over(self) -> str:
        data, self._data = self._data, {}
        if not data:
            return ""
        run.engine.call(self._executor.put(data))
        return variables_text([describe(name, value, share=self._share) for name, value in data.items()])

    def _model(self, options: TaskOptions, tell: Callable[[str], None]) -> Model:
        spec = model_connection.choose(options.model, None, os.environ)
        if spec is None:
            raise ConfigError(model_connection.NO_MODEL)
        for host in model_connection.hosts(spec, os.environ):
            tell(model_connection.disclosure(host, rows=self._share == "rows").replace("`", ""))
        model = model_for(spec, empty_reply="refuse")
        for budget in filter(None, (options.budget, run.policy().budget)):
            model = budgeted(model, Budget.parse(budget))
        return model
