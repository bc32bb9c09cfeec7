"""Runs a ``%%autogen --team`` cell: gives the cell's task to a team that a variable of the notebook holds.

The team has its own models and executors, and continues its conversation in the next cell.
"""

import difflib
from collections.abc import Mapping
from contextlib import aclosing, closing
from functools import reduce
from pathlib import Path
from typing import Any

from autogen_nb.agents.teams.message_stream import MessageStream
from autogen_nb.agents.teams.team_chats import BaseGroupChat
from autogen_nb.agents.teams.team_messages import BaseChatMessage, TaskResult
from autogen_nb.core.chats.termination_checks import END_WORD, without
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.errors import ChatUnfinished, ConfigError
from autogen_nb.events import Ended
from autogen_nb.notebook import variable_choice
from autogen_nb.notebook.notebook import CellStage
from autogen_nb.settings import OPTIONS, Settings


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
        view.note(f"`{name}`: {variable_choice.quoted([member.name for member in team.participants])}.{memory_note}")
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
