"""Shows chats that a library starts outside of ``%%autogen``, and asks their questions."""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, nullcontext
from typing import Any, Protocol, TypeVar
from weakref import WeakSet

from IPython.core.interactiveshell import InteractiveShell

from autogen_nb import run
from autogen_nb.core.people import CodeQuestionAnswerer, Human
from autogen_nb.effects import EffectJudged
from autogen_nb.events import (
    ApprovalAsked,
    ApprovalGiven,
    CodeInputAsked,
    CodeInputGiven,
    EffectAsked,
    HumanInputAsked,
    HumanInputGiven,
)
from autogen_nb.messages import CodeBlock
from autogen_nb.notebook.asking.delivery import QuestionChannel, question_channel, running_origin
from autogen_nb.notebook.asking.person import TypingPerson
from autogen_nb.notebook.rendering import chat_html
from autogen_nb.notebook.surface import cell_chats
from autogen_nb.notebook.surface.cell_chats import CellChats
from autogen_nb.notebook.view.decision_line import PersonAsked
from autogen_nb.notebook.view.notebook_view import NotebookView
from autogen_nb.notebook.view.slots import publish_here
from autogen_nb.views.plain_view import PlainView

T = TypeVar("T")


class NotebookHuman(Human, CodeQuestionAnswerer, Protocol):
    """A human who also answers the questions of running code."""


_views: "WeakSet[ChatView]" = WeakSet()
"""The views of running chats."""


class ChatView(NotebookView):
    """A view that asks its chat's questions at its foot."""

    mirrored = "This page was reloaded; the notebook file lacks all later output."

    def __init__(self, chats: CellChats | None) -> None:
        super().__init__(publish=chats.publish if chats else publish_here, comes_back=bool(chats and chats.reachable))
        self._chats = chats
        _views.add(self)
        if chats is not None:
            chats.begin(self)

    def tick(self) -> None:
        """Updates the view, and handles take-over requests."""
        if self._chats is not None:
            self._chats.handle_requests()
        super().tick()

    def close(self) -> None:
        """Closes the view; it shows no further questions."""
        _views.discard(self)
        if self._chats is not None:
            self._chats.end(self)
        super().close()


class CellPerson:
    """The person who runs the cell, asked by buttons, or in text if clicks would not arrive."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._origin = running_origin(shell)
        self._chats = cell_chats.of(shell)
        self._announced = False
        self._open: list[tuple[NotebookView, Callable[[], bool]]] = []
        """The views with open questions, which may end in any order."""
        self._button_person: NotebookHuman | None = None

    def input(self, question: HumanInputAsked) -> HumanInputGiven | Awaitable[HumanInputGiven]:
        return self._ask(question, lambda person: person.input(question))

    def approve(self, question: ApprovalAsked) -> ApprovalGiven | Awaitable[ApprovalGiven]:
        return self._ask(question, lambda person: person.approve(question))

    def allow(self, question: EffectAsked) -> EffectJudged | Awaitable[EffectJudged]:
        return self._ask(question, lambda person: person.allow(question))

    def typed(self, question: CodeInputAsked) -> CodeInputGiven | Awaitable[CodeInputGiven]:
        return self._ask(question, lambda person: person.typed(question))

    def _ask(self, question: PersonAsked, ask: Callable[[NotebookHuman], T | Awaitable[T]]) -> T | Awaitable[T]:
        channel = question_channel(self._shell, blocks=run.is_caller_blocked())
        if channel.way == "buttons":
            return self._by_buttons(channel, question, ask)
        return ask(TypingPerson(lambda: self._announce(channel.why), terminal=channel.terminal))

    def _announce(self, why: str) -> None:
        if why and not self._announced:
            self._announced = True
            print(why)  # noqa: T201  # the question itself is printed too

    async def _by_buttons(
        self, channel: QuestionChannel, question: PersonAsked, ask: Callable[[NotebookHuman], T | Awaitable[T]]
    ) -> T:
        with channel.open(self._shell, self._origin) as superseded, _view_of(question, self._chats) as view:
            place = view, superseded
            self._open.append(place)
            try:
                reply = ask(self._person())
                answer = await reply if isinstance(reply, Awaitable) else reply
            finally:
                self._open.remove(place)
            if isinstance(answer, ApprovalGiven) and answer.onwards:
                # "Run all" lasts until the end of the chat, like the view.
                view.set_runs_all(lambda: True)
            return answer

    def _is_superseded(self) -> bool:
        if self._chats is not None:
            self._chats.handle_requests()
        return self._open[-1][1]()

    def _person(self) -> NotebookHuman:
        if self._button_person is None:
            from autogen_nb.notebook.asking.panels import ButtonPerson

            self._button_person = ButtonPerson(lambda: self._open[-1][0], self._is_superseded)
        return self._button_person


def surface() -> run.Surface:
    """Shows chats as a cell's outputs, or as text in a terminal, and asks the person there."""
    shell = InteractiveShell.instance()
    plain = question_channel(shell, blocks=False).plain
    return run.Surface(PlainView if plain else lambda: ChatView(cell_chats.of(shell)), lambda: CellPerson(shell))


@contextmanager
def _view_of(question: PersonAsked, chats: CellChats | None) -> Generator[NotebookView, None, None]:
    about = _about(question)
    for view in list(_views):
        if view.last_question is not None and _about(view.last_question) == about:
            yield view
            return
    below, block = NotebookView(publish=chats.publish if chats else publish_here), _block(question)
    if block is not None:
        below.add(*chat_html.bundle(chat_html.code(block), block.code, kind="code"))
    try:
        with chats.showing(below) if chats else nullcontext():
            yield below
    finally:
        below.clear()


def _about(question: PersonAsked) -> tuple[object, ...]:
    """Identifies a question; new rules may change its text in the meantime."""
    if isinstance(question, ApprovalAsked):
        return ApprovalAsked, question.agent, question.block, question.index
    return type(question), getattr(question, "agent", None)


def _block(question: PersonAsked) -> CodeBlock | None:
    asked = question.then if isinstance(question, HumanInputAsked) else question
    return asked.block if isinstance(asked, ApprovalAsked) else None
