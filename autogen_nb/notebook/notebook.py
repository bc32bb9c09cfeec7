"""What the cells of a notebook share: its variables, its chats, its settings, its models and the person's rules."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from autogen_nb.agents.chats.chat_result import ChatResult
from autogen_nb.agents.teams.team_chats import BaseGroupChat
from autogen_nb.agents.teams.team_messages import TaskResult
from autogen_nb.core.ports import Model
from autogen_nb.human.rules_file import RulesFile
from autogen_nb.kernels.transfer.describe import Share
from autogen_nb.models.config import model_connection
from autogen_nb.models.config.model_selection import model_for
from autogen_nb.notebook.conversations import Conversations
from autogen_nb.notebook.settings import Defaults


@dataclass(slots=True)
class Notebook:
    """What the cells of a notebook share; `publish` makes a result the last one."""

    namespace: dict[str, Any]
    conversations: Conversations
    defaults: Defaults
    publish: Callable[[ChatResult | TaskResult], None]
    connection: model_connection.ModelConnection | None = None
    teams: dict[str, BaseGroupChat] = field(default_factory=dict)
    rules: RulesFile = field(default_factory=RulesFile)
    told: set[tuple[str, Share]] = field(default_factory=set, repr=False)
    _models: dict[str, Model] = field(default_factory=dict, repr=False)

    def model(self, spec: Any) -> Model:
        """The model that is meant; one for all cells, so that a recording or a replay goes on from cell to cell."""
        record = self.defaults.record or None
        key = repr((spec, record))
        if key not in self._models:
            self._models[key] = model_for(spec, record=record)
        return self._models[key]
