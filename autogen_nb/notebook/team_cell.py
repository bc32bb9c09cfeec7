"""One run of a ``%%autogen --team`` cell: a team that a cell of the notebook has made, shown as any chat is.

What its members think with and where their code runs is the team's own; the cell gives the task and takes the answer.
The team remembers what it said, so that the next cell goes on with it.
"""

import difflib
from collections.abc import Mapping
from contextlib import aclosing, closing
from pathlib import Path
from typing import Any

from autogen_nb.agents.teams.message_stream import MessageStream
from autogen_nb.agents.teams.team_chats import BaseGroupChat
from autogen_nb.agents.teams.team_exchange import TeamExchange
from autogen_nb.agents.teams.team_messages import BaseChatMessage, TaskResult
from autogen_nb.core.chats.termination_checks import without
from autogen_nb.core.people import Human
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.errors import ChatUnfinished, ConfigError
from autogen_nb.events import Ended
from autogen_nb.human.rule_based_approver import ApproveAll, RuleBasedApprover
from autogen_nb.notebook import variable_choice
from autogen_nb.notebook.asking.person import Person
from autogen_nb.notebook.chat_cell import CellView
from autogen_nb.notebook.notebook import Notebook
from autogen_nb.notebook.options import OPTIONS, CellOptions
from autogen_nb.run import Waits


def team_of(options: CellOptions, namespace: Mapping[str, Any]) -> BaseGroupChat:
    """The team that a cell names.

    Raises
    ------
    ConfigError
        When there is none of that name, or the cell says what a team has of its own.
    """
    refused = [
        option.flags[-1]
        for name, option in OPTIONS.items()
        if not option.for_team and getattr(options, name) != option.default
    ]
    if refused:
        verb = "is" if len(refused) == 1 else "are"
        raise ConfigError(
            f"%%autogen: {' and '.join(refused)} {verb} not for --team: a team brings its own models, places and "
            "limits; set them where it is made"
        )
    name = options.team or ""
    teams = {each: value for each, value in namespace.items() if isinstance(value, BaseGroupChat)}
    if name in teams:
        return teams[name]
    near = difflib.get_close_matches(name, teams, n=1)
    hint = f"did you mean {near[0]}?" if near else "make one in a cell above, such as RoundRobinGroupChat([...])"
    what = f"{name} is a {type(namespace[name]).__name__} and no team" if name in namespace else f"there is no {name}"
    raise ConfigError(f"%%autogen: {what}; {hint}")


class TeamCell:
    """One run of a cell with a team.

    Parameters
    ----------
    person
        Who is asked.
    view
        Where it is shown.
    """

    def __init__(
        self,
        notebook: Notebook,
        options: CellOptions,
        team: BaseGroupChat,
        *,
        person: Person,
        view: CellView,
        waits: Waits,
    ) -> None:
        self._notebook = notebook
        self._options = options
        self._team = team
        self._person = person
        self._view = view
        self._waits = waits

    async def run(self) -> TaskResult:
        """What the team comes to.

        Raises
        ------
        AutogenError
            When the cell cannot start, or did not come to its end.
        """
        namespace = self._notebook.namespace
        task = (
            variable_choice.fill_template(self._options.task, namespace)
            if self._options.template
            else self._options.task
        )
        name = self._options.team or ""
        with closing(self._view):
            exchange = self._team.exchange(task, human=self._approver(), waits=self._waits)
            self._notebook.teams[name] = self._team
            self._view.note(self._roster(name))
            self._view.hide(task)
            done = await self._show(exchange)
        last = exchange.log[-1] if exchange.log else None
        if isinstance(last, Ended) and last.reason == "stopped":
            raise ChatUnfinished("Stopped by you.", reason=last.reason)
        self._notebook.publish(done)
        if self._options.answer:
            namespace[self._options.answer] = _final_text(done)
        return done

    async def _show(self, exchange: TeamExchange) -> TaskResult:
        stream = MessageStream(lambda: exchange, token=None)
        stream.view = self._view
        async with aclosing(stream):
            return await stream.result()

    def _roster(self, name: str) -> str:
        members = ", ".join(f"`{each.name}`" for each in self._team.participants)
        said = len(self._team.messages)
        kept = f" It remembers {said} messages; `await {name}.reset()` begins afresh." if said else ""
        return f"`{name}`: {members}.{kept}"

    def _approver(self) -> Human:
        """The person, with their rules and what they choose for the rest of this run."""
        chats = self._notebook.conversations
        return RuleBasedApprover(
            self._person,
            self._notebook.rules,
            scope=PathScope(str(chats.cwd), home=str(Path.home())),
            onwards=ApproveAll(),
            tell=lambda text: self._view.note(text, tone="warning"),
        )


def _final_text(done: TaskResult) -> str:
    """What was said last."""
    said = [each for each in done.messages if isinstance(each, BaseChatMessage)]
    return without("TERMINATE", said[-1].to_text()) if said else ""
