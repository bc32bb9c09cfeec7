"""The open questions of running code: one in a panel, several as a list.

1. When the list changes, a new panel replaces the old one, and a click on the old one is ignored.
2. An open form stays when further questions arrive; it closes only when the code stops waiting for the answer.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from autogen_nb.effects import EffectJudged
from autogen_nb.events import EffectAsked
from autogen_nb.notebook.asking.panels.code_panels import EffectPanel
from autogen_nb.notebook.asking.panels.effect_list_panel import EffectListPanel
from autogen_nb.notebook.asking.panels.panel import Panel


@dataclass(eq=False, slots=True)
class _Waiting:
    question: EffectAsked
    answer: "asyncio.Future[EffectJudged]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class EffectQuestions:
    def __init__(self, ask: Callable[[Panel], Awaitable[Any]]) -> None:
        self._ask = ask
        self._waiting: list[_Waiting] = []
        self._panel: EffectPanel | EffectListPanel | None = None
        self._task: asyncio.Task[None] | None = None

    async def answer(self, question: EffectAsked) -> EffectJudged:
        """Returns the decision, or raises the panel's error."""
        waiting = _Waiting(question)
        self._waiting.append(waiting)
        if self._task is None:
            self._begin()
        elif self._panel is not None and not self._panel.busy:
            self._panel.answer(None)
        try:
            return await waiting.answer
        finally:
            if waiting in self._waiting:
                await self._withdraw(waiting)

    def _begin(self) -> None:
        self._task = asyncio.ensure_future(self._ask_all())

    async def _withdraw(self, waiting: _Waiting) -> None:
        self._waiting.remove(waiting)
        if self._panel is not None and waiting.question in self._panel.questions:
            self._panel.answer(None)
        if not self._waiting and self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            if self._waiting and self._task is None:
                # Another question arrived meanwhile.
                self._begin()

    async def _ask_all(self) -> None:
        try:
            while shown := list(self._waiting):
                questions = tuple(waiting.question for waiting in shown)
                self._panel = EffectPanel(questions[0]) if len(shown) == 1 else EffectListPanel(questions)
                judged = await self._ask(self._panel)
                answers = {0: judged} if isinstance(judged, EffectJudged) else judged or {}
                for place, answer in answers.items():
                    self._settle(shown[place], answer)
        except Exception as error:  # noqa: BLE001  # `answer` raises it
            for waiting in list(self._waiting):
                self._settle(waiting, error)
        finally:
            self._task = self._panel = None

    def _settle(self, waiting: _Waiting, answer: EffectJudged | Exception) -> None:
        if waiting not in self._waiting:
            return
        self._waiting.remove(waiting)
        if isinstance(answer, Exception):
            waiting.answer.set_exception(answer)
        else:
            waiting.answer.set_result(answer)
