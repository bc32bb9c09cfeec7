"""The last answers of the model form, for this person's notebooks.

1. The file has the address and the model. A key is only in the system's keyring, and only if the person asked for it.
2. The file also tells which variables were set, and the values of those without secrets, so that a variable that is
   set later takes precedence over the form.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import platformdirs

from autogen_nb.errors import ConfigError
from autogen_nb.models.config.address import login_of, shown_url
from autogen_nb.models.config.model_connection import ModelConnection
from autogen_nb.trusted import owned_files

_SERVICE = "autogen_nb"
_SECRET = ("_KEY", "_LIST", "_TOKEN")
_SET = "set"


def path() -> Path:
    return platformdirs.user_config_path("autogen_nb", appauthor=False) / "model.json"


def keyring() -> ModuleType | None:
    """Returns the package `keyring` if it is installed and has a place for keys."""
    try:
        import keyring
        from keyring.backends import fail, null
    except ImportError:
        return None
    return None if isinstance(keyring.get_keyring(), fail.Keyring | null.Keyring) else keyring


def save(connection: ModelConnection, variables: Mapping[str, str]) -> None:
    """Remembers a connection; raises ConfigError if that fails."""
    url = shown_url(connection.base_url or "")
    secret = connection.api_key or login_of(connection.base_url or "")
    content = {
        "base_url": url,
        "model": connection.model,
        "key": "keyring" if connection.keep_key and connection.api_key else "form" if secret else "none",
        "variables": _without_secrets(variables),
    }
    try:
        if content["key"] == "keyring" and (store := keyring()):
            store.set_password(_SERVICE, url, connection.api_key)
        path().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        owned_files.write(path(), json.dumps(content, indent=1) + "\n")
    # A keyring raises errors of its own, such as for a person who does not unlock it.
    except Exception as error:
        raise ConfigError(f"The model form is not remembered for other notebooks: {error}.") from error


def load(variables: Mapping[str, str]) -> tuple[ModelConnection, bool] | None:
    """Returns the remembered connection, and whether its key is missing; None if there is none, or a variable is newer.

    Raises ConfigError if the file cannot be used.
    """
    text = owned_files.read(path(), frozenset({os.geteuid()}))
    if text is None:
        return None
    try:
        content: Any = json.loads(text)
        url, model, kept = (str(content[name]) for name in ("base_url", "model", "key"))
        known = dict(content["variables"])
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ConfigError(f"{str(path())!r} is not valid; `%autogen model forget` removes it") from None
    if any(value != known.get(name) for name, value in _without_secrets(variables).items() if value):
        return None
    key = _stored_key(url) if kept == "keyring" else None
    return ModelConnection(model, key, url), kept != "none" and key is None


def forget() -> None:
    """Removes the remembered connection, and its key from the keyring."""
    try:
        url = str(json.loads(path().read_text(encoding="utf-8"))["base_url"])
        if _stored_key(url) and (store := keyring()):
            store.delete_password(_SERVICE, url)
    except (OSError, ValueError, TypeError, KeyError):
        pass
    path().unlink(missing_ok=True)


def _stored_key(url: str) -> str | None:
    store = keyring()
    try:
        return store.get_password(_SERVICE, url) if store else None
    # A locked keyring is as good as none: the form asks for the key.
    except Exception:  # noqa: BLE001  # see above
        return None


def _without_secrets(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: value and _SET if name.endswith(_SECRET) else value for name, value in variables.items()}
