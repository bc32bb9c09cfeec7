"""The file with the user's saved rules, one for all notebooks.

1. An invalid file, or a file that other users can write, raises ConfigError and is never overwritten.
2. A change takes a lock, reads the file again and replaces it atomically, so that no notebook's rules are lost.
"""

import fcntl
import json
import os
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import platformdirs

from autogen_nb.core.policy.rules import Rule, parse
from autogen_nb.errors import ConfigError
from autogen_nb.trusted import owned_files

_VERSION = 1
_LOCK_TIMEOUT = 10.0
"""Seconds; a notebook holds the lock only while it changes the file."""
_LOCK_INTERVAL = 0.02
_MAX_RULES = 1000


@dataclass(frozen=True, slots=True)
class SavedRule:
    rule: Rule
    made: datetime


class RulesFile:
    def __init__(self, path: Path | None = None) -> None:
        self.path = path or platformdirs.user_config_path("autogen_nb", appauthor=False) / "rules.json"

    def rules(self) -> tuple[Rule, ...]:
        return tuple(saved.rule for saved in self.saved_rules())

    def saved_rules(self) -> tuple[SavedRule, ...]:
        text = owned_files.read(self.path, frozenset({os.geteuid()}))
        return () if text is None else self._read(text)

    def add(self, *rules: Rule) -> tuple[Rule, ...]:
        with self._edit_rules() as saved:
            existing = {saved_rule.rule for saved_rule in saved}
            new = tuple(rule for rule in dict.fromkeys(rules) if rule not in existing)
            now = datetime.now(UTC).replace(microsecond=0)
            saved.extend(SavedRule(rule, now) for rule in new)
        return new

    def remove(self, *rules: Rule) -> tuple[Rule, ...]:
        """Removes the rules, and returns those that existed."""
        with self._edit_rules() as saved:
            removed = tuple(saved_rule.rule for saved_rule in saved if saved_rule.rule in rules)
            saved[:] = [saved_rule for saved_rule in saved if saved_rule.rule not in rules]
        return removed

    def _read(self, text: str) -> tuple[SavedRule, ...]:
        try:
            content: Any = json.loads(text)
            if content["version"] != _VERSION:
                raise ValueError(f"version {content['version']}")  # noqa: TRY301  # one handler for all invalid content
            return tuple(_parse_rule(saved_rule["rule"], saved_rule["made"]) for saved_rule in content["rules"])
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise ConfigError(
                f"{str(self.path)!r} is not used: its content is not a valid list of rules ({_short(error)}); "
                "correct it or move it away"
            ) from None

    @contextmanager
    def _edit_rules(self) -> Generator[list[SavedRule], None, None]:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._locked():
                before = self.saved_rules()
                after = list(before)
                yield after
                if len(after) > _MAX_RULES:
                    raise ConfigError(f"there are {_MAX_RULES} rules already; `%autogen rules remove` makes room")
                if after != list(before):
                    self._write(after)
        except OSError as error:
            raise ConfigError(f"{str(self.path)!r} cannot be written: {error.strerror or error}") from None

    @contextmanager
    def _locked(self) -> Generator[None, None, None]:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        number = os.open(self.path.with_suffix(".lock"), flags, 0o600)
        try:
            until = time.monotonic() + _LOCK_TIMEOUT
            while True:
                try:
                    fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > until:
                        raise ConfigError(f"{str(self.path)!r} is locked by another notebook; try again") from None
                    time.sleep(_LOCK_INTERVAL)
            yield
        finally:
            os.close(number)

    def _write(self, saved: Iterable[SavedRule]) -> None:
        rules = [{"rule": str(saved_rule.rule), "made": saved_rule.made.isoformat()} for saved_rule in saved]
        owned_files.write(self.path, json.dumps({"version": _VERSION, "rules": rules}, indent=1) + "\n")


def _parse_rule(text: str, moment: str) -> SavedRule:
    rule, made = parse(text), datetime.fromisoformat(moment)
    if str(rule) != text:
        raise ValueError(f"{text!r} is not in the form of a saved rule")
    return SavedRule(rule, made if made.tzinfo else made.replace(tzinfo=UTC))


def _short(error: Exception) -> str:
    text = f"there is no {error}" if isinstance(error, KeyError) else str(error)
    return text if len(text) <= 200 else f"{text[:200]}…"  # noqa: PLR2004  # about two lines
