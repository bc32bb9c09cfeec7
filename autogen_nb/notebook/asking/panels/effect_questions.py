"""The open questions of running code, in one panel.

1. When a question arrives or ends, a new panel replaces the old one; clicks in the old panel are ignored.
2. A panel with an open form stays when a question arrives. It closes when the code no longer waits for the answer.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import ipywidgets as widgets

from autogen_nb.effects import EffectJudged
from autogen_nb.events import EffectAsked
from autogen_nb.notebook.asking.panels import widget_parts
from autogen_nb.notebook.asking.panels.code_panels import EffectPanel
from autogen_nb.notebook.asking.panels.panel import YOU, Panel
from autogen_nb.notebook.rendering import chat_html
from autogen_nb.views import in_words


class EffectListPanel(Panel):
    """Asks about several effects; the answer maps positions to decisions."""

    busy = False

    def __init__(self, questions: Sequence[EffectAsked]) -> None:
        self.questions = tuple(questions)
        head = f"The running code asks {len(questions)} questions:"
        lines = [f"{number}. It {in_words.about(question.effect)}" for number, question in enumerate(questions, 1)]
        super().__init__("\n".join((head, *lines)), chat_html.question(head))
        everything = range(len(questions))
        stop = self.button(
            "Stop",
            partial(self._judge, everything, allowed=False, stop=True),
            hint="Deny all of these, and end the chat",
        )
        self.show(
            *(
                widget_parts.row(
                    *self._choices([position]),
                    widget_parts.html(
                        chat_html.question(self._line(position, text), dangerous=self._dangerous([position]))
                    ),
                )
                for position, text in enumerate(lines)
            ),
            widget_parts.row(*self._choices(everything, " all"), stop),
        )

    def _line(self, position: int, text: str) -> str:
        line = self.questions[position].line.strip()
        return f"{text}{f', at `{in_words.shortened(line)}`' if line else ''}."

    def _choices(self, positions: Sequence[int], suffix: str = "") -> list[widgets.Button]:
        hint = "all of these effects" if suffix else f"effect {positions[0] + 1}"
        dangerous = self._dangerous(positions)
        allow = self.button(
            f"Allow{suffix}",
            partial(self._judge, positions, allowed=True),
            hint=f"Allow {hint}",
            style="warning" if dangerous else "",
        )
        deny = self.button(
            f"Deny{suffix}", partial(self._judge, positions, allowed=False), hint=f"Raise PermissionError for {hint}"
        )
        return [deny, allow] if dangerous else [allow, deny]

    def _dangerous(self, positions: Iterable[int]) -> bool:
        return any(self.questions[position].effect.dangerous for position in positions)

    def _judge(self, positions: Iterable[int], *, allowed: bool, stop: bool = False) -> None:
        self.answer(dict.fromkeys(positions, EffectJudged(allowed, by=YOU, stop=stop)))


@dataclass(eq=False, slots=True)
class _PendingQuestion:
    question: EffectAsked
    answer: "asyncio.Future[EffectJudged]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class EffectQuestions:
    def __init__(self, ask: Callable[[Panel], Awaitable[Any]]) -> None:
        self._ask = ask
        self._pending: list[_PendingQuestion] = []
        self._panel: EffectPanel | EffectListPanel | None = None
        self._task: asyncio.Task[None] | None = None

    async def answer(self, question: EffectAsked) -> EffectJudged:
        pending = _PendingQuestion(question)
        self._pending.append(pending)
        if self._task is None:
            self._begin()
        elif self._panel is not None and not self._panel.busy:
            self._panel.answer(None)
        try:
            return await pending.answer
        finally:
            if pending in self._pending:
                await self._withdraw(pending)

    def _begin(self) -> None:
        self._task = asyncio.ensure_future(self._ask_all())

    async def _withdraw(self, pending: _PendingQuestion) -> None:
        self._pending.remove(pending)
        if self._panel is not None and pending.question in self._panel.questions:
            self._panel.answer(None)
        if not self._pending and self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            if self._pending and self._task is None:
                # A question has arrived in the meantime.
                self._begin()

    async def _ask_all(self) -> None:
        try:
            while shown := list(self._pending):
                questions = tuple(pending.question for pending in shown)
                self._panel = EffectPanel(questions[0]) if len(shown) == 1 else EffectListPanel(questions)
                judged = await self._ask(self._panel)
                answers = {0: judged} if isinstance(judged, EffectJudged) else judged or {}
                for position, answer in answers.items():
                    self._settle(shown[position], answer)
        except Exception as error:  # noqa: BLE001  # `answer` raises the error
            for pending in list(self._pending):
                self._settle(pending, error)
        finally:
            self._task = self._panel = None

    def _settle(self, pending: _PendingQuestion, answer: EffectJudged | Exception) -> None:
        if pending not in self._pending:
            return
        self._pending.remove(pending)
        if isinstance(answer, Exception):
            pending.answer.set_exception(answer)
        else:
            pending.answer.set_result(answer)
