"""Prints the conversation of a running notebook as plain text, each output once and in order."""

from collections.abc import Mapping
from itertools import takewhile
from typing import Any, TextIO

from autogen_nb.core.text.visible_text import without_controls

_REPLACED_LATER = frozenset({"empty", "status", "partial", "panel"})
"""Kinds of outputs that a later output replaces."""


class Transcript:
    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._shown: set[str] = set()
        # The display id of a growing stream, its text, and the part already printed.
        self._growing: str | None = None
        self._text = self._printed = ""
        self._closed = False

    def line(self, text: str) -> None:
        if not self._closed:
            self.settle()
            self._print(text.rstrip("\n") + "\n\n")

    def take(self, message: Mapping[str, Any]) -> None:
        content = message["content"]
        match message["header"]["msg_type"]:
            case "display_data" | "update_display_data" | "execute_result" if not self._closed:
                self._display(content)
            case "stream":
                self.line(without_controls(content["text"]))
            case "error":
                text = "\n".join(content["traceback"]) or f"{content['ename']}: {content['evalue']}"
                self.line(without_controls(text))

    def close(self) -> None:
        self.settle()
        self._closed = True

    def settle(self) -> None:
        """Prints the rest of a growing stream, from the first changed line on."""
        if self._growing is None:
            return
        self._growing = None
        lines = zip(self._printed.splitlines(keepends=True), self._text.splitlines(keepends=True), strict=False)
        same = takewhile(lambda pair: pair[0] == pair[1], lines)
        rest = self._text[sum(len(line) for line, _ in same) :]
        self._print(rest + ("\n" if not rest or rest.endswith("\n") else "\n\n"))

    def _display(self, content: Mapping[str, Any]) -> None:
        kind = content.get("metadata", {}).get("autogen_nb", {}).get("kind")
        display_id = (content.get("transient") or {}).get("display_id", "")
        text = without_controls(content["data"].get("text/plain", ""))
        if kind == "stream":
            self._grow(display_id, text)
        elif kind not in _REPLACED_LATER and display_id not in self._shown:
            self._shown |= {display_id} - {""}
            picture = next((f"[picture: {kind}] " for kind in content["data"] if kind.startswith("image/")), "")
            self.line(f"{picture}{text}")

    def _grow(self, display_id: str, text: str) -> None:
        if self._growing != display_id:
            if display_id in self._shown:
                return
            self.settle()
            self._shown.add(display_id)
            self._growing, self._printed = display_id, ""
        self._text = text
        if text.startswith(self._printed):
            lines = text[len(self._printed) : text.rfind("\n") + 1]
            self._printed += lines
            self._print(lines)

    def _print(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()
