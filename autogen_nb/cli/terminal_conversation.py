"""A conversation in a terminal: tasks one after another, the same agents, one kernel of theirs."""

import os
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autogen_nb import run
from autogen_nb.agents.assistant import AssistantAgent
from autogen_nb.agents.chats.initiated_chat import ChatOptions, TwoAgentChat
from autogen_nb.agents.parts.agent_config import CodeConfig
from autogen_nb.agents.parts.execution_target import ExecutionTarget
from autogen_nb.agents.parts.prompts import ASSISTANT
from autogen_nb.agents.user_proxy import UserProxyAgent
from autogen_nb.core.chats.termination_checks import WithoutCode
from autogen_nb.core.ports import Model
from autogen_nb.effects import Confirm
from autogen_nb.errors import ChatUnfinished, ConfigError
from autogen_nb.events import ApprovalGiven, CodeRan, Ended, Event, Said
from autogen_nb.human.rule_based_approver import ApproveAll, RuleBasedApprover
from autogen_nb.human.rules_file import RulesFile
from autogen_nb.human.terminal_human import TerminalHuman
from autogen_nb.kernels.limits import machine_memory
from autogen_nb.kernels.transfer.describe import Share, describe, variables_text
from autogen_nb.models.config import model_connection
from autogen_nb.models.config.model_selection import model_for
from autogen_nb.models.wrappers.budget import Budget, budgeted
from autogen_nb.views.plain_view import PlainView

_NO_MODEL = (
    "no model is configured: set OPENAI_API_KEY, or OPENAI_BASE_URL and AUTOGEN_NB_MODEL, "
    "or choose the built-in analysis with -m offline"
)


@dataclass(frozen=True, slots=True)
class ConversationSetting:
    """What a conversation is held with; `confirm` None is "risky" behind walls, and "always" without."""

    model: str | None = None
    where: ExecutionTarget = field(default_factory=ExecutionTarget)
    confirm: Confirm | None = None
    max_turns: int = 20
    block_timeout: float | None = None
    budget: str | None = None
    share: Share = "schema"


class TerminalView(PlainView):
    """The plain view, without what the person has just typed or seen."""

    def __init__(self, task: str, write: Callable[[str], None] | None = None) -> None:
        super().__init__(*(() if write is None else (write,)))
        self._task = task
        self._reported = False

    def show(self, event: Event) -> None:
        """Writes what the event adds."""
        match event:
            case Said() if event.message.text == self._task:
                self._task = ""
            case Said() if self._reported:
                # The outputs have shown what this message tells the model.
                self._reported = False
            case Ended(reason="answered" | "terminated"):
                self.close()
            case _:
                self._reported = isinstance(event, CodeRan) or (
                    isinstance(event, ApprovalGiven) and event.decision == "skip"
                )
                super().show(event)


class TerminalConversation:
    """One conversation, from its first task to its end.

    Parameters
    ----------
    data
        Tables by the names under which the code has them.
    tell
        Says something to the person beside the conversation.

    Raises
    ------
    AutogenError
        When there is no model, or the place for the code cannot be had.
    """

    def __init__(self, setting: ConversationSetting, data: Mapping[str, Any], *, tell: Callable[[str], None]) -> None:
        self._setting = setting
        self._data = dict(data)
        self._tell = tell
        setting.where.check(Path.cwd())
        confirm = setting.confirm or ("risky" if setting.where.walled else "always")
        model = self._model()
        self._executor = setting.where.executor(
            cwd=Path.cwd(), timeout=setting.block_timeout, imports=machine_memory.preimports()
        )
        self._forget = run.engine.at_exit(self._executor.stop)
        self._assistant = AssistantAgent("assistant", ASSISTANT, model, is_termination_msg=_never)
        self._user = UserProxyAgent(
            "user",
            WithoutCode(),
            setting.max_turns - 1,
            "NEVER",
            code_execution_config=CodeConfig(self._executor, confirm=confirm),
            default_auto_reply=None,
        )
        self._human = RuleBasedApprover(
            TerminalHuman(),
            RulesFile(),
            scope=None if self._user.code is None else self._user.code.scope,
            onwards=ApproveAll(),
            tell=tell,
        )

    def do(self, task: str) -> None:
        """Has the task done, shown as it goes.

        Raises
        ------
        AutogenError
            When it did not come to its answer.
        """
        message = task + self._hand_over()
        chat = TwoAgentChat(
            self._user, self._assistant, ChatOptions(message, clear_history=False), waits="sync", human=self._human
        )
        view = TerminalView(message)
        ended: Ended | None = None
        with closing(view), closing(chat.exchange().events(view.tick)) as events:
            for event in events:
                view.show(event)
                ended = event if isinstance(event, Ended) else ended
        if ended is not None and ended.reason in ("stopped", "max_auto_replies"):
            what = "stopped by you" if ended.reason == "stopped" else "not finished: the limit of turns was met"
            raise ChatUnfinished(what, reason=ended.reason)

    def close(self) -> None:
        """Ends the agent's kernel."""
        self._forget()
        run.engine.call(self._executor.stop())

    def _hand_over(self) -> str:
        """What the assistant is told of the tables, which go over before the first task."""
        data, self._data = self._data, {}
        if not data:
            return ""
        run.engine.call(self._executor.put(data))
        return variables_text([describe(name, value, share=self._setting.share) for name, value in data.items()])

    def _model(self) -> Model:
        spec = model_connection.choose(self._setting.model, None, os.environ)
        if spec is None:
            raise ConfigError(_NO_MODEL)
        for host in model_connection.hosts(spec, os.environ):
            self._tell(model_connection.receives(host, rows=self._setting.share == "rows").replace("`", ""))
        model = model_for(spec)
        for budget in filter(None, (self._setting.budget, run.policy().budget)):
            model = budgeted(model, Budget.parse(budget))
        return model


def _never(_: dict[str, Any]) -> bool:
    return False
