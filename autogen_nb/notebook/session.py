"""What the magics do, once they are used: everything heavy is imported with this module, and not before."""

import asyncio
import shlex
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from autogen_nb import run
from autogen_nb.agents.results import ChatResult
from autogen_nb.agents.where import Where
from autogen_nb.core.rules import proposed
from autogen_nb.errors import AutogenError, ConfigError
from autogen_nb.kernels.transfer import clashes
from autogen_nb.notebook import kernel_orders, rendering, reruns, stuck, variables
from autogen_nb.notebook.cell import CellRun
from autogen_nb.notebook.conversations import Conversation, Conversations, Origin, asked
from autogen_nb.notebook.failures import CellInterrupted, one_line
from autogen_nb.notebook.notebook import Notebook
from autogen_nb.notebook.orders import Order
from autogen_nb.notebook.persons import AbsentPerson, Person, Stopping, TypingPerson
from autogen_nb.notebook.plain_cell import PlainCellView
from autogen_nb.notebook.settings import Defaults, terms
from autogen_nb.notebook.view import NotebookView

_USAGE = (
    "%autogen pull NAME [NAME ...] [-c CHAT]   copies variables of the agent's kernel here, as data only;\n"
    "                                          with --unpickle anything, by code that the agent can choose\n"
    "%autogen push NAME [NAME ...] [-c CHAT]   copies variables of the notebook to the agent's kernel\n"
    "%autogen kernel status|vars|interrupt|restart [CHAT]   looks after the agent's kernel\n"
    "%autogen chats                            lists the chats of this notebook\n"
    "%%autogen? shows the options of the cell magic; %config AutogenMagics its defaults"
)


class Session:
    """The conversations of a notebook and what its cells do with them.

    Parameters
    ----------
    cwd
        The notebook's own folder.
    """

    def __init__(self, shell: InteractiveShell, defaults: Defaults, cwd: Path) -> None:
        self._shell = shell
        self._defaults = defaults
        self.conversations = Conversations(cwd)
        # It is made here, under the extension's lock: the warm-up and the first cell may come at the same time.
        first = self.conversations.named()
        # A place that cannot be had is told by the first cell.
        with suppress(AutogenError):
            first.settle(defaults.where, defaults.where)
        self._notebook = Notebook(shell.user_ns, self.conversations, defaults, _publish)

    def warm_up(self) -> None:
        """Starts the first chat's kernel, without waiting for it, and loads what the first cell would wait for."""
        first = self.conversations.named()
        if self._settled(first):
            start = run.engine.submit(first.executor.start())
            # A kernel that does not start is told when it is first needed, by the start that happens then.
            start.add_done_callback(lambda ended: None if ended.cancelled() else ended.exception() and None)
        rendering.warm_up()
        if getattr(self._shell, "kernel", None) is not None:
            import autogen_nb.notebook.panels  # noqa: F401  # ipywidgets takes a while

    def close(self) -> None:
        """Ends the agents' kernels, without waiting for them."""
        for chat in self.conversations:
            chat.end()

    async def awaited(self, order: Callable[[], Order]) -> None:
        """Runs a cell that is awaited: the notebook's loop goes on meanwhile."""
        with run.heartbeat(), one_line():
            try:
                await self._run(order(), "async")
            except reruns.Superseded:
                return
            except (asyncio.CancelledError, KeyboardInterrupt):
                # ipykernel cancels an awaited cell where a plain one would have been interrupted.
                raise CellInterrupted("Stopped.") from None

    def waited(self, order: Callable[[], Order]) -> None:
        """Runs a cell that cannot be awaited, since another one or code of the person's calls it."""
        with one_line():
            try:
                run.unsuspended(self._run(order(), "sync"))
            except KeyboardInterrupt:
                raise CellInterrupted("Stopped.") from None

    def command(self, line: str) -> None:
        """Does what ``%autogen`` is told."""
        with one_line():
            self._command(_words(line))

    async def _run(self, order: Order, waits: run.Waits) -> ChatResult:
        attended = _attended(self._shell)
        chosen = terms(order, self._defaults, attended=attended)
        origin = reruns.origin(self._shell)
        where = self._where(order, origin)
        remark = " · ".join(filter(None, (where.text, chosen.remark)))
        view: NotebookView | PlainCellView
        if getattr(self._shell, "kernel", None) is None:
            view = PlainCellView(remark=remark)
            person: Person = TypingPerson()
        else:
            view = NotebookView(remark=remark)
            person = self._person(view, origin, waits, attended=attended)
        aside = _asked_aside if isinstance(view, NotebookView) and not isinstance(person, TypingPerson) else None
        return await CellRun(
            self._notebook,
            order,
            chosen,
            origin=origin,
            person=person,
            view=view,
            waits=waits,
            where=where,
            aside=aside,
        ).run()

    def _where(self, order: Order, origin: Origin) -> Where:
        """Where the cell's code runs, once it is known that it can run there."""
        usual = self._defaults.where
        chat = self.conversations.meant(order, origin)
        where = asked(order, usual) if chat is None else chat.wanted(order, usual)
        if chat is None or chat.where != where:
            where.check(self.conversations.cwd)
        return where

    def _settled(self, chat: Conversation) -> bool:
        """Whether the chat's kernel may be started before anyone needs it."""
        try:
            return chat.where == self._defaults.where and not chat.where.costly
        except AutogenError:
            return False

    def _person(self, view: NotebookView, origin: Origin, waits: run.Waits, *, attended: bool) -> Person:
        if not attended:
            return AbsentPerson()
        if waits == "sync" or self._defaults.ask == "text":
            return TypingPerson()
        from autogen_nb.notebook.panels import ButtonPerson

        return ButtonPerson(view, lambda: reruns.run_again(self._shell, origin), offers=proposed)

    def _command(self, words: list[str]) -> None:
        match words[:1]:
            case []:
                print(_USAGE)  # noqa: T201  # it is the answer
            case ["pull" | "push" as way] if len(words) > 1:
                names, chat = self._named(words[1:])
                if way == "pull":
                    unpickle = "--unpickle" in names
                    self._pull([name for name in names if name != "--unpickle"], chat, unpickle=unpickle)
                else:
                    self._push(names, chat)
            case ["kernel", *_]:
                rest, chat = self._named(words[1:])
                verb, *more = rest or ["status"]
                if len(more) > 1 or (more and chat is not self.conversations.named()):
                    raise ConfigError(f"%autogen kernel {verb} takes the name of one chat")
                self._publish(*kernel_orders.obey(verb, self._known(more[0]) if more else chat))
            case ["chats"]:
                for each in self.conversations:
                    print(f"{each.name}: {len(each.turns)} turn(s), files in {each.folder}")  # noqa: T201  # as above
            case _:
                raise ConfigError(f"%autogen {' '.join(words)} is not a command.\n{_USAGE}")

    def _named(self, words: list[str]) -> tuple[list[str], Conversation]:
        names, chat = list(words), None
        for option in ("-c", "--chat"):
            if option in names:
                index = names.index(option)
                chat = names[index + 1] if index + 1 < len(names) else ""
                del names[index : index + 2]
        return names, self._known(chat)

    def _known(self, chat: str | None) -> Conversation:
        known = {each.name for each in self.conversations}
        if chat is not None and chat not in known:
            raise ConfigError(f"there is no chat {chat!r}; known are {', '.join(sorted(known)) or 'none yet'}")
        return self.conversations.named(chat)

    def _publish(self, data: dict[str, Any], metadata: dict[str, Any]) -> None:
        if getattr(self._shell, "kernel", None) is None:
            print(data["text/plain"])  # noqa: T201  # it is the answer
        else:
            self._shell.display_pub.publish(data=data, metadata=metadata)

    def _pull(self, names: list[str], chat: Conversation, *, unpickle: bool) -> None:
        if not chat.executor.alive:
            raise ConfigError(f"chat {chat.name!r} has no kernel to pull from yet; run a %%autogen cell first")
        namespace = self._notebook.namespace
        values = {name: run.engine.call(chat.executor.get(name, unpickle=unpickle)) for name in names}
        taken = [name for name in clashes(values, namespace) if not chat.holds(name, namespace[name])]
        namespace.update(values)
        chat.hand(values)
        if taken:
            print(variables.replaced(taken, "your notebook"))  # noqa: T201  # it is what happened

    def _push(self, names: list[str], chat: Conversation) -> None:
        values = variables.chosen(names, self._notebook.namespace, "%autogen push")
        taken = chat.hand(values, run.engine.call(chat.executor.put(values)))
        if taken:
            print(variables.replaced(taken, "the agent's kernel"))  # noqa: T201  # as above


async def _asked_aside(what: str) -> Stopping:
    """What the person says in a panel of its own, below what the cell shows."""
    from autogen_nb.notebook.panels import ButtonPerson

    below = NotebookView()
    answer = await ButtonPerson(below, lambda: False).stopping(what)
    below.note(stuck.KILLED if answer == "kill" else stuck.LEFT, kind="decision")
    return answer


def _publish(result: ChatResult) -> None:
    sys.modules["autogen_nb"].last = result  # type: ignore[attr-defined]  # it is the package's own


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise ConfigError(f"%autogen {line}: {str(error).lower()}") from None


def _attended(shell: Any) -> bool:
    """Whether somebody is there: the execute request's `allow_stdin`, as Jupyter's messaging specification has it."""
    kernel = getattr(shell, "kernel", None)
    if kernel is None:
        return True
    return bool((kernel.get_parent("shell") or {}).get("content", {}).get("allow_stdin", False))
