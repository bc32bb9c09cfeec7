"""Where requests go, and with which key: what was given, completed from the environment when it is needed.

A key from the environment goes where the environment says, or to OpenAI: never to a server that was named in
code, which it is not meant for.
"""

import os
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from typing import Literal
from urllib.parse import urlsplit

from autogen_nb.errors import ConfigError

PLACEHOLDER = "no-key"
"""Sent as the key to a server that needs none; the protocol knows no request without one."""

OPENAI_URL = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class Account:
    """A server's address and the key for it, None where the environment is to say."""

    api_type: Literal["openai", "azure"]
    url: str | None
    key: str | None = field(repr=False)
    api_version: str | None = None

    @property
    def secret(self) -> str:
        """The key, "" where there is none but the placeholder."""
        return "" if self.key in (None, PLACEHOLDER) else self.key or ""

    def complete(self, model: str) -> "Account":
        """The account with all that a request needs; `model` is for the message.

        Raises
        ------
        ConfigError
            When the environment does not say what was not given.
        """
        return self._azure(model) if self.api_type == "azure" else self._openai(model)

    def _openai(self, model: str) -> "Account":
        if self.url:
            return replace(self, key=self.key or PLACEHOLDER)
        key = self.key or checked_key(os.environ.get("OPENAI_API_KEY"), "OPENAI_API_KEY")
        url = checked_url(os.environ.get("OPENAI_BASE_URL") or None, "OPENAI_BASE_URL")
        if not url and not key:
            raise ConfigError(
                f"there is no key for the model {model!r}: set OPENAI_API_KEY or give api_key, name a server of "
                "your own with base_url (it needs no key), or choose the model 'offline'"
            )
        return replace(self, url=url or OPENAI_URL, key=key or PLACEHOLDER)

    def _azure(self, model: str) -> "Account":
        url = self.url or checked_url(os.environ.get("AZURE_OPENAI_ENDPOINT") or None, "AZURE_OPENAI_ENDPOINT")
        key = self.key or checked_key(os.environ.get("AZURE_OPENAI_API_KEY"), "AZURE_OPENAI_API_KEY")
        version = self.api_version or os.environ.get("OPENAI_API_VERSION")
        for value, ways in (
            (url, "base_url (or AZURE_OPENAI_ENDPOINT)"),
            (key, "api_key (or AZURE_OPENAI_API_KEY)"),
            (version, "api_version (or OPENAI_API_VERSION)"),
        ):
            if not value:
                raise ConfigError(f"the Azure model {model!r} needs {ways}")
        return Account("azure", url, key, version)


def checked_url(url: str | None, what: str) -> str | None:
    """The address, if it is one; `what` names it in the error."""
    if url is None:
        return None
    try:
        parts = urlsplit(url if isinstance(url, str) else "")
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"{what} is {url!r}; give an address such as 'http://localhost:11434/v1'")
    return url


def checked_key(key: str | None, what: str) -> str | None:
    """The key without spaces around it, if it can be one; `what` names it in the error."""
    if key is not None and not isinstance(key, str):
        raise ConfigError(f"{what} is text, not {type(key).__name__}")
    stripped = key.strip() if key else ""
    # The value is a secret: the message does not quote it.
    if not stripped.isascii() or not stripped.isprintable():
        raise ConfigError(f"{what} holds characters that no key has; was something else pasted?")
    return stripped or None


def is_loopback(url: str) -> bool:
    """Whether the address is this machine's own."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
