"""A chat as plain text, written as it goes: for scripts and terminals."""

import re
import sys
from collections.abc import Callable

from autogen_nb.core.report import plain, text_of
from autogen_nb.events import CodeAsked, CodeRan, Ended, Event, ModelDelta, OutputAdded, Said
from autogen_nb.outputs import Stream

_CONTROLS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_RULE = "-" * 80


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


class PlainView:
    """Writes each message once, token by token where it streams, and the outputs of code as they come.

    Control characters of what a model or its code wrote are left out, since a terminal would act on them.
    """

    def __init__(self, write: Callable[[str], None] = _write) -> None:
        self._raw = write
        self._streaming = ""
        self._fresh = True
        self._shown_live = False

    def show(self, event: Event) -> None:
        """Writes what the event adds."""
        match event:
            case ModelDelta(agent=agent, text=text):
                self._begin(agent)
                self._write(text)
            case Said():
                self._said(event)
            case CodeAsked():
                self._shown_live = False
                self.line(">>> running")
            case OutputAdded(output=Stream(text=text)):
                self._shown_live = True
                self._write(plain(text))
            case OutputAdded(output=output):
                self._shown_live = True
                self.line(text_of([output]))
            case CodeRan():
                if not self._shown_live:
                    self.line(text_of(event.outputs))
                self.line(f">>> exit code {event.exit_code}")
            case Ended(detail=detail):
                self.line(f"{_RULE}\n{detail}")
            case _:
                pass

    def tick(self) -> None:
        """Nothing here changes with time."""

    def close(self) -> None:
        """Ends the last line."""
        self._end_line()

    def _said(self, said: Said) -> None:
        streamed = self._streaming == said.sender
        self._streaming = ""
        if not streamed:
            self.line(f"{_RULE}\n{said.sender} (to {said.recipient}):\n\n{said.message.text}")
        for call in said.message.tool_calls or ():
            self.line(f"calls {call.get('function', {}).get('name')}({call.get('function', {}).get('arguments')})")
        self._end_line()

    def _begin(self, agent: str) -> None:
        if self._streaming != agent:
            self._streaming = agent
            self.line(f"{_RULE}\n{agent}:\n")

    def line(self, text: str) -> None:
        """Writes a line of its own."""
        self._end_line()
        self._write(f"{text}\n")

    def _end_line(self) -> None:
        if not self._fresh:
            self._write("\n")

    def _write(self, text: str) -> None:
        # A lone carriage return would let a later text take the place of what is written here.
        text = _CONTROLS.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
        if text:
            self._fresh = text.endswith("\n")
            self._raw(text)
