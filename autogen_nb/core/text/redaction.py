"""Replaces secrets in the output of code by their names."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from autogen_nb.outputs import Cleared, Output, Stream


class Redactor:
    """Replaces each secret, a key of `secrets`, by its name, even across several stream outputs."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        # The longest first, because a secret may contain another one.
        self._marks = {value: f"[{secrets[value]}]" for value in sorted(secrets, key=len, reverse=True)}
        self._longest = max(map(len, secrets), default=0)
        self._pending: Stream | None = None

    def take(self, output: Output | None) -> list[Output]:
        """The outputs to show now; a possible beginning of a secret waits for the next call; None ends the wait."""
        if not self._marks:
            return [] if output is None else [output]
        if isinstance(output, Stream) and self._pending is not None and self._pending.name == output.name:
            output, self._pending = replace(output, text=self._pending.text + output.text), None
        pending, self._pending = self._pending, None
        ready: list[Output] = [] if pending is None else [replace(pending, text=self._redacted(pending.text))]
        if isinstance(output, Stream):
            text = output.text
            sizes = range(min(self._longest - 1, len(text)), 0, -1)
            size = next((size for size in sizes if any(value.startswith(text[-size:]) for value in self._marks)), 0)
            if size:
                text, self._pending = text[:-size], replace(output, text=text[-size:])
            return [*ready, replace(output, text=self._redacted(text))] if text else ready
        if output is None or isinstance(output, Cleared):
            return ready if output is None else [*ready, output]
        values = {field.name: getattr(output, field.name) for field in fields(output)}
        return [*ready, replace(output, **{name: self._redacted(value) for name, value in values.items()})]

    def _redacted(self, value: Any) -> Any:
        if isinstance(value, str):
            for secret, mark in self._marks.items():
                if secret in value:
                    value = value.replace(secret, mark)
            return value
        if isinstance(value, Mapping):
            return {self._redacted(key): self._redacted(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(map(self._redacted, value))
        return value
