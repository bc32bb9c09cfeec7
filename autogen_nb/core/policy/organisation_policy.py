"""What an organisation lays down for everyone on a machine; a person may only be stricter.

A policy that cannot be read to the last word is no policy to go by: what it says of a key that is not known could have
been a wall.
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
"""Sandboxes, from the least on."""


@dataclass(frozen=True, slots=True)
class OrganisationPolicy:
    """What must hold at least."""

    hosts: tuple[str, ...] | None = None
    sandbox: Walls = "none"
    confirm: Confirm = "never"
    budget: str = ""

    @property
    def text(self) -> str:
        """What the policy asks for in a few words; "" where it asks for nothing."""
        walls = f"sandbox {self.sandbox}" if self.sandbox != "none" else ""
        asked = f"confirm {self.confirm}" if self.confirm != "never" else ""
        spent = f"budget {self.budget}" if self.budget else ""
        hosts = "models at named hosts" if self.hosts is not None else ""
        said = ", ".join(filter(None, (walls, asked, spent, hosts)))
        return f"your organisation's policy: {said}" if said else ""

    def check_host(self, host: str) -> None:
        """Nothing where a model at this host may be asked; a port does not matter unless the policy names one."""
        if self.hosts is not None and not any(effect_targets.same_host(each, host) for each in self.hosts):
            known = ", ".join(self.hosts) or "none"
            raise ConfigError(f"your organisation's policy does not allow models at {host!r}; allowed: {known}")

    def confirmed(self, wanted: Confirm) -> Confirm:
        """What is asked about where a person wants this: never less than the policy's."""
        return min(wanted, self.confirm, key=CONFIRMS.index)

    def suffices(self, walls: Walls) -> bool:
        """Whether these walls are enough."""
        return WALLS.index(walls) >= WALLS.index(self.sandbox)

    def check_walls(self, walls: Walls, what: str) -> None:
        """Nothing where these walls are enough; `what` names who has them."""
        if not self.suffices(walls):
            raise ConfigError(
                f"your organisation's policy asks for the sandbox {self.sandbox!r} at least, and {what} has {walls}: "
                f"use sandbox={self.sandbox!r} (in a cell: --sandbox {self.sandbox})"
            )


NO_POLICY = OrganisationPolicy()


def parse(text: str) -> OrganisationPolicy:
    """The policy in the words of a TOML file."""
    # Most machines have no policy to read.
    import tomllib

    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"it is no TOML: {error}") from None
    values = {}
    for table, given in found.items():
        if table not in _READERS or not isinstance(given, Mapping):
            raise ConfigError(f"it holds {table!r}, where only the tables {', '.join(_READERS)} are known")
        for key, value in given.items():
            if key not in _READERS[table]:
                raise ConfigError(f"[{table}] holds {key!r}, where only {', '.join(_READERS[table])} is known")
            values[key] = _READERS[table][key](value)
    return OrganisationPolicy(**values)


def _hosts(given: Any) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(host, str) and _is_host(host) for host in given):
        raise ConfigError(f"hosts is {given!r}; it must be a list such as ['api.openai.com', '*.example.org']")
    return tuple(given)


def _is_host(text: str) -> bool:
    return "://" not in text and effect_targets.address(text.removeprefix("*."))[0] != ""


def _one_of(name: str, known: tuple[Any, ...], given: Any) -> Any:
    if given not in known:
        raise ConfigError(f"{name} is {given!r}; it must be one of {', '.join(known)}")
    return given


def _budget(given: Any) -> str:
    if isinstance(given, str):
        return given
    if isinstance(given, int | float) and not isinstance(given, bool) and given > 0:
        return str(given)
    raise ConfigError(f"budget is {given!r}; it must be dollars (5.0) or tokens ('20000 tokens')")


_READERS: Mapping[str, Mapping[str, Callable[[Any], Any]]] = {
    "models": {"hosts": _hosts},
    "code": {"sandbox": partial(_one_of, "sandbox", WALLS), "confirm": partial(_one_of, "confirm", CONFIRMS[::-1])},
    "cells": {"budget": _budget},
}
"""What reads each key of each table."""
