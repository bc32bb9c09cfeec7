"""The commands about the person's own cells: ``fix`` mends a failed one, ``explain`` explains the last one.

The assistant works in a chat and a kernel of its own, on copies of what the cell uses. The notebook's variables stay as
they are.
"""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count
from tempfile import TemporaryDirectory
from types import FunctionType, ModuleType
from typing import Any

from autogen_nb.conversations.conversations import CellRun
from autogen_nb.errors import ConfigError
from autogen_nb.events import CodeAsked, CodeRan, Recorded
from autogen_nb.kernels.transfer.pickles import TooLarge, dump
from autogen_nb.notebook.asking.person import APPLY
from autogen_nb.notebook.commands.command import Argument, CommandContext, command
from autogen_nb.notebook.context import Cell, data_variables, names_in, quoted, redacted, restore_secrets
from autogen_nb.notebook.rendering.chat_html import difference, folded_note
from autogen_nb.sessions.document import code_of
from autogen_nb.settings import Settings

_CHECKED_BYTES = 16 * 10**6
"""A value that can be pickled up to here is taken for one that can be pickled."""

_FIX = """\
A cell of my notebook failed. Please mend it.

The cell:
```python
{source}
```

The error:
```
{error}
```
{imports}
Run the whole mended cell as one block, with the imports that it needs, on the copies of my variables in your kernel, \
and look at its result. Change as little as possible, and do not hide the error: the cell must do what it was meant \
to do. The last block that runs without an error becomes my cell, so it must stand alone. Then say in one or two \
sentences what was wrong."""
_EXPLAIN = """\
Please explain this cell of my notebook in plain words: what it does, and what its {what} shows.

```python
{source}
```

The {what}:
```
{output}
```
{imports}
Answer for a colleague who knows the data but not the code. If you need to, for example to look at a chart, run parts \
of the cell on the copies of my variables in your kernel. Do not mend or extend the cell."""
_IMPORTS = "\nMy notebook has these imports: {}.\n"
_NOT_COPIED = "\nThese variables of mine cannot be copied: {}.\n"
_CELL = Argument("number", nargs="?", type=int, metavar="NUMBER", help="the cell's execution count")
_MODEL = Argument("-m", "--model", metavar="MODEL", help="the model; by default that of cells", completes="models")


@command(
    "mends a cell that failed, by default the last one, on copies of its variables, and shows the difference",
    _CELL,
    Argument("--apply", action="store_true", help="puts the new cell below without a question"),
    _MODEL,
)
async def fix(context: CommandContext, number: int | None, *, apply: bool, model: str | None) -> None:
    cell = _last([cell for cell in context.notebook.cells() if cell.error], number, "failed", "fix")
    copied, imports = _uses(cell.source, context.notebook.namespace)
    task = _FIX.format(source=cell.source, error=cell.error, imports=imports)
    run = await _run(context, "fix", cell, task, copied, model)
    mended = restore_secrets(_last_block(run.log), cell.source)
    mended = _without_imports(mended, context.notebook.namespace, cell.source)
    with context.stage() as stage:
        if not mended:
            stage.view.note("No block has run without an error, so there is no mended cell.", tone="warning")
            return
        stage.view.add(*difference(cell.source, mended))
        question = f"Cell [{cell.number}] ran with these changes, in the agent's kernel."
        if apply or await stage.ask(lambda person: person.choose(APPLY, question)):
            context.put_cell(mended, run.settings.chat or "", run.replies, "--apply" if apply else "put below by you")
            stage.view.note("The new cell is below; it has not run.", kind="decision")
        else:
            stage.view.note("The notebook has no new cell.", kind="decision")


@command("explains a cell, by default the last one: its code, and its result or error", _CELL, _MODEL)
async def explain(context: CommandContext, number: int | None, *, model: str | None) -> None:
    cell = _last(context.notebook.cells(), number, "run", "explain")
    copied, imports = _uses(cell.source, context.notebook.namespace)
    what, output = ("error", cell.error) if cell.error else ("result", cell.output or "(no text; perhaps a chart)")
    task = _EXPLAIN.format(source=cell.source, what=what, output=output, imports=imports)
    await _run(context, "explain", cell, task, copied, model)


def _last(cells: Sequence[Cell], number: int | None, done: str, command_name: str) -> Cell:
    found = [cell for cell in cells if number in (None, cell.number)]
    if not found:
        which = "no cell of this notebook" if number is None else f"no cell [{number}] of this notebook"
        raise ConfigError(f"{which} has {done}: run the cell, and then %autogen {command_name}")
    return found[-1]


def _uses(source: str, namespace: Mapping[str, Any]) -> tuple[list[str], str]:
    """The variables that a cell uses and that can be copied, and text about its imports and the other variables."""
    data, imports, values = data_variables(namespace), list[str](), dict[str, Any]()
    waiting = sorted(names_in([source]) & namespace.keys())
    for name in waiting:
        value = namespace[name]
        if statement := _import_of(name, value):
            imports.append(statement)
        elif isinstance(value, type | FunctionType):
            values[name] = value
            used = names_in([_source_of(value)]) & namespace.keys()
            waiting += sorted(used - {*waiting})
        elif name in data:
            values[name] = value
    copied = [name for name in values if _is_copyable(name, values)]
    not_copied = [name for name in values if name not in copied]
    text = _IMPORTS.format(quoted(imports)) if imports else ""
    return copied, text + (_NOT_COPIED.format(quoted(not_copied)) if not_copied else "")


def _import_of(name: str, value: Any) -> str:
    """The statement that binds the name to a module, or to a class or function of a module; "" for other values."""
    if isinstance(value, ModuleType):
        return f"import {value.__name__}" + _as(name, value.__name__)
    if isinstance(value, type | FunctionType) and value.__module__ not in ("__main__", "builtins", None):
        return f"from {value.__module__} import {value.__name__}" + _as(name, value.__name__)
    return ""


def _as(name: str, own_name: str) -> str:
    return "" if name == own_name else f" as {name}"


def _source_of(value: Any) -> str:
    try:
        return inspect.getsource(value)
    except (OSError, TypeError):
        return ""


def _is_copyable(name: str, values: Mapping[str, Any]) -> bool:
    with TemporaryDirectory() as folder:
        try:
            dump(values[name], f"{folder}/value", limit=_CHECKED_BYTES, available=values)
        except TooLarge:
            return True
        except Exception:  # noqa: BLE001  # pickling runs any class's code
            return False
    return True


async def _run(
    context: CommandContext, verb: str, cell: Cell, task: str, copied: Sequence[str], model: str | None
) -> CellRun:
    """Runs the task in a chat of its own, whose kernel then ends."""
    task, name = redacted(task), f"{verb} {cell.number}"
    copies = f", and copies of {quoted(copied)}" if copied else ""
    context.show(folded_note(f"The assistant gets cell [{cell.number}] with its output{copies}.", task, kind="context"))
    conversations = context.notebook.conversations
    taken = {chat.name for chat in conversations}
    name = next(each for each in chain([name], (f"{name}-{number}" for number in count(2))) if each not in taken)
    # The task names all variables of the cell, and needs no question about the others.
    chat = conversations.named(name)
    chat.declined_variables.update(data_variables(context.notebook.namespace))
    options: dict[str, Any] = {"chat": name, "new": True, "inputs": copied, "model": model, "context": False}
    settings = Settings.from_options(task, "%autogen: ", **options)
    try:
        await context.run_cell(settings, "")
        return chat.runs[-1]
    finally:
        if chat.runs:
            await context.result(chat.stop())
        else:
            conversations.remove(chat)


def _last_block(log: Iterable[Recorded]) -> str:
    """The code of the last blocks that ran without an error; "" if there are none."""
    asked, code = None, ""
    for event in log:
        if isinstance(event, CodeAsked):
            asked = event
        elif isinstance(event, CodeRan) and asked is not None and not event.exit_code:
            code = code_of(asked.blocks[: event.ran])
    return code


def _without_imports(code: str, namespace: Mapping[str, Any], source: str) -> str:
    """The code without the imports that the notebook already has, unless the cell itself has them."""
    known = {_import_of(name, value) for name, value in namespace.items()} - {"", *map(str.strip, source.splitlines())}
    return "\n".join(line for line in code.strip().splitlines() if line.strip() not in known).strip()
