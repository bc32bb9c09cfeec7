"""The words of a reply: what the last block told, what the next will do, and the summary at the end."""

from collections.abc import Sequence

from autogen_nb.models.offline.conversation import Error, Ran, Skipped, Tried
from autogen_nb.models.offline.plan import STEPS, TRIES, Next
from autogen_nb.models.offline.state import State
from autogen_nb.models.offline.steps import LOST, Step
from autogen_nb.models.offline.wording import count, listed, span, spans

CONTEXT = 4
TALK = 260
"""Characters that are said between two blocks; the summary says the rest."""

NAMES = {
    "find": "looking for files",
    "look": "the look at the columns",
    "clean": "the clean copy",
    "profile": "the check of the quality",
    "answer": "the numbers",
    "plot": "the pictures",
}


def transition(state: State, following: Next) -> str:
    """One to three sentences before a block."""
    before = learned(state)
    return " ".join([*before, following.step.intent(state)])


def learned(state: State) -> list[str]:
    """What the last block of this turn told, or what became of it."""
    if not state.tried:
        return []
    last = state.tried[-1]
    if isinstance(last.outcome, Skipped):
        return [
            f"You skipped {NAMES[last.step]}, so I go on without {'them' if last.step in ('answer', 'plot') else 'it'}."
        ]
    if not last.outcome.succeeded:
        lost = last.outcome.error is not None and last.outcome.error.name == LOST
        again = [f"The kernel does not hold {span(state.about.raw)} or its copy any more, so I make it again."]
        return [_failed(last), *(again if lost and state.subject and last.step != "look" else [])]
    step = _step(last)
    told = _short(step.findings(state)) if step else []
    if not told and step and step.name not in ("plot", "find"):
        return ["That output does not hold the numbers that I look for; perhaps the block was edited."]
    return told


def _short(findings: list[str]) -> list[str]:
    """The first two findings, or one where it is long."""
    return findings[:2] if len("".join(findings[:2])) < TALK else findings[:1]


def summary(state: State) -> str:
    """The last reply of a turn: what was found, and what was not looked at."""
    end = _dead_end(state)
    if end is not None:
        return end
    found = _findings(state)
    if not found:
        return _nothing(state)
    heading = "**Answer**" if state.focus.named else "**Summary**"
    bullets = "\n".join(f"- {sentence}" for sentence in [*found, *_limits(state)])
    return f"{heading} (every number was computed in the blocks above)\n\n{bullets}"


def _findings(state: State) -> list[str]:
    """The answer first, then what the other steps told."""
    by_name = {step.name: step for step in STEPS}
    told = {name: by_name[name].findings(state) for name in NAMES if state.tries(name)}
    general = [sentence for name in ("look", "clean", "profile") for sentence in told.get(name, [])]
    computed = told.get("answer", [])
    # Whoever asked for something wants the answer, and of the rest what bears on how far to trust it.
    return [*computed, *general[:CONTEXT]] if state.focus.named and computed else [*general, *computed]


def _limits(state: State) -> list[str]:
    """What was skipped or failed, and what a fixed analysis does not do."""
    found = []
    skipped = [NAMES[each.step] for each in state.tried if isinstance(each.outcome, Skipped)]
    failed = [NAMES[step.name] for step in STEPS if _gave_up(state, step)]
    if skipped:
        found.append(f"Skipped by you: {listed(list(dict.fromkeys(skipped)))}.")
    if failed:
        found.append(f"Given up after an error that I could not repair: {listed(failed)}.")
    if state.focus.wants("model"):
        found.append("You asked for a prediction or a model: this fixed analysis builds none.")
    table = state.table
    aside = [column.name for column in table.of_kind("empty", "other")] if table else []
    if aside:
        found.append(f"Not looked into: {spans(aside)}.")
    if state.first and not state.focus.named and state.task.question:
        found.append(f"This is a general overview, since the task names no column that I recognise; {_ask(state)}")
    if state.first:
        found.append("Not looked at: causes, and whether differences could be chance; no test was made.")
    return found


def _ask(state: State) -> str:
    table = state.table
    if table is None or not table.measures or not table.groups:
        return "name columns to go deeper."
    return f"ask for example: compare {span(table.measures[0].name)} by {span(table.groups[0].name)}."


def _gave_up(state: State, step: Step) -> bool:
    tries = state.tries(step.name)
    return bool(tries) and isinstance(tries[-1].outcome, Ran) and not tries[-1].outcome.succeeded


def _dead_end(state: State) -> str | None:
    """Words for a turn that cannot come to an answer; None where it can."""
    last = state.tried[-1].outcome if state.tried else None
    error = last.error if isinstance(last, Ran) else None
    if error is not None and error.name in ("ModuleNotFoundError", "ImportError"):
        return _not_installed(state, error)
    if state.subject is None:
        return _no_subject(state)
    title = span(state.subject.title)
    if error is not None and error.name in ("FileNotFoundError", "PermissionError", "IsADirectoryError"):
        why = span(error.name)
        return f"I could not open {title} ({why}). Check the path: it is relative to the folder of the notebook."
    if error is not None and error.name == "EmptyDataError":
        return f"{title} is empty, so there is nothing to look at."
    gone = f"name '{state.about.raw}'" in error.message if error is not None and error.name == LOST else False
    if gone:
        return f"{title} is not in my kernel any more. Hand it over again (`%%autogen -i {state.about.title}`)."
    table = state.original
    if table is None:
        return _no_look(state, title, error)
    if not table.rows or not table.columns:
        return (
            f"{title} has {count(table.rows, 'row')} and {count(table.width, 'column')}: there is nothing to compute."
        )
    return None


def _not_installed(state: State, error: Error) -> str:
    module = error.message.split("'")[1] if error.message.count("'") > 1 else "a library"
    found = "".join(f"\n- {sentence}" for sentence in _findings(state))
    so_far = f"\n\nUntil then I found:\n{found}" if found else ""
    return (
        f"The kernel has no {span(module)}, which this analysis needs. Install it with {span(f'pip install {module}')} "
        f"(`pip install pandas matplotlib` brings all that I use), restart the kernel and give me the task "
        f"again.{so_far}"
    )


def _no_subject(state: State) -> str:
    if state.files:
        return (
            f"I found {count(len(state.files), 'file')}: {spans(state.files, most=12)}. Which one shall I take? "
            "Name it in your next task."
        )
    found = "and found no table in the working folder" if state.files is not None else "and could not look for one"
    return (
        f"I have no table to work on {found}. Hand over a DataFrame (`%%autogen -i df`), or name a file in the task, "
        'such as "data/sales.csv".'
    )


def _no_look(state: State, title: str, error: Error | None) -> str:
    if any(isinstance(each.outcome, Skipped) for each in state.tries("look")):
        return f"Without a look at {title} I know nothing of its columns. Give me the task again to run that block."
    if error is not None:
        return f"I could not read {title}: {_quoted(error)}. After {TRIES - 1} repairs I give up."
    return f"The look at {title} told nothing that I can read. Give me the task again, and run the block unchanged."


def _nothing(state: State) -> str:
    """Words for a task that calls for no computation."""
    table = state.table
    if any(isinstance(each.outcome, Ran) and each.outcome.succeeded for each in state.tries("plot")):
        return "The picture is above. There are no numbers to add."
    if state.tried and not any(isinstance(each.outcome, Ran) and each.outcome.succeeded for each in state.tried):
        done = listed([NAMES[name] for name in dict.fromkeys(each.step for each in state.tried)])
        return f"I have nothing to report: {done} did not run."
    names = spans((column.name for column in table.columns), most=10) if table else "none that I know"
    return (
        "I found neither a column nor a question that I know in your words. I can compare, count, correlate, "
        f"follow over time, look for missing values and outliers, and plot. The columns are {names}."
    )


def _failed(tried: Tried) -> str:
    outcome = tried.outcome
    assert isinstance(outcome, Ran)
    return f"That failed: {_quoted(outcome.error)}." if outcome.error else "That block failed."


def _quoted(error: Error) -> str:
    first = error.message.splitlines()[0] if error.message else ""
    return f"{span(error.name)}: {span(first)}" if first else span(error.name)


def _step(tried: Tried) -> Step | None:
    return next((step for step in STEPS if step.name == tried.step), None)


def paragraphs(parts: Sequence[str]) -> str:
    """The parts that hold something, an empty line between them."""
    return "\n\n".join(part for part in parts if part)
