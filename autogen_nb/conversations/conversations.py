"""The conversations of a notebook: their runs, one for each cell, and their kernels.

1. A conversation is the sequence of its runs; the agents' histories are derived from the runs' logs.
2. A cell that runs again with the same task resumes its run if the run can continue. Otherwise, the chat takes back
   that run and all later runs, if possible with their variables, and a new run begins.
3. A new chat takes the name of the old chat, which gets another name.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autogen_nb.agents.user_proxy import last_answer
from autogen_nb.conversations.chat_kernels import ChatFolders, ChatKernels, remove_empty, writable
from autogen_nb.engine import engine
from autogen_nb.errors import ConfigError
from autogen_nb.events import ApprovalAsked, CodeRan, Ended, HumanInputAsked, ModelAsked, ModelReplied, Recorded, Said
from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.kernels.places.place import Place
from autogen_nb.kernels.transfer.variable_transfer import SharedVariables, TransferRecord
from autogen_nb.messages import Completion
from autogen_nb.sessions.session import Session, SessionRun, table_reads
from autogen_nb.settings import Settings
from autogen_nb.trusted import policy_file
from autogen_nb.views import in_words

if TYPE_CHECKING:
    from autogen_nb.agents.conversable import ConversableAgent
    from autogen_nb.agents.parts.mcp_tools import McpTools
    from autogen_nb.models.wrappers.budget import Budget

_NO_MEMORY = (
    "To save memory, the agent's kernel has given up the checkpoint before {}: going back there runs the earlier "
    "blocks again."
)
_DROPPED = "A new chat begins. The earlier one is deleted, because no model has answered it: {}"


@dataclass(frozen=True, slots=True)
class Origin:
    """The front end's ids of a cell and of its execution, if available."""

    cell: str | None = None
    request: str | None = None

    def repeats(self, other: "Origin") -> bool:
        """Returns whether `other` is another execution of the same cell."""
        return self.cell is not None and self.cell == other.cell and self.request != other.request


@dataclass(slots=True, eq=False)
class CellRun:
    origin: Origin
    task: str
    message: str
    settings: Settings
    log: list[Recorded] = field(default_factory=list)
    # The number of the run's first block, and the variables that were shared before the run.
    block: int = 0
    shared: SharedVariables | None = None
    # True for an unfinished run from an ended kernel, until the run continues.
    restored: bool = False

    @property
    def resumable(self) -> bool:
        """True if the kernel ended during the run, or if the run ended at a question that is safe to repeat."""
        return self.restored or isinstance(self.last, ApprovalAsked | HumanInputAsked | ModelAsked)

    @property
    def ran_code(self) -> bool:
        return any(isinstance(event, CodeRan) for event in self.log)

    @property
    def last(self) -> Recorded | None:
        return self.log[-1] if self.log else None

    @property
    def statements(self) -> list[Said]:
        return [event for event in self.log if isinstance(event, Said)]

    @property
    def answer(self) -> str:
        """The assistant's last message; "" without one."""
        return last_answer(self.log)

    @property
    def replies(self) -> list[Completion]:
        return [event.completion for event in self.log if isinstance(event, ModelReplied)]


def runs_of(session: Session) -> list[CellRun]:
    """Returns the runs of a session; the last run can continue if it has not ended."""
    runs = cell_runs(session.runs)
    for run in runs[-1:]:
        run.restored = not isinstance(run.last, Ended)
    return runs


def cell_runs(runs: Iterable[SessionRun]) -> list[CellRun]:
    return [
        CellRun(Origin(**run.origin), run.task, run.message, Settings.from_json(run.task, run.settings), run.log)
        for run in runs
    ]


@dataclass(frozen=True, slots=True)
class TakenBack:
    """Runs that were taken back, their position, and the checkpoint of the variables after them."""

    index: int
    runs: Sequence[CellRun]
    block: int
    shared: SharedVariables


@dataclass(frozen=True, slots=True)
class ChatAgents:
    """The user proxy and the assistant of a chat, their settings, and the runs in their histories."""

    pair: tuple["ConversableAgent", "ConversableAgent"]
    setup: tuple[Any, ...]
    runs: Sequence[CellRun]


class NotebookConversation:
    def __init__(self, name: str, conversations: "Conversations", executor: BlockExecutor | None) -> None:
        self._conversations = conversations
        self.kernels = conversations.kernels
        self.cwd = conversations.cwd
        self.name = name
        self.known_folder = ""
        self.runs: list[CellRun] = []
        self.agents: ChatAgents | None = None
        self._open(executor)
        self._default = self.place
        self.shared = SharedVariables(lambda: (self.executor, self.executor.kernel.generation) if self.alive else None)
        self.taken_back: list[TakenBack] = []
        self.declined_variables: set[str] = set()
        self.listed_variables: frozenset[str] = frozenset()
        self._budgets: Sequence[Budget] = ()
        self.tools: McpTools | None = None

    @cached_property
    def session(self) -> Session:
        """The chat's session, which is created at the first use."""
        return self._conversations.begin_session(self.name, self.folder)

    def restore(self, session: Session, runs: Sequence[CellRun]) -> None:
        """Continues an earlier session, without its variables."""
        self.session = session
        self.known_folder = str(session.head.get("folder", ""))
        self.runs = list(runs)
        taken_back = [(each.index, cell_runs(each.runs)) for each in session.taken_back]
        self.taken_back = [TakenBack(index, earlier, 0, self.shared.copy()) for index, earlier in taken_back]

    def set_name(self, name: str) -> None:
        self.name = name
        if "session" in vars(self):
            self.session.set_chat(name)

    def count_spent(self, budgets: Sequence["Budget"]) -> None:
        """Adds the chat's spending to the budgets, including the spending of replaced runs."""
        replies = (*self._replaced_replies, *[reply for run in self.runs for reply in run.replies])
        for budget in budgets:
            for reply in replies:
                if not reply.cached:
                    budget.spend(reply.usage, reply.cost)
            for earlier in self._budgets[:1]:
                budget.carry_over(earlier)
        self._budgets = budgets

    @property
    def _replaced_replies(self) -> Sequence[Completion]:
        return self.session.replaced if "session" in vars(self) else ()

    @property
    def waits_for_first_reply(self) -> bool:
        waits = all(isinstance(run.last, ModelAsked) and not run.replies for run in self.runs)
        return bool(self.runs) and waits and not self._replaced_replies

    @property
    def place(self) -> Place:
        return self.executor.place

    def place_for(self, options: Settings, default: Place) -> Place:
        """Returns the place for the chat's code; a chat keeps its place as long as its kernel runs."""
        place = options.place(self.place if self.runs and default == self._default else default)
        if self.alive and self.runs and place != self.place:
            current, requested = (each.text or "no sandbox" for each in (self.place, place))
            raise ConfigError(
                f"chat {self.name!r} already has a kernel ({current}); "
                f"a new chat (--new, or -c NAME) can have another ({requested}), and so can this one after "
                f"`%autogen kernel stop {self.name}`, which ends its variables"
            )
        return place

    def move_to(self, place: Place, default: Place) -> None:
        """Sets the place for the chat's code, and replaces the kernel if the place changes."""
        if place != self.place:
            place.check(self.cwd)
            self._end_kernel()
            last_block = self.executor.kernel.last_block
            self.shared.clear()
            self.forget_variables()
            self._open(place=place)
            # The numbers of earlier blocks must not name checkpoints of the new kernel.
            self.executor.kernel.last_block = last_block
            self.executor.notice = "The person replaced the kernel; its variables are lost." if self.runs else ""
        engine.call_soon(partial(self.kernels.touch, self))
        self._default = default

    def _open(self, executor: BlockExecutor | None = None, place: Place = Place()) -> None:  # noqa: B008  # frozen
        if executor is None:
            options = self._conversations.kernel_options()
            can_write = writable(self.cwd, lambda: self.folder)
            self.executor = BlockExecutor(place=place, cwd=self.cwd, **options, writable=can_write)
        else:
            self.executor = executor
            # The kernel is already starting, and will not call `admit` itself.
            engine.call_soon(lambda: self.kernels.admit(self))
        self.executor.kernel.admit = lambda: self.kernels.admit(self)
        self.executor.kernel.tell = self.kernels.say
        self.executor.kernel.dropped = self._say_dropped
        self._unregister = engine.at_exit(self.stop)

    def _say_dropped(self, numbers: Collection[int]) -> None:
        cells = [str(number) for number, cell_run in enumerate(self.runs, 1) if cell_run.block in numbers]
        if cells:
            which = f"cell {cells[0]}" if len(cells) == 1 else f"cells {', '.join(cells)}"
            self.kernels.say(_NO_MEMORY.format(which))

    @property
    def folder(self) -> str:
        """The chat's folder, relative to `cwd` if it is inside."""
        if not self.known_folder:
            taken = {chat.known_folder for chat in self._conversations}
            self.known_folder = self._conversations.folders.folder(self.name, taken)
        return self.known_folder

    @property
    def open_run(self) -> CellRun | None:
        return self.runs[-1] if self.runs and self.runs[-1].resumable else None

    @property
    def alive(self) -> bool:
        return self.executor.kernel.alive

    @property
    def busy(self) -> bool:
        return self.executor.kernel.busy

    async def stop(self, note: str = "") -> None:
        """Ends the agent's kernel; the next block reports `note` to the model."""
        await self._stop(self.executor, note)

    def end(self) -> None:
        if "session" in vars(self):
            self.session.close()
        self._end_kernel()

    def _end_kernel(self) -> None:
        self._unregister()
        engine.call_soon(lambda: self.kernels.dismiss(self))
        engine.submit(self._stop(self.executor))

    async def _stop(self, executor: "BlockExecutor", note: str = "") -> None:
        await executor.stop(note)
        if self.tools is not None:
            await self.tools.close()
        if executor is self.executor and self.place.is_sandbox and self.known_folder:
            # The sandbox of a newer executor may have the folder mounted.
            remove_empty(self.cwd, self.known_folder)

    def forget_variables(self) -> None:
        """Records that the person has thrown the variables of the kernel away."""
        self.listed_variables = frozenset()
        if "session" in vars(self):
            self.session.begin_kernel()

    async def put(self, values: Mapping[str, object]) -> TransferRecord:
        return await self.executor.put(values, copy=self.session.new_inputs_folder())

    def hand(
        self,
        values: Mapping[str, object],
        record: TransferRecord | None = None,
        namespace: Mapping[str, object] | None = None,
    ) -> tuple[str, ...]:
        """Records shared values, and how the notebook read them; returns the names of replaced kernel variables."""
        self.listed_variables |= set(values)
        if record is not None:
            self.session.add_inputs(tuple(values), record.copy, table_reads(values, namespace or {}))
        return self.shared.hand(values, record)

    def bring(self, values: Mapping[str, object], namespace: dict[str, object]) -> tuple[str, ...]:
        """Copies values into the notebook, and returns the names of the notebook's variables that they replaced."""
        replaced = tuple(name for name in values if name in namespace and not self.shared.holds(name, namespace[name]))
        namespace.update(values)
        self.hand(values)
        return replaced

    async def undo(self, index: int, *, always: bool = False) -> bool:
        """Takes back the runs from this index on, and their variables; called on the engine.

        Returns False if there is no checkpoint of the variables. In this case, nothing changes unless `always` is true:
        then the runs are taken back, but the variables stay.
        """
        runs = self.runs[index:]
        state = await self._go_to(runs, runs[0].block, runs[0].shared)
        if state is None and not always:
            return False
        self.taken_back.append(TakenBack(index, runs, *(state or (0, self.shared.copy()))))
        del self.runs[index:]
        self.session.undo(index)
        return state is not None

    async def redo(self) -> bool:
        """Brings back the runs that were taken back last, in place of later runs; False if their variables are lost."""
        last = self.taken_back.pop()
        replacing = self.runs[last.index :]
        state = await self._go_to([*last.runs, *replacing], last.block, last.shared)
        if replacing:
            self.taken_back.append(TakenBack(last.index, replacing, *(state or (0, self.shared.copy()))))
        self.runs[last.index :] = last.runs
        self.session.redo()
        return state is not None

    async def _go_to(
        self, runs: Iterable[CellRun], block: int, shared: SharedVariables | None
    ) -> tuple[int, SharedVariables] | None:
        """Restores the variables before a block; returns a checkpoint of the present variables, or None on failure."""
        kernel, before = self.executor.kernel, self.shared.copy()
        if not any(run.ran_code for run in runs):
            return kernel.last_block + 1, before
        present = await kernel.take_checkpoint() if kernel.alive else 0
        if not await kernel.go_back(block):
            return None
        self.shared = shared.copy() if shared is not None else self.shared
        return present, before

    def resume(self, origin: Origin, task: str, settings: Settings) -> tuple[CellRun, Sequence[CellRun]] | None:
        """Returns the cell's run and the later runs, which it removes; None if this task cannot resume the run."""
        index = self.index_of(origin, task)
        if index is None or not self.runs[index].resumable:
            return None
        run = self.runs[index]
        if (run.task, run.settings.chat_flow) != (task, settings.chat_flow):
            return None
        run.origin, run.restored = origin, False
        return run, self.drop(index + 1)

    def begin(self, origin: Origin, task: str, message: str, settings: Settings) -> CellRun:
        """Starts a run; `redo` stays possible if the runs that were taken back began with the same cell or task."""
        last = self.taken_back[-1] if self.taken_back else None
        earlier = last.runs[0] if last is not None and last.index == len(self.runs) else None
        instead = earlier is not None and (origin.repeats(earlier.origin) or earlier.task == task)
        if not instead:
            self.taken_back.clear()
        log = self.session.begin(task, message, asdict(origin), settings.to_json(), instead=instead).log
        block = self.executor.kernel.last_block + 1
        run = CellRun(origin, task, message, settings, log, block, self.shared.copy())
        engine.call_soon(partial(self.executor.kernel.keep_checkpoint, block))
        self.runs.append(run)
        return run

    def drop(self, index: int) -> list[CellRun]:
        """Removes the runs from this index on; the kernel keeps its variables."""
        removed = self.runs[index:]
        if removed:
            self.session.drop(index)
        del self.runs[index:]
        return removed

    def index_of(self, origin: Origin, task: str) -> int | None:
        if origin.cell is None:
            # Without cell ids, the cell's run is the last run, if the run has the same task and can continue.
            is_same = self.open_run is not None and self.open_run.task == task
            return len(self.runs) - 1 if is_same else None
        return next((index for index, run in enumerate(self.runs) if origin.repeats(run.origin)), None)


class Conversations:
    def __init__(
        self,
        cwd: Path,
        first_kernel: BlockExecutor | None = None,
        *,
        kernel_options: Callable[[], Mapping[str, Any]] = dict,
        folders: ChatFolders | None = None,
        begin_session: Callable[[str, str], Session] = lambda *_: Session(Path()),
    ) -> None:
        self.cwd = cwd
        self.begin_session = begin_session
        self.kernel_options = kernel_options
        self.kernels = ChatKernels()
        self.folders = folders or ChatFolders(cwd)
        self._all: dict[str, NotebookConversation] = {}
        self._renewed: tuple[NotebookConversation, NotebookConversation] | None = None
        self.current = "main"
        self._latest = self._begin(self.current, first_kernel)

    def __iter__(self) -> Iterator[NotebookConversation]:
        return iter(list(self._all.values()))

    @property
    def latest(self) -> NotebookConversation:
        """The chat of the last cell, which commands without a name mean."""
        return self._latest if self._latest in self else self.named()

    def named(self, name: str | None = None) -> NotebookConversation:
        """Returns the conversation `name` (default: the current one), created if necessary."""
        name = name or self.current
        return self._all.get(name) or self._begin(name)

    def _begin(self, name: str, first_kernel: BlockExecutor | None = None) -> NotebookConversation:
        chat = self._all[name] = NotebookConversation(name, self, first_kernel)
        return chat

    def renew(self, name: str | None = None) -> tuple[NotebookConversation, str | None]:
        """Starts a new conversation; returns it and the new name of the previous one, if any."""
        name = name or self.current
        old = self._all.get(name)
        if old is None or not old.runs:
            return self.named(name), None
        old.set_name(next(f"{name}-{n}" for n in range(1, len(self._all) + 2) if f"{name}-{n}" not in self._all))
        self._all[old.name] = self._all.pop(name)
        return self.named(name), old.name

    def take_back_renewal(self) -> None:
        """Gives the previous conversation its name back if the new one has no run."""
        renewed, self._renewed = self._renewed, None
        if renewed is not None and not renewed[0].runs:
            new, old = renewed
            self.remove(new)
            del self._all[old.name]
            old.set_name(new.name)
            self._all[old.name] = self._latest = old

    def restore(self, session: Session, runs: Sequence[CellRun], default: Place) -> NotebookConversation:
        """Continues an earlier session in the place that its cells chose; another chat of its name gets a new name."""
        place = default
        for run in runs:
            place = run.settings.place(place)
        place.check(self.cwd)
        policy_file.policy().check_sandbox(place.sandbox, "this chat")
        chat, _ = self.renew(str(session.head["chat"]))
        chat.move_to(place, default)
        chat.restore(session, runs)
        self._latest = chat
        return chat

    def remove(self, chat: NotebookConversation) -> None:
        self._all.pop(chat.name, None)
        chat.end()

    def open(self, options: Settings, origin: Origin) -> tuple[NotebookConversation, str]:
        """Returns the cell's conversation, created if necessary, and a remark if another is renamed or deleted."""
        self._latest, remark = self._open(options, origin)
        return self._latest, remark

    def _open(self, options: Settings, origin: Origin) -> tuple[NotebookConversation, str]:
        existing = self.find(options, origin)
        if existing is not None:
            return existing, ""
        if not options.new:
            return self.named(options.chat), ""
        if tasks := self._drop_unanswered(options.chat or self.current):
            return self.named(options.chat), _DROPPED.format("; ".join(map(in_words.shortened, tasks)))
        chat, old_name = self.renew(options.chat)
        self._renewed = (chat, self._all[old_name]) if old_name else None
        renamed = f"A new chat begins. The earlier one is kept as `{old_name}`: `-c {old_name}` continues it."
        return chat, renamed if old_name else ""

    def _drop_unanswered(self, name: str) -> list[str]:
        old = self._all.get(name)
        if old is None or not old.waits_for_first_reply:
            return []
        self.remove(old)
        return [run.task for run in old.runs]

    def find(self, options: Settings, origin: Origin) -> NotebookConversation | None:
        again = self.find_by_cell(origin)
        # A cell with ``--new`` continues its own chat when it runs again.
        if again is not None and (
            any(run.settings.new for run in again.runs if origin.repeats(run.origin))
            if options.new
            else options.chat in (None, again.name)
        ):
            return again
        return None if options.new else self._all.get(options.chat or self.current)

    def find_by_cell(self, origin: Origin) -> NotebookConversation | None:
        """Returns the newest conversation with a run of the cell."""
        for chat in reversed(self._all.values()):
            if any(origin.repeats(run.origin) for run in chat.runs):
                return chat
        return None
