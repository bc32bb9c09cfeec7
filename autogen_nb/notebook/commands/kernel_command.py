"""The commands of the agent's kernel: copies of variables, the kernel's state, and its restart or end."""

from collections.abc import Sequence

from autogen_nb.conversations.conversations import NotebookConversation
from autogen_nb.errors import ConfigError, ExecutionError
from autogen_nb.kernels.kernel import KernelStatus
from autogen_nb.kernels.transfer.describe import in_units
from autogen_nb.kernels.transfer.variable_transfer import printable
from autogen_nb.notebook.commands.command import CHAT, ONE_CHAT, CommandContext, argument, command
from autogen_nb.notebook.context import copied_variables_line, named_variables, replaced_variables_line
from autogen_nb.notebook.rendering.chat_html import table
from autogen_nb.views.in_words import duration

_STOPPED = "The kernel was ended by the person; its variables are lost."
_HEADS = ("chat", "state", "where", "process", "up", "blocks run", "memory", "ends if idle")
_NUMBERS = frozenset({"up", "blocks run", "memory", "size", "process", "ends if idle"})


@command(
    "copies variables of the agent's kernel here",
    argument("names", nargs="+", metavar="NAME", completes="agent's variables"),
    CHAT,
    argument(
        "--unpickle",
        action="store_true",
        help="copies any type, not only data, but the agent's code may then run in your notebook",
    ),
)
async def pull(context: CommandContext, names: Sequence[str], chat: str | None, *, unpickle: bool) -> None:
    conversation, namespace = context.chat(chat), context.notebook.namespace
    if not conversation.alive:
        raise ConfigError(f"chat {conversation.name!r} has no kernel to pull from yet; run a %%autogen cell first")
    values = {name: await context.result(conversation.executor.get(name, unpickle=unpickle)) for name in names}
    replaced = conversation.bring(values, namespace)
    context.write(copied_variables_line(values, "here"))
    if replaced:
        context.write(replaced_variables_line(replaced, "your notebook"))


@command(
    "copies variables of the notebook to the agent's kernel",
    argument("names", nargs="+", metavar="NAME", completes="variables"),
    CHAT,
)
async def push(context: CommandContext, names: Sequence[str], chat: str | None) -> None:
    conversation, namespace = context.chat(chat), context.notebook.namespace
    values = named_variables(names, namespace, "%autogen push")
    replaced = conversation.hand(values, await context.result(conversation.put(values)), namespace)
    context.write(copied_variables_line(values, "to the agent's kernel"))
    if replaced:
        context.write(replaced_variables_line(replaced, "the agent's kernel"))


@command("shows the state, age and memory of the agent's kernel", *ONE_CHAT, name="kernel status")
async def status(context: CommandContext, chat: str | None) -> None:
    conversation = context.chat(chat)
    row = _status_row(conversation, *await context.result(_read_status(conversation)))
    context.show(table(_HEADS, [row], kind="kernel", numbers=_NUMBERS))


@command("lists the variables of the agent's kernel", *ONE_CHAT, name="kernel vars")
async def variables(context: CommandContext, chat: str | None) -> None:
    conversation = context.chat(chat)
    if conversation.busy:
        why = "so its variables are not available yet"
        raise ExecutionError(f"code runs in the kernel of chat {conversation.name!r}, {why}")
    listed = await context.result(conversation.executor.variables()) if conversation.alive else ()
    if not listed:
        context.say(f"The kernel of chat `{conversation.name}` has no variables.")
        return
    rows = [
        (variable.name, variable.type, variable.shape, "" if variable.size is None else in_units(variable.size))
        for variable in listed
    ]
    printable_rows = [tuple(map(printable, row)) for row in rows]
    context.show(table(("name", "type", "shape", "size"), printable_rows, kind="variables", numbers=_NUMBERS))


@command("restarts the agent's kernel; its variables are lost", *ONE_CHAT, name="kernel restart")
async def restart(context: CommandContext, chat: str | None) -> None:
    conversation = context.chat(chat)
    await context.result(conversation.executor.restart())
    conversation.forget_variables()
    context.say(f"The kernel of chat `{conversation.name}` has restarted, and its variables are lost.")


@command("interrupts the code in the agent's kernel", *ONE_CHAT, name="kernel interrupt")
async def interrupt(context: CommandContext, chat: str | None) -> None:
    conversation = context.chat(chat)
    busy = conversation.busy
    await context.result(conversation.executor.interrupt())
    context.say("Interrupted." if busy else "Nothing runs in the agent's kernel.")


@command("ends the agent's kernel; the next block starts a new one", *ONE_CHAT, name="kernel stop")
async def stop(context: CommandContext, chat: str | None) -> None:
    conversation = context.chat(chat)
    await context.result(conversation.stop(_STOPPED))
    conversation.forget_variables()
    result = "has ended, and its variables are lost; the next block starts a new kernel"
    context.say(f"The kernel of chat `{conversation.name}` {result}.")


async def _read_status(chat: NotebookConversation) -> tuple[KernelStatus, float | None]:
    # This is a coroutine, because only the engine's loop may access the kernel.
    return chat.executor.kernel.status, chat.kernels.seconds_left(chat)


def _status_row(chat: NotebookConversation, status: KernelStatus, left: float | None) -> tuple[str, ...]:
    guard = ", no guard" if chat.place.lacks_guard else ""
    place = f"{chat.place.text or 'this machine, no sandbox'}{guard}"
    if status.state in ("off", "starting"):
        return (chat.name, status.state, place, "", "", "", "", "")
    most = chat.executor.kernel.limits.memory
    limit = "" if most is None else f" of {in_units(most)}"
    memory = "not known" if status.memory is None else f"{in_units(status.memory)}{limit}"
    process = "" if status.pid is None else str(status.pid)
    ends = "" if left is None or status.state == "busy" else f"in {duration(left)}"
    return chat.name, status.state, place, process, duration(status.seconds), f"{status.blocks:,}", memory, ends
