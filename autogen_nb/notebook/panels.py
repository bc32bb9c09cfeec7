"""The panels: plain ipywidgets that ask one question each and then make room for the line that says what was decided.

A click may come on another thread than the loop's (front ends with subshells), so answers are handed over safely.
"""

import asyncio
import warnings
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import ipywidgets as widgets
import traitlets

from autogen_nb.errors import ChatUnfinished
from autogen_nb.events import ApprovalAsked, ApprovalGiven, HumanInputAsked, HumanInputGiven
from autogen_nb.notebook import rendering, styles
from autogen_nb.notebook.connections import DEFAULT_MODEL, Connection
from autogen_nb.notebook.persons import Copying, Stopping
from autogen_nb.notebook.reruns import Superseded

_LOOK = 0.2
"""Seconds between two looks at whether the cell was run again."""

_YOU = "you"
_WIDE = {"width": "auto", "max_width": "100%", "margin": "0"}
_ROW = {"flex_flow": "row wrap", "align_items": "center", "grid_gap": "8px", "margin": "0"}
_BOX = {"width": "100%", "margin": "4px 0 8px", "padding": "0", "overflow": "visible", "grid_gap": "6px"}
_WAY = {"width": "100%", "margin": "6px 0 0", "padding": "0", "overflow": "visible", "grid_gap": "2px"}
_REASON = {"width": "34em", "max_width": "100%", "margin": "0"}
_FIELD = {"width": "24em", "max_width": "100%", "margin": "0"}
# JupyterLab ends its text this far from the cell's right edge, and a field that fills the width does as text does.
_FULL = {"width": "auto", "margin": "0 20px 0 0"}
_LABELLED = {"description_width": "5.5em"}
_NO_BUTTONS = (
    "No buttons here? Interrupt this cell, run `%config AutogenMagics.ask = 'text'`, and run the cell again: "
    "it asks the same in words."
)
_CODE_CLASS, _FIELD_CLASS = "autogen-nb-code", "autogen-nb-field"
# What ipywidgets has no settings for.
_CODE_STYLE = f"<style>.{_CODE_CLASS}.widget-textarea textarea {{{styles.EDITOR}}}</style>"
_NAMED_CLASS = "autogen-nb-named"
# The label is there for who hears the page; who sees it has the question above the field.
_NAMED_STYLE = (
    f"<style>.{_NAMED_CLASS} .widget-label {{position: absolute; width: 1px; height: 1px; overflow: hidden; "
    "clip-path: inset(50%)}</style>"
)
_FIELD_STYLE = f"<style>.{_FIELD_CLASS}.widget-text .widget-label {{text-align: left}}</style>"


class Foot(Protocol):
    """Where a panel is shown: the last place of a view."""

    def panel(self, data: dict[str, object]) -> None:
        """Shows the panel."""

    def release(self) -> None:
        """Takes the panel away, once it is answered."""


class Panel:
    """A question with widgets; it is answered once.

    Parameters
    ----------
    question
        The question in words, for front ends without widgets.
    """

    def __init__(self, question: str) -> None:
        self._question = question
        self._loop = asyncio.get_running_loop()
        self._answer: asyncio.Future[Any] = self._loop.create_future()
        self._box = widgets.VBox(layout=_BOX)
        self._shown: list[widgets.Widget] = []

    async def ask(self, foot: Foot, superseded: Callable[[], bool]) -> Any:
        """The person's answer.

        Raises
        ------
        Superseded
            When the cell was run again before there was one.
        """
        view = self._box._repr_mimebundle_() or {}  # IPython's own protocol
        foot.panel({**view, "text/plain": f"{self._question}\n{_NO_BUTTONS}"})
        try:
            while not self._answer.done():
                await asyncio.wait([self._answer], timeout=_LOOK)
                if not self._answer.done() and superseded():
                    raise Superseded("the cell was run again")
            return self._answer.result()
        finally:
            foot.release()
            self._close()

    def show(self, *rows: widgets.Widget) -> None:
        """Puts these rows in place of those that are shown."""
        self._box.children = rows
        self._shown += rows

    def answer(self, value: Any) -> None:
        """Answers; a second click changes nothing."""
        self._loop.call_soon_threadsafe(self._settle, value)

    def button(self, text: str, then: Callable[[], None], *, hint: str, style: str = "") -> widgets.Button:
        """A button that does one thing."""
        button = widgets.Button(description=text, tooltip=hint, button_style=style, layout=_WIDE)
        button.on_click(lambda _: then())
        return button

    def _settle(self, value: Any) -> None:
        if not self._answer.done():
            self._answer.set_result(value)

    def _close(self) -> None:
        for widget in (*self._shown, self._box):
            _close(widget)


class ApprovalPanel(Panel):
    """May this code run?"""

    def __init__(self, asked: ApprovalAsked) -> None:
        which = f" (block {asked.index + 1} of {asked.total})" if asked.total > 1 else ""
        why = f": {'; '.join(asked.reasons)}" if asked.reasons else ""
        question = f"Run this code{which}?{why}"
        super().__init__(question)
        self._asked = asked
        shown = rendering.question(question)
        if asked.total > 1:
            shown += rendering.code(asked.block)
        self._head = _html(_CODE_STYLE + _NAMED_STYLE + _FIELD_STYLE + shown)
        self._choices()

    def _choices(self) -> widgets.Button:
        run = self.button("Run", self._run, hint="Run the code as it is", style="primary")
        edit = self.button("Edit", self._edit, hint="Change the code before it runs")
        skip = self.button("Skip", self._skip, hint="Do not run it, and tell the assistant why")
        stop = self.button("Stop", self._stop, hint="Do not run it, and end the chat")
        self.show(self._head, widgets.HBox([run, edit, skip, stop], layout=_ROW))
        return run

    def _back(self) -> None:
        self._choices().focus()

    def _run(self) -> None:
        self.answer(ApprovalGiven("run", by=_YOU))

    def _stop(self) -> None:
        self.answer(ApprovalGiven("stop", by=_YOU))

    def _edit(self) -> None:
        code = self._asked.block.code
        rows = min(max(code.count("\n") + 2, 4), 24)
        area = _area("The code to run", code, rows=rows)
        area.add_class(_CODE_CLASS)
        run = self.button(
            "Run edited",
            lambda: self.answer(ApprovalGiven("run", code=area.value, by=_YOU)),
            hint="Run what is in the editor; the assistant is told what ran",
            style="primary",
        )
        back = self.button("Back", self._back, hint="Leave the code as it was")
        self.show(self._head, area, widgets.HBox([run, back], layout=_ROW))
        area.focus()

    def _skip(self) -> None:
        reason = _field(widgets.Text, "Reason", hint="Why? The assistant reads it (may be empty)")
        reason.layout = _REASON

        def skip(*_: object) -> None:
            self.answer(ApprovalGiven("skip", reason=reason.value.strip(), by=_YOU))

        with warnings.catch_warnings():
            # Enter in the field is what ipywidgets 8 has no other name for.
            warnings.simplefilter("ignore", DeprecationWarning)
            reason.on_submit(skip)
        go = self.button("Skip", skip, hint="Do not run the code, and go on", style="primary")
        back = self.button("Back", self._back, hint="Choose again")
        self.show(self._head, widgets.HBox([reason, go, back], layout=_ROW))
        reason.focus()


class InputPanel(Panel):
    """Your words."""

    def __init__(self, asked: HumanInputAsked) -> None:
        empty = {"auto": "the agents go on", "send": "an empty message is sent"}
        question = f"Your turn: a message to {asked.peer}?"
        super().__init__(question)
        area = _area(f"Your message to {asked.peer}", rows=3)
        send = self.button("Send", lambda: self._given(area.value), hint="Send what you have written", style="primary")
        choices = [send]
        # Where saying nothing ends the chat, that is what Exit does.
        if asked.empty_means != "stop":
            hint = f"Say nothing: {empty[asked.empty_means]}"
            choices.append(self.button("Continue", lambda: self._given(""), hint=hint))
        choices.append(self.button("Exit", lambda: self._given("exit"), hint="End the chat"))
        buttons = widgets.HBox(choices, layout=_ROW)
        self.show(_html(_NAMED_STYLE + rendering.question(question)), area, buttons)

    def _given(self, text: str) -> None:
        self.answer(HumanInputGiven(text, by=_YOU))


class _Key(widgets.Password):  # type: ignore[misc]  # ipywidgets is not annotated
    """A field whose text the kernel does not send back to the front ends, as it does with others."""

    value = traitlets.Unicode().tag(sync=True, echo_update=False)


class ConnectionPanel(Panel):
    """Which model? The first run's question."""

    def __init__(self, proposed: str) -> None:
        super().__init__("No model is configured. Your task is kept; there are three ways on.")
        self._key = _field(_Key, "API key", hint="sk-…", name="API key, kept in memory only")
        self._key_model = _field(widgets.Text, "Model", hint=DEFAULT_MODEL, value=proposed or DEFAULT_MODEL)
        self._url = _field(widgets.Text, "Base URL", hint="http://localhost:11434/v1")
        self._url_model = _field(widgets.Text, "Model", hint="the server's name of the model", value=proposed)
        self._complaint = _html("")
        use_key = self.button("Use this key", self._with_key, hint="Run the task with this key", style="primary")
        use_url = self.button("Use this server", self._with_server, hint="Run the task on this server")
        offline = self.button("Run with offline", self._offline, hint="Run the task with the built-in analysis")
        stop = self.button("Stop", lambda: self.answer(None), hint="Do not run the task")
        self.show(
            _html(_FIELD_STYLE + rendering.question(f"{self._question[:-1]}:")),
            _way(
                "1. Paste a key. It is kept in memory only, and never reaches the agent's kernel.",
                *(self._key, self._key_model, use_key),
            ),
            _way(
                "2. Name a server that speaks OpenAI's API; a local one needs no key.",
                *(self._url, self._url_model, use_url),
            ),
            _way(
                "3. Use `offline`: no language model, but a fixed analysis of a table. Nothing leaves this machine.",
                offline,
                stop,
            ),
            self._complaint,
        )

    def _with_key(self) -> None:
        key, self._key.value = self._key.value.strip(), ""
        if key:
            self.answer(Connection(self._key_model.value.strip() or DEFAULT_MODEL, key))
        else:
            self._complain("The key is empty.")

    def _with_server(self) -> None:
        url, model = self._url.value.strip(), self._url_model.value.strip()
        if url and model:
            self.answer(Connection(model, base_url=url))
        else:
            self._complain("A server needs its base URL and the name of a model.")

    def _offline(self) -> None:
        self.answer(Connection("offline"))

    def _complain(self, text: str) -> None:
        self._complaint.value = rendering.line(text, tone="bad")


class CopyPanel(Panel):
    """May these variables be copied?"""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        copy = self.button("Copy", lambda: self.answer("copy"), hint="Copy to the agent's kernel", style="primary")
        leave = self.button("Do not copy", lambda: self.answer("leave"), hint="Run the task without")
        stop = self.button("Stop", lambda: self.answer(None), hint="Do not run the task")
        self.show(_html(rendering.question(what)), widgets.HBox([copy, leave, stop], layout=_ROW))


class StoppingPanel(Panel):
    """Wait for code that does not yield, or kill it?"""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        wait = self.button("Wait", lambda: self.answer("wait"), hint="Leave the code alone; nothing is lost")
        kill = self.button("Kill", lambda: self.answer("kill"), hint="End the kernel with all it holds", style="danger")
        self.show(_html(rendering.question(what)), widgets.HBox([wait, kill], layout=_ROW))


class ButtonPerson:
    """A person who sees the notebook and clicks."""

    def __init__(self, foot: Foot, superseded: Callable[[], bool]) -> None:
        self._foot = foot
        self._superseded = superseded

    def input(self, question: HumanInputAsked) -> Awaitable[HumanInputGiven]:
        """The words of the person."""
        return InputPanel(question).ask(self._foot, self._superseded)

    def approve(self, question: ApprovalAsked) -> Awaitable[ApprovalGiven]:
        """The person's decision."""
        return ApprovalPanel(question).ask(self._foot, self._superseded)

    async def connection(self, proposed: str) -> Connection:
        """The model that the person chooses."""
        return _not_stopped(await ConnectionPanel(proposed).ask(self._foot, self._superseded))  # type: ignore[no-any-return]  # panels answer with Any

    async def copying(self, what: str) -> Copying:
        """Whether the person lets variables be copied."""
        return _not_stopped(await CopyPanel(what).ask(self._foot, self._superseded))  # type: ignore[no-any-return]  # as above

    async def stopping(self, what: str) -> Stopping:
        """Whether the person waits for code that does not yield."""
        return await StoppingPanel(what).ask(self._foot, self._superseded)  # type: ignore[no-any-return]  # as above


def _not_stopped(answer: Any) -> Any:
    if answer is None:
        raise ChatUnfinished("Stopped: the task was not run", reason="stopped")
    return answer


def _html(html: str) -> widgets.HTML:
    return widgets.HTML(html, layout=_FULL)


def _way(text: str, *row: widgets.Widget) -> widgets.VBox:
    return widgets.VBox([_html(rendering.line(text)), widgets.HBox(row, layout=_ROW)], layout=_WAY)


def _area(name: str, text: str = "", *, rows: int) -> widgets.Textarea:
    area = widgets.Textarea(text, description=name, placeholder=name, tooltip=name, rows=rows, layout=_FULL)
    area.add_class(_NAMED_CLASS)
    return area


def _field(kind: type[widgets.Text], label: str, *, hint: str, value: str = "", name: str = "") -> widgets.Text:
    field = kind(
        value,
        description=label,
        placeholder=hint,
        tooltip=name or label,
        layout=_FIELD,
        style=_LABELLED,
    )
    field.add_class(_FIELD_CLASS)
    return field


def _close(widget: widgets.Widget) -> None:
    """Closes a widget with all that it is made of: each part is a comm of its own that would stay open."""
    for part in getattr(widget, "children", ()):
        _close(part)
    for part in (getattr(widget, "style", None), getattr(widget, "layout", None)):
        if isinstance(part, widgets.Widget):
            part.close()
    widget.close()
