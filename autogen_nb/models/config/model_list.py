"""The models that a person has set up, by name and host: what the settings say, with no server asked."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autogen_nb.models.config import model_connection
from autogen_nb.models.config.config_list import LIST, found


@dataclass(frozen=True, slots=True)
class ModelList:
    """A model.

    Parameters
    ----------
    name
        What ``-m`` takes; it may be empty where an entry has none.
    hosts
        Where requests go; empty for a model that asks no host.
    source
        What names it, for a person.
    """

    name: str
    hosts: tuple[str, ...]
    source: str


def taken(named: str, given: model_connection.ModelConnection | None, environ: Mapping[str, str]) -> ModelList | None:
    """The model that a cell takes which names no other; None where nothing is configured.

    Raises
    ------
    ConfigError
        When the list of models cannot be read.
    """
    chosen = model_connection.choose(named or None, given, environ)
    if chosen is None:
        return None
    return ModelList(_named(chosen), model_connection.hosts(chosen, environ), "the one that a cell takes")


def listed(environ: Mapping[str, str]) -> Iterator[ModelList]:
    """The models of OAI_CONFIG_LIST, in its order.

    Raises
    ------
    ConfigError
        When it cannot be read.
    """
    for entry in found(LIST, environ, Path()) or []:
        yield ModelList(
            str(entry.get("model") or ""), model_connection.hosts({"config_list": [entry]}, environ), f"in {LIST}"
        )


def _named(chosen: Any) -> str:
    if isinstance(chosen, str):
        return chosen
    first = chosen.get("config_list", [chosen])[0]
    return str(first.get("model") or "")
