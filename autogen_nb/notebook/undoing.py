"""``%autogen undo``, ``redo``, ``retry`` and ``branch``: earlier states of a chat and of the variables of its kernel.

A branch runs the earlier blocks again in a new kernel, if the person agrees. ``undo`` and ``redo`` do the same if
there is no checkpoint of the variables.
"""

from collections.abc import Iterable, Sequence

from autogen_nb import run
from autogen_nb.effects import EffectJudged
from autogen_nb.errors import ConfigError
from autogen_nb.events import ApprovalAsked, ApprovalGiven, CodeRan, EffectAsked, Recorded
from autogen_nb.notebook import resuming, variable_choice
from autogen_nb.notebook.asking.person import UNDO
from autogen_nb.notebook.conversations import CellRun, NotebookConversation
from autogen_nb.notebook.notebook import CellStage, Notebook
from autogen_nb.notebook.rendering.chat_html import table
from autogen_nb.sessions.session import Session
from autogen_nb.views import in_words
from autogen_nb.views.plain_view import PlainCellView

_LISTED = 8
_REDO = "`%autogen redo` brings {} back."


async def undo(stage: CellStage, chat: NotebookConversation, index: int, *, ask: bool) -> None:
    """Takes back the runs from this index on. If some of their effects stay, `ask` decides whether to ask first."""
    check_idle(chat)
    runs = chat.runs[index:]
    if not runs:
        count = in_words.counted(len(chat.runs), "cell", "cells")
        what = f"only {count}" if chat.runs else "no cell to take back"
        raise ConfigError(f"chat {chat.name!r} has {what}")
    if effects := lasting_effects(runs):
        what = "\n- ".join([f"Take back {cell_names(runs)}? These effects stay:", *effects])
        if ask and not await stage.ask(lambda person: person.choose(UNDO, what)):
            stage.view.note("Nothing was taken back.")
            return
        stage.view.note(f"These effects stay: {'; '.join(effects)}.", tone="warning")
    variables_restored = await run.result(chat.undo(index, always=True), waits=stage.waits)
    note = f"Took back {cell_names(runs)}. {_REDO.format('them' if runs[1:] else 'it')}"
    await _finish(stage, chat, note, "before" if variables_restored else "", ask=ask)


async def redo(stage: CellStage, chat: NotebookConversation, *, ask: bool) -> None:
    check_idle(chat)
    if not chat.taken_back:
        raise ConfigError(f"nothing of chat {chat.name!r} was taken back since its last new cell")
    runs, replaced = chat.taken_back[-1].runs, chat.runs[chat.taken_back[-1].index :]
    variables_restored = await run.result(chat.redo(), waits=stage.waits)
    note = f"Brought back {cell_names(runs)}"
    note += f", and took back {cell_names(replaced)}. {_REDO.format('the latter')}" if replaced else "."
    await _finish(stage, chat, note, "then" if variables_restored else "", ask=ask)


async def _finish(stage: CellStage, chat: NotebookConversation, note: str, when: str, *, ask: bool) -> None:
    """Shows `note`. If no variables were restored (`when` is ""), runs the blocks again; with `ask`, asks first."""
    if when:
        not_carried = chat.executor.kernel.not_carried
        which = "other variables" if not_carried else "variables"
        stage.view.note(f"{note} The agent's {which} are as they were {when}. {not_carried}".rstrip())
        return
    if not chat.session.steps:
        await run.result(chat.executor.restart(), waits=stage.waits)
        stage.view.note(f"{note} The agent has a new kernel without variables, because no block ran in it before.")
        return
    stage.view.note(f"{note} There is no checkpoint of the agent's variables.")
    if ask and not await resuming.agrees_to_restore(stage, chat.session):
        stage.view.note("The agent's kernel keeps its present variables.")
        return
    await run.result(chat.executor.restart(), waits=stage.waits)
    await resuming.restore(stage, chat, fresh=False)


async def take_back_for_retry(stage: CellStage, chat: NotebookConversation) -> CellRun:
    """Takes back and returns the last run; raises ConfigError without a checkpoint of the variables before it."""
    check_idle(chat)
    if not chat.runs or chat.runs[-1].resumable:
        problem = "its last cell has not ended" if chat.runs else "it has no cell"
        raise ConfigError(f"chat {chat.name!r} has no answer to retry: {problem}")
    earlier, index = chat.runs[-1], len(chat.runs) - 1
    if not await run.result(chat.undo(index), waits=stage.waits):
        way = f"`%autogen branch NAME --at {index}` restores them in a new chat" if index else "run the cell again"
        raise ConfigError(f"the variables before the last cell of chat {chat.name!r} have no checkpoint; {way}")
    stage.view.note(f"This runs {cell_names([earlier])} again. {_REDO.format('its earlier answer')}")
    return earlier


def compare(stage: CellStage, earlier: CellRun, later: CellRun) -> None:
    """Shows two answers: side by side, or in a terminal one below the other."""
    heads = [
        f"{when}: {each.replies[-1].model if each.replies else 'no reply'}"
        for when, each in (("earlier", earlier), ("new", later))
    ]
    answers = [earlier.answer, later.answer]
    if isinstance(stage.view, PlainCellView):
        for head, answer in zip(heads, answers, strict=True):
            stage.view.line(f"{head}\n{answer}")
    else:
        stage.view.add(*table(heads, [answers], kind="answers", prose=set(heads)))
    stage.view.note(f"The new answer is kept. {_REDO.format('the earlier one')}")


def branched(notebook: Notebook, chat: NotebookConversation, name: str, count: int) -> Session:
    """Returns a new session `name` with the first `count` runs of a chat."""
    check_idle(chat)
    if name in {each.name for each in notebook.conversations}:
        raise ConfigError(f"there is a chat {name!r} already; choose another name")
    if not 0 < count <= len(chat.runs):
        raise ConfigError(f"chat {chat.name!r} has {in_words.counted(len(chat.runs), 'cell', 'cells') or 'no cell'}")
    if chat.runs[count - 1].resumable:
        way = f"--at {count - 1} branches before it" if count > 1 else "run it to its end, or resume it, first"
        raise ConfigError(f"cell {count} of chat {chat.name!r} has not ended; {way}")
    session = notebook.sessions.branch(chat.session, name)
    if count < len(chat.runs):
        session.undo(count)
    return session


def check_idle(chat: NotebookConversation) -> None:
    if chat.busy:
        raise ConfigError(f"code of chat {chat.name!r} still runs; stop its cell first")


def cell_names(runs: Sequence[CellRun]) -> str:
    tasks = [f"“{in_words.shortened(each.task).removesuffix('.')}”" for each in runs]
    return f"the cell {tasks[0]}" if len(tasks) == 1 else f"{len(tasks)} cells ({', '.join(tasks)})"


def lasting_effects(runs: Iterable[CellRun]) -> list[str]:
    """Returns what `undo` cannot take back: effects that a person or a rule allowed, and variables of the notebook."""
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
