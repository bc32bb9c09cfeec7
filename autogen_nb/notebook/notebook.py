"""The state that all cells of a notebook share, and the state of one run of a cell."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from autogen_nb.agents.chats.initiated_chat import ChatResult
from autogen_nb.agents.teams.team_chats import BaseGroupChat
from autogen_nb.agents.teams.team_messages import TaskResult
from autogen_nb.conversations.chat_sessions import ChatSessions
from autogen_nb.conversations.conversations import Conversations, Origin
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.core.ports import Model
from autogen_nb.core.text.templates import fill_template
from autogen_nb.human.rule_based_approver import RuleBasedApprover, RulesFile
from autogen_nb.kernels.transfer.describe import Share
from autogen_nb.models.config import model_selection
from autogen_nb.models.config.model_selection import model_for
from autogen_nb.models.config.providers import host_of
from autogen_nb.notebook.asking.person import KEY_NEEDED, NOT_CONFIGURED, AbsentPerson, ModelForm, Person
from autogen_nb.notebook.context import NO_INSTRUCTIONS, Cell, Instructions, named_variables
from autogen_nb.notebook.model_setting import ModelSetting
from autogen_nb.notebook.view.notebook_view import CellView
from autogen_nb.run import Waits, interruptible, result
from autogen_nb.settings import Settings

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")


@dataclass(slots=True)
class Notebook:
    namespace: dict[str, Any]
    conversations: Conversations
    defaults: Settings
    sessions: ChatSessions
    model_setting: ModelSetting = field(init=False)
    teams: dict[str, BaseGroupChat] = field(default_factory=dict)
    rules: RulesFile = field(default_factory=RulesFile)
    announced: set[tuple[str, Share, bool]] = field(default_factory=set, repr=False)
    tips: set[str] = field(default_factory=set, repr=False)
    # The cells that ran in this notebook, other than those of magics of this package.
    cells: Callable[[], Sequence[Cell]] = field(default=tuple, repr=False)
    instructions: Instructions = NO_INSTRUCTIONS
    # The models, each with its source, that the last `%autogen models` listed.
    listed_models: Sequence[tuple[str, str]] = ()
    _models: dict[str, Model] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.model_setting = ModelSetting(self.defaults)

    def publish(self, result: "ChatResult | TaskResult | pd.DataFrame") -> None:
        sys.modules["autogen_nb"].last = result  # type: ignore[attr-defined]  # defined in `__init__.py`

    def model(self, spec: Any) -> Model:
        """Returns the notebook's one model for `spec`, so that recordings and replays continue across cells."""
        record = self.defaults.record or None
        key = repr((spec, record))
        if key not in self._models:
            self._models[key] = model_for(spec, record=record, empty_reply="refuse")
        return self._models[key]

    def tip(self, text: str) -> str:
        """Returns the text the first time, and "" after that."""
        shown = text in self.tips
        self.tips.add(text)
        return "" if shown else text

    def task(self, options: Settings) -> str:
        """Returns the task; in a template, the values of the notebook's variables replace their names."""
        if not options.template:
            return options.task
        named = named_variables
        return fill_template(options.task, lambda name: named([name], self.namespace, "--template")[name])


@dataclass(frozen=True, slots=True)
class CellStage:
    notebook: Notebook
    origin: Origin
    person: Person
    view: CellView
    waits: Waits
    every_block: bool = False

    async def ask(self, question: Callable[[Person], T | Awaitable[T]]) -> T:
        """Asks the person one of the cell's own questions."""
        with interruptible():
            answer = question(self.person)
        return await answer if isinstance(answer, Awaitable) else answer

    async def result(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine on the engine, as the cell waits."""
        return await result(work, waits=self.waits)

    async def choose_model(self, settings: Settings, *, again: bool = False) -> Any:
        """Returns the spec of the cell's model: the cell's own, the model form's, or that of the environment.

        Otherwise opens the form. With `again`, the last request failed, and the form opens with its error. Notes which
        host gets which data, once for each host.
        """
        setting, named = self.notebook.model_setting, settings.options.get("model")
        # A keyring may wait until the person unlocks it.
        recalled = await self.result(asyncio.to_thread(setting.recall, os.environ))
        for remark in (recalled, setting.drop_if_replaced(os.environ)):
            if remark:
                self.view.note(remark)
        spec = setting.choose(named, os.environ)
        failure = "" if isinstance(self.person, AbsentPerson) else setting.failure_of(spec)
        # After a failed request, the person must consent to another one; an explicit -m is consent.
        if spec is None or (failure and (again or named is None)):
            spec = await self._model_of_form(named, failure)
        if failure:
            setting.failure = None, ""
        for host in model_selection.hosts(spec, os.environ):
            received = host, settings.share, settings.context
            if received not in self.notebook.announced:
                self.notebook.announced.add(received)
                rows, cells = settings.share == "rows", settings.context
                self.view.note(model_selection.disclosure(host, rows=rows, cells=cells), kind="host")
        return spec or ""

    async def _model_of_form(self, named: str | None, failure: str) -> Any:
        setting = self.notebook.model_setting
        proposal = setting.proposal(named, os.environ)
        lacks_key = setting.without_key is not None and not failure
        what = KEY_NEEDED.format(host=host_of(proposal.base_url), model=proposal.model) if lacks_key else NOT_CONFIGURED
        form = ModelForm(f"{failure} Your task is kept." if failure else what, proposal, only_key=lacks_key)
        connection = await self.ask(lambda person: person.connection(form))
        if connection.model == "offline":
            # The choice applies to this task only.
            return "offline"
        remark = await self.result(asyncio.to_thread(setting.use_form, connection, os.environ))
        if remark:
            self.view.note(remark, tone="warning")
        return setting.choose(connection.model, os.environ)

    def approver(self, scope: PathScope | None, *, own_agents: bool = False) -> RuleBasedApprover:
        """Returns an approver that applies the saved rules and "run all from here", and otherwise asks the person.

        With `own_agents`, the agents' own `confirm` settings decide which blocks need a question.
        """
        approver = RuleBasedApprover(
            self.person,
            self.notebook.rules,
            scope=scope,
            offers_all=not self.every_block,
            agents_decide=own_agents,
            tell=lambda text: self.view.note(text, tone="warning"),
        )
        self.view.runs_all = lambda: approver.runs_all
        return approver
