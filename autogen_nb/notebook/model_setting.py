"""Selects the default model of cells: the answers of the model form apply until a later setting replaces them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from autogen_nb.models.config import model_connection
from autogen_nb.models.config.address import server_of, shown_url, without_login
from autogen_nb.models.config.config_list import LIST
from autogen_nb.models.config.model_connection import ModelConnection
from autogen_nb.models.config.providers import OPENAI
from autogen_nb.settings import Settings

_MODEL = "AUTOGEN_NB_MODEL"
_CONFIG = "%config AutogenMagics.model"
_FORM = "the model form"
_NOT_SET = "nothing is set"
_VISIBLE_KEY_CHARACTERS = 4
_MIN_KEY_LENGTH = 20


class ModelSetting:
    """The answers of the model form, if any; otherwise, the environment and `%config`."""

    def __init__(self, defaults: Settings) -> None:
        self._defaults = defaults
        self._known: dict[str, str] = {}
        self.form_connection: ModelConnection | None = None
        self._failure: tuple[Any, str] = None, ""

    def use_form(self, connection: ModelConnection, environ: Mapping[str, str]) -> None:
        self.form_connection, self._known = connection, self._values(environ)

    def forget(self) -> None:
        self.form_connection, self._known = None, {}

    def record_failure(self, spec: Any, error: str) -> None:
        self._failure = spec, error

    def forget_failure(self) -> None:
        self._failure = None, ""

    def failure_of(self, spec: Any) -> str:
        """Returns the error of the last request to the form's server, if it had this model and key; otherwise ""."""
        return self._failure[1] if spec is not None and spec == self._failure[0] else ""

    def drop_if_replaced(self, environ: Mapping[str, str]) -> str:
        """Forgets the form, or the form's model, if a later setting replaces it; returns a notice, or ""."""
        values = self._values(environ)
        later = [name for name, value in values.items() if value and value != self._known.get(name)]
        if self.form_connection is None or not later:
            return ""
        if names := [name for name in later if name in model_connection.VARIABLES]:
            self.forget()
            what = ", ".join(f"`{name}`" for name in names)
            return f"Set after the model form was filled in: {what}. The environment now selects the server."
        self.use_form(replace(self.form_connection, model=values[later[-1]]), environ)
        return ""

    def choose(self, named: str | None, environ: Mapping[str, str]) -> Any | None:
        """Returns the model name or `llm_config` for a cell; None if no model is configured."""
        name = named or (self.form_connection.model if self.form_connection else self._default(environ))
        return model_connection.choose(name or None, self.form_connection, environ)

    def is_from_form(self, spec: Any) -> bool:
        """Returns whether the model's server and key come from the form."""
        form = self.form_connection
        if form is None or not isinstance(spec, Mapping) or "config_list" in spec:
            return False
        return (spec.get("base_url"), spec.get("api_key")) == (form.base_url, form.api_key)

    def proposal(self, named: str | None, environ: Mapping[str, str]) -> ModelConnection:
        spec = self.choose(named, environ)
        connection = model_connection.resolved(named or self._default(environ) if spec is None else spec, environ)
        if connection.model or server_of(connection.base_url) != server_of(OPENAI.url):
            return connection
        return replace(connection, model=OPENAI.default)

    def rows(self, environ: Mapping[str, str]) -> list[tuple[str, str, str]]:
        """Returns the settings with their values and sources; at most the last characters of a key are shown."""
        spec = self.choose(None, environ)
        if spec is None:
            return []
        connection = model_connection.resolved(spec, environ)
        if self.is_from_form(spec):
            model, address, key = _FORM, _FORM, _FORM
        elif isinstance(spec, Mapping):
            model, address, key = LIST, LIST, LIST
        else:
            model = _MODEL if environ.get(_MODEL) else _CONFIG if self._default(environ) else "the default with a key"
            provider = model_connection.destination({"model": spec}, environ)[0]
            address = provider.address_variable if environ.get(provider.address_variable) else "the default"
            key = provider.key(environ)[0]
        if not connection.base_url:
            return [("model", connection.model, model)]
        return [
            ("model", connection.model, model),
            ("address", without_login(shown_url(connection.base_url)), address),
            ("key", _shown_key(connection.api_key), key if connection.api_key else _NOT_SET),
        ]

    def _default(self, environ: Mapping[str, str]) -> str:
        return environ.get(_MODEL) or self._defaults.model

    def _values(self, environ: Mapping[str, str]) -> dict[str, str]:
        names = (*model_connection.VARIABLES, _MODEL)
        return {**{name: environ.get(name, "") for name in names}, _CONFIG: self._defaults.model}


def _shown_key(key: str | None) -> str:
    if not key:
        return "none"
    return f"ends in {key[-_VISIBLE_KEY_CHARACTERS:]}" if len(key) >= _MIN_KEY_LENGTH else "set"
