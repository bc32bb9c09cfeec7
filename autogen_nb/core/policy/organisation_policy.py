"""The policy that an organisation sets for everyone on a machine; a person's settings may only be stricter.

An unknown key makes the whole policy invalid, since it could be a restriction.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

from autogen_nb.core.policy import effect_targets
from autogen_nb.effects import CONFIRMS, Confirm
from autogen_nb.errors import ConfigError

Walls: TypeAlias = Literal["none", "bwrap", "docker"]
WALLS: tuple[Walls, ...] = ("none", "bwrap", "docker")
"""Sandboxes, from the weakest to the strongest."""


@dataclass(frozen=True, slots=True)
class OrganisationPolicy:
    hosts: tuple[str, ...] | None = None
    sandbox: Walls = "none"
    confirm: Confirm = "never"
    budget: str = ""

    @property
    def text(self) -> str:
        """A short description of the policy; "" if it requires nothing."""
        walls = f"sandbox {self.sandbox}" if self.sandbox != "none" else ""
        approval = f"confirm {self.confirm}" if self.confirm != "never" else ""
        budget = f"budget {self.budget}" if self.budget else ""
        hosts = "models at named hosts" if self.hosts is not None else ""
        summary = ", ".join(filter(None, (walls, approval, budget, hosts)))
        return f"your organisation's policy: {summary}" if summary else ""

    def check_host(self, host: str) -> None:
        if self.hosts is not None and not any(effect_targets.same_host(each, host) for each in self.hosts):
            known = ", ".join(self.hosts) or "none"
            raise ConfigError(f"your organisation's policy does not allow models at {host!r}; allowed: {known}")

    def stricter_confirm(self, requested: Confirm) -> Confirm:
        return min(requested, self.confirm, key=CONFIRMS.index)

    def suffices(self, walls: Walls) -> bool:
        return WALLS.index(walls) >= WALLS.index(self.sandbox)

    def check_walls(self, walls: Walls, what: str) -> None:
        """Raises an error if this sandbox is weaker than the policy requires.

        `what` names what runs in the sandbox, such as "this cell".
        """
        if not self.suffices(walls):
            raise ConfigError(
                f"your organisation's policy requires at least the sandbox {self.sandbox!r}, and {what} has {walls!r}: "
                f"use sandbox={self.sandbox!r} (in a cell: --sandbox {self.sandbox})"
            )


NO_POLICY = OrganisationPolicy()


def parse(text: str) -> OrganisationPolicy:
    # Most machines have no policy, and need no TOML parser.
    import tomllib

    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"it is not TOML: {error}") from None
    values = {}
    for table, entries in tables.items():
        if table not in _READERS or not isinstance(entries, Mapping):
            raise ConfigError(f"its key {table!r} must be one of the tables {', '.join(_READERS)}")
        for key, value in entries.items():
            if key not in _READERS[table]:
                raise ConfigError(f"[{table}] has the unknown key {key!r}; known keys: {', '.join(_READERS[table])}")
            values[key] = _READERS[table][key](value)
    return OrganisationPolicy(**values)


def _hosts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(host, str) and _is_host(host) for host in value):
        raise ConfigError(f"hosts is {value!r}; it must be a list such as ['api.openai.com', '*.example.org']")
    return tuple(value)


def _is_host(text: str) -> bool:
    return "://" not in text and effect_targets.address(text.removeprefix("*."))[0] != ""


def _one_of(name: str, known: tuple[Any, ...], value: Any) -> Any:
    if value not in known:
        raise ConfigError(f"{name} is {value!r}; it must be one of {', '.join(known)}")
    return value


def _budget(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        return str(value)
    raise ConfigError(f"budget is {value!r}; it must be dollars (5.0) or tokens ('20000 tokens')")


_READERS: Mapping[str, Mapping[str, Callable[[Any], Any]]] = {
    "models": {"hosts": _hosts},
    "code": {"sandbox": partial(_one_of, "sandbox", WALLS), "confirm": partial(_one_of, "confirm", CONFIRMS[::-1])},
    "cells": {"budget": _budget},
}
