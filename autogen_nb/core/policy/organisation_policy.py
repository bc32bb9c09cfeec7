"""The policy of an organisation for all users of a machine; a user's settings may only be stricter.

A policy with an unknown key is invalid, because the key may be a restriction.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from autogen_nb.core.policy.rules import host_and_port, same_host
from autogen_nb.effects import CONFIRMS, Confirm
from autogen_nb.errors import ConfigError

Sandbox: TypeAlias = Literal["none", "bwrap", "docker"]
SANDBOXES: tuple[Sandbox, ...] = get_args(Sandbox)
"""Sandboxes, from the weakest to the strongest."""

_WAY_OUT = "set confirm to 'risky' (--confirm risky), allow more with `%autogen rules add`, or "


@dataclass(frozen=True, slots=True)
class OrganisationPolicy:
    hosts: tuple[str, ...] | None = None
    sandbox: Sandbox = "none"
    confirm: Confirm = "never"
    budget: str = ""

    @property
    def text(self) -> str:
        sandbox = f"sandbox {self.sandbox}" if self.sandbox != "none" else ""
        approval = f"confirm {self.confirm}" if self.confirm != "never" else ""
        budget = f"budget {self.budget}" if self.budget else ""
        hosts = "models at named hosts" if self.hosts is not None else ""
        summary = ", ".join(filter(None, (sandbox, approval, budget, hosts)))
        return f"your organisation's policy: {summary}" if summary else ""

    def check_host(self, host: str) -> None:
        if self.hosts is not None and not any(same_host(each, host) for each in self.hosts):
            known = ", ".join(self.hosts) or "none"
            raise ConfigError(f"your organisation's policy does not allow models at {host!r}; allowed: {known}")

    def stricter_confirm(self, requested: Confirm) -> Confirm:
        return min(requested, self.confirm, key=CONFIRMS.index)

    def way_out(self, usual: str) -> str:
        """What to do if code needs an answer and nobody is there; `usual` if the policy allows to ask nobody."""
        risky = _WAY_OUT if self.confirm == "risky" else ""
        return usual if self.confirm == "never" else f"{self.text}: {risky}run this where a person can answer"

    def stricter_sandbox(self, requested: Sandbox) -> Sandbox:
        return max(requested, self.sandbox, key=SANDBOXES.index)

    def check_sandbox(self, sandbox: Sandbox, what: str) -> None:
        if self.stricter_sandbox(sandbox) != sandbox:
            raise ConfigError(
                f"your organisation's policy requires at least the sandbox {self.sandbox!r}, and {what} has "
                f"{sandbox!r}: use sandbox={self.sandbox!r} (in a cell: --sandbox {self.sandbox})"
            )


NO_POLICY = OrganisationPolicy()


def parse(text: str) -> OrganisationPolicy:
    import tomllib

    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"it is not TOML: {error}") from None
    values: dict[str, Any] = {}
    for table, entries in tables.items():
        if table not in _KEYS or not isinstance(entries, Mapping):
            raise ConfigError(f"its key {table!r} must be one of the tables {', '.join(_KEYS)}")
        for key, value in entries.items():
            if key not in _KEYS[table]:
                raise ConfigError(f"[{table}] has the unknown key {key!r}; known keys: {', '.join(_KEYS[table])}")
            is_valid, expected = _KEYS[table][key]
            if not is_valid(value):
                raise ConfigError(f"{key} is {value!r}; it must be {expected}")
            values[key] = tuple(value) if key == "hosts" else str(value)
    return OrganisationPolicy(**values)


def _are_hosts(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(host, str) and "://" not in host and host_and_port(host.removeprefix("*."))[0] != ""
        for host in value
    )


def _is_budget(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool) and value > 0)


_KEYS: Mapping[str, Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "models": {"hosts": (_are_hosts, "a list such as ['api.openai.com', '*.example.org']")},
    "code": {
        "sandbox": (SANDBOXES.__contains__, f"one of {', '.join(SANDBOXES)}"),
        "confirm": (CONFIRMS.__contains__, f"one of {', '.join(CONFIRMS[::-1])}"),
    },
    "cells": {"budget": (_is_budget, "dollars (5.0) or tokens ('20000 tokens')")},
}
