"""Selects the default model of cells: the answers of the model form apply until a later setting replaces them.

The answers are remembered for this person's other notebooks:

1. The file has the address and the model. A key is only in the system's keyring, and only if the person asked for it;
   otherwise, the form asks for it again, with the rest filled in.
2. The file also tells which variables were set, and the values of those without secrets, so that a variable that is
   set later takes precedence over the form.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import platformdirs

from autogen_nb.errors import ConfigError
from autogen_nb.models.config import model_selection
from autogen_nb.models.config.config_list import LIST
from autogen_nb.models.config.model_selection import MODEL, ModelConnection
from autogen_nb.models.config.providers import OPENAI, host_of, login_of, server_of, shown_url, without_login
from autogen_nb.settings import Settings
from autogen_nb.trusted import owned_files

_CONFIG = "%config AutogenMagics.model"
_FORM = "the model form"
_CHANGE = "`%autogen model` shows it, `%autogen model forget` forgets it"
_NOT_SET = "nothing is set"
_VISIBLE_KEY_CHARACTERS = 4
_MIN_KEY_LENGTH = 20


class ModelSetting:
    """The answers of the model form, if any; otherwise, the environment and `%config`."""

    def __init__(self, defaults: Settings) -> None:
        self._defaults = defaults
        self._known: dict[str, str] = {}
        self.form_connection: ModelConnection | None = None
        self.without_key: ModelConnection | None = None
        self._is_recalled = False
        # The spec of the last request that failed, and its error.
        self.failure: tuple[Any, str] = None, ""

    def recall(self, environ: Mapping[str, str]) -> str:
        """Reads the remembered form, once; returns a notice, or ""."""
        if self._is_recalled or self.form_connection is not None:
            return ""
        self._is_recalled = True
        try:
            remembered = _load(self._values(environ))
        except ConfigError as error:
            return str(error)
        if remembered is None:
            return ""
        connection, lacks_key = remembered
        if lacks_key:
            self.without_key = connection
            return ""
        self._use(connection, environ)
        host = host_of(connection.base_url)
        return f"The model form of an earlier notebook selects `{connection.model}` at `{host}`; {_CHANGE}."

    def use_form(self, connection: ModelConnection, environ: Mapping[str, str]) -> str:
        """Uses and remembers the form's answers; returns a notice, or ""."""
        self._use(connection, environ)
        url = shown_url(connection.base_url or "")
        secret = connection.api_key or login_of(connection.base_url or "")
        content = {
            "base_url": url,
            "model": connection.model,
            "key": "keyring" if connection.keep_key and connection.api_key else "form" if secret else "none",
            "variables": _without_secrets(self._known),
        }
        try:
            if content["key"] == "keyring" and (store := keyring()):
                store.set_password(_SERVICE, url, connection.api_key)
            form_path().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            owned_files.write(form_path(), json.dumps(content, indent=1) + "\n")
        # A keyring raises errors of its own, such as for a person who does not unlock it.
        except Exception as error:  # noqa: BLE001  # see above
            return f"The model form is not remembered for other notebooks: {error}."
        return ""

    def _use(self, connection: ModelConnection, environ: Mapping[str, str]) -> None:
        self.form_connection, self.without_key, self._known = connection, None, self._values(environ)

    def forget(self) -> None:
        """Forgets the form's answers in all notebooks, and removes their key from the keyring."""
        self._drop()
        try:
            url = str(json.loads(form_path().read_text(encoding="utf-8"))["base_url"])
            if _stored_key(url) and (store := keyring()):
                store.delete_password(_SERVICE, url)
        except (OSError, ValueError, TypeError, KeyError):
            pass
        form_path().unlink(missing_ok=True)

    def _drop(self) -> None:
        self.form_connection, self.without_key, self._known = None, None, {}

    def failure_of(self, spec: Any) -> str:
        """Returns the error of the last request to the form's server, if it had this model and key; otherwise ""."""
        return self.failure[1] if spec is not None and spec == self.failure[0] else ""

    def drop_if_replaced(self, environ: Mapping[str, str]) -> str:
        """Forgets the form, or the form's model, if a later setting replaces it; returns a notice, or ""."""
        values = self._values(environ)
        later = [name for name, value in values.items() if value and value != self._known.get(name)]
        if self.form_connection is None or not later:
            return ""
        if names := [name for name in later if name in model_selection.VARIABLES]:
            self._drop()
            what = ", ".join(f"`{name}`" for name in names)
            return f"Set after the model form was filled in: {what}. The environment now selects the server."
        self._use(replace(self.form_connection, model=values[later[-1]]), environ)
        return ""

    def choose(self, named: str | None, environ: Mapping[str, str]) -> Any | None:
        """Returns the model name or `llm_config` for a cell; None if no model is configured."""
        entered = self.form_connection or self.without_key
        spec = model_selection.choose(named, entered, environ, self._defaults.model)
        return None if self.without_key and self._is_at(self.without_key, spec) else spec

    def is_from_form(self, spec: Any) -> bool:
        """Returns whether the model's server and key come from the form."""
        return self.form_connection is not None and self._is_at(self.form_connection, spec)

    def _is_at(self, connection: ModelConnection, spec: Any) -> bool:
        if not isinstance(spec, Mapping) or "config_list" in spec:
            return False
        return (spec.get("base_url"), spec.get("api_key")) == (connection.base_url, connection.api_key)

    def proposal(self, named: str | None, environ: Mapping[str, str]) -> ModelConnection:
        if self.without_key is not None:
            return replace(self.without_key, model=named or self.without_key.model)
        spec = self.choose(named, environ)
        connection = model_selection.resolved(named or self._default(environ) if spec is None else spec, environ)
        if connection.model or server_of(connection.base_url) != server_of(OPENAI.url):
            return connection
        return replace(connection, model=OPENAI.default)

    def rows(self, environ: Mapping[str, str]) -> list[tuple[str, str, str]]:
        """Returns the settings with their values and sources; at most the last characters of a key are shown."""
        spec = self.choose(None, environ)
        if spec is None:
            return []
        connection = model_selection.resolved(spec, environ)
        if self.is_from_form(spec):
            model, address, key = _FORM, _FORM, _FORM
        elif isinstance(spec, Mapping):
            model, address, key = LIST, LIST, LIST
        else:
            model = MODEL if environ.get(MODEL) else _CONFIG if self._default(environ) else "the default with a key"
            provider = model_selection.destination({"model": spec}, environ)[0]
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
        return environ.get(MODEL) or self._defaults.model

    def _values(self, environ: Mapping[str, str]) -> dict[str, str]:
        names = (*model_selection.VARIABLES, MODEL)
        return {**{name: environ.get(name, "") for name in names}, _CONFIG: self._defaults.model}


def _shown_key(key: str | None) -> str:
    if not key:
        return "none"
    return f"ends in {key[-_VISIBLE_KEY_CHARACTERS:]}" if len(key) >= _MIN_KEY_LENGTH else "set"


_SERVICE = "autogen_nb"
_SECRET = ("_KEY", "_LIST", "_TOKEN")
_SET = "set"


def form_path() -> Path:
    return platformdirs.user_config_path("autogen_nb", appauthor=False) / "model.json"


def keyring() -> ModuleType | None:
    """Returns the package `keyring` if it is installed and has a place for keys."""
    try:
        import keyring
        from keyring.backends import fail, null
    except ImportError:
        return None
    return None if isinstance(keyring.get_keyring(), fail.Keyring | null.Keyring) else keyring


def _load(variables: Mapping[str, str]) -> tuple[ModelConnection, bool] | None:
    """Returns the remembered connection, and whether its key is missing; None if there is none, or a variable is newer.

    Raises ConfigError if the file cannot be used.
    """
    text = owned_files.read(form_path(), frozenset({os.geteuid()}))
    if text is None:
        return None
    try:
        content: Any = json.loads(text)
        url, model, kept = (str(content[name]) for name in ("base_url", "model", "key"))
        known = dict(content["variables"])
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ConfigError(f"{str(form_path())!r} is not valid; `%autogen model forget` removes it") from None
    if any(value != known.get(name) for name, value in _without_secrets(variables).items() if value):
        return None
    key = _stored_key(url) if kept == "keyring" else None
    return ModelConnection(model, key, url), kept != "none" and key is None


def _stored_key(url: str) -> str | None:
    store = keyring()
    try:
        return store.get_password(_SERVICE, url) if store else None
    # A locked keyring is as good as none: the form asks for the key.
    except Exception:  # noqa: BLE001  # see above
        return None


def _without_secrets(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: value and _SET if name.endswith(_SECRET) else value for name, value in variables.items()}
