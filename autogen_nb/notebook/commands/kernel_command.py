"""``%autogen kernel``: shows the status and variables of the agent's kernel; interrupts, restarts or ends it."""

from autogen_nb import run
from autogen_nb.errors import ConfigError, ExecutionError
from autogen_nb.kernels.kernel import KernelStatus
from autogen_nb.kernels.transfer.describe import in_units
from autogen_nb.kernels.transfer.variable_transfer import printable
from autogen_nb.notebook.conversations import NotebookConversation
from autogen_nb.notebook.rendering.tables_html import DisplayData, line, table
from autogen_nb.notebook.view.status_line import did_you_mean, duration

VERBS = ("status", "restart", "interrupt", "vars", "stop")
_STOPPED = "The kernel was ended by the person; its variables are lost."
_HEADS = ("chat", "state", "where", "process", "up", "blocks run", "memory", "ends if idle")
_NUMBERS = frozenset({"up", "blocks run", "memory", "size", "process", "ends if idle"})


def execute(verb: str, chat: NotebookConversation) -> DisplayData:
    if verb not in VERBS:
        hint = did_you_mean(verb, VERBS, f"there are {', '.join(VERBS)}")
        raise ConfigError(f"%autogen kernel has no {verb!r}; {hint}")
    match verb:
        case "status":
            row = _status_row(chat, *run.engine.call(_read_status(chat)))
            return table(_HEADS, [row], kind="kernel", numbers=_NUMBERS)
        case "vars":
            return _variables(chat)
        case "interrupt":
            busy = chat.busy
            run.engine.call(chat.executor.interrupt())
            return line("Interrupted." if busy else "Nothing runs in the agent's kernel.")
        case _:
            run.engine.call(chat.stop(_STOPPED) if verb == "stop" else chat.executor.restart())
            chat.forget_variables()
            result = (
                "has ended, and its variables are lost; the next block starts a new kernel"
                if verb == "stop"
                else "has restarted, and its variables are lost"
            )
            return line(f"The kernel of chat `{chat.name}` {result}.")


async def _read_status(chat: NotebookConversation) -> tuple[KernelStatus, float | None]:
    # This is a coroutine, because only the engine's loop may access the kernel.
    return chat.executor.kernel.status, chat.kernels.seconds_left(chat)


def _status_row(chat: NotebookConversation, status: KernelStatus, left: float | None) -> tuple[str, ...]:
    where = chat.where.text or "this machine, no sandbox"
    if status.state in ("off", "starting"):
        return (chat.name, status.state, where, "", "", "", "", "")
    most = chat.executor.kernel.limits.memory
    limit = "" if most is None else f" of {in_units(most)}"
    memory = "not known" if status.memory is None else f"{in_units(status.memory)}{limit}"
    process = "" if status.pid is None else str(status.pid)
    ends = "" if left is None or status.state == "busy" else f"in {duration(left)}"
    return chat.name, status.state, where, process, duration(status.seconds), f"{status.blocks:,}", memory, ends


def _variables(chat: NotebookConversation) -> DisplayData:
    if chat.busy:
        raise ExecutionError(f"code runs in the kernel of chat {chat.name!r}, so its variables are not available yet")
    variables = run.engine.call(chat.executor.variables()) if chat.alive else ()
    if not variables:
        return line(f"The kernel of chat `{chat.name}` has no variables.")
    rows = [
        (variable.name, variable.type, variable.shape, "" if variable.size is None else in_units(variable.size))
        for variable in variables
    ]
    return table(
        ("name", "type", "shape", "size"),
        [tuple(map(printable, row)) for row in rows],
        kind="variables",
        numbers=_NUMBERS,
    )
