"""``%autogen undo`` and ``%autogen redo``: take back the last runs of a chat, with the variables of its kernel.

Without a checkpoint of the variables, the earlier blocks run again in a new kernel.
"""

from collections.abc import Awaitable, Iterable, Sequence

from autogen_nb import run
from autogen_nb.effects import EffectJudged
from autogen_nb.errors import ConfigError
from autogen_nb.events import ApprovalAsked, ApprovalGiven, CodeRan, EffectAsked, Recorded
from autogen_nb.notebook import resuming, variable_choice
from autogen_nb.notebook.conversations import CellRun, NotebookConversation
from autogen_nb.notebook.notebook import CellStage
from autogen_nb.notebook.view import status_line

_LISTED = 8
_REDO = "`%autogen redo` brings {} back."


async def undo(stage: CellStage, chat: NotebookConversation, index: int, *, ask: bool) -> None:
    """Takes back the runs from this index on. If some of their effects stay, `ask` decides whether to ask first."""
    check_idle(chat)
    runs = chat.runs[index:]
    if not runs:
        count = status_line.counted(len(chat.runs), "cell", "cells")
        what = f"only {count}; what came after was taken back already" if chat.runs else "no cell to take back"
        raise ConfigError(f"chat {chat.name!r} has {what}")
    if effects := lasting_effects(runs):
        if ask and not await _agrees(stage, runs, effects):
            stage.view.note("Nothing was taken back.")
            return
        stage.view.note(f"These effects stay: {'; '.join(effects)}.", tone="warning")
    is_back = await run.result(chat.undo(index, always=True), waits=stage.waits)
    note = f"Took back {named(runs)}. {_REDO.format('them' if runs[1:] else 'it')}"
    await _finish(stage, chat, note, "before" if is_back else "", ask=ask)


async def redo(stage: CellStage, chat: NotebookConversation, *, ask: bool) -> None:
    check_idle(chat)
    if not chat.taken_back:
        raise ConfigError(f"nothing of chat {chat.name!r} was taken back since its last new cell")
    runs, replaced = chat.taken_back[-1].runs, chat.runs[chat.taken_back[-1].index :]
    is_back = await run.result(chat.redo(), waits=stage.waits)
    note = f"Brought back {named(runs)}"
    note += f", and took back {named(replaced)}. {_REDO.format('the latter')}" if replaced else "."
    await _finish(stage, chat, note, "then" if is_back else "", ask=ask)


async def _finish(stage: CellStage, chat: NotebookConversation, note: str, when: str, *, ask: bool) -> None:
    """Says what was done, and runs the blocks again if the variables are not those of the time `when`."""
    if when:
        not_carried = chat.executor.kernel.not_carried
        stage.view.note(" ".join(filter(None, (f"{note} The agent's variables are as they were {when}.", not_carried))))
        return
    stage.view.note(f"{note} There is no checkpoint of the agent's variables.")
    if ask and not await resuming.agrees_to_restore(stage.person, chat.session):
        stage.view.note("The agent's kernel keeps its present variables.")
        return
    await run.result(chat.executor.restart(), waits=stage.waits)
    await resuming.restore(stage, chat, fresh=False)


def check_idle(chat: NotebookConversation) -> None:
    if chat.busy:
        raise ConfigError(f"code of chat {chat.name!r} still runs; stop its cell first")


def named(runs: Sequence[CellRun]) -> str:
    """Names runs by the tasks of their cells."""
    tasks = [f"“{status_line.shortened(each.task).removesuffix('.')}”" for each in runs]
    return f"the cell {tasks[0]}" if len(tasks) == 1 else f"{len(tasks)} cells ({', '.join(tasks)})"


def lasting_effects(runs: Iterable[CellRun]) -> list[str]:
    """What undo leaves as it is: effects that a person or a rule allowed, and variables of the notebook."""
    effects: list[str] = []
    for each in runs:
        effects += _allowed(each.log)
        names = [*each.settings.outputs, *filter(None, [each.settings.answer])]
        effects += [f"sets {variable_choice.quoted(names)} in the notebook"] if names else []
    effects = list(dict.fromkeys(effects))
    return effects[:_LISTED] + ([f"and {len(effects) - _LISTED} more"] if len(effects) > _LISTED else [])


def _allowed(log: Iterable[Recorded]) -> list[str]:
    effects: list[str] = []
    reasons: Sequence[str] = ()
    words = ""
    for event in log:
        match event:
            case ApprovalAsked():
                reasons = event.reasons
            case ApprovalGiven(decision="run"):
                effects += reasons
            case EffectAsked(effect=effect):
                words = effect.words or f"{effect.kind} {effect.target}"
            case EffectJudged(allowed=True):
                effects.append(words)
            case CodeRan(inner=inner):
                effects += _allowed(inner)
            case _:
                pass
    return effects


async def _agrees(stage: CellStage, runs: Sequence[CellRun], effects: Sequence[str]) -> bool:
    lines = [f"Take back {named(runs)}? These effects stay:", *(f"- {effect}" for effect in effects)]
    with run.interruptible():
        answer = stage.person.undoing("\n".join(lines))
    return (await answer if isinstance(answer, Awaitable) else answer) == "undo"
