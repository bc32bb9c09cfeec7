"""The secrets that outputs and requests must not contain: each is replaced by a name.

They are the keys of models that this process uses, except short ones, keys in the environment, and keys and passwords
that are typed in source code. Finding them by their form is a rail, not a wall.
"""

import re
from collections.abc import Mapping

SECRET_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASS|PW|CREDENTIAL|AUTH|BEARER|HEADER|PRIVATE|COOKIE|SIGNATURE|WEBHOOK|(?:^|_)(?:PAT|DSN)(?:_|$)"
)
# Does not match words and paths, which could be part of ordinary output.
_LIKE_KEY = re.compile(r"(?![/~.]|\w+://)(?=.*\d)(?=.*[A-Za-z])\S{16,}")
# A name, and a value in quotes or after `%env`.
_ASSIGNED = re.compile(r"""(?<!\w)(\w{1,80})["'\])]*\s*[=:,]\s*["']?([^\s"']+)""")
# The keys of OpenAI, Anthropic, GitHub, GitLab, Slack, AWS, Google and Hugging Face.
_KNOWN_KEY = re.compile(r"\b(?:(?:sk|ghp|gho|github_pat|glpat|xox[abp]|hf)[-_]|AKIA|AIza)[\w-]{16,}")
_PASSWORD_IN_ADDRESS = re.compile(r"://[^\s/:@\"']*:([^\s/@\"']{6,})@")

_MIN_LENGTH = 8
"""Many local model servers accept any text as a key, so a short key is often no secret."""

_keys: dict[str, str] = {}


def add(key: str | None) -> None:
    if key and len(key) >= _MIN_LENGTH:
        _keys[key] = "a key of a model"


def keys() -> dict[str, str]:
    """Maps each key to the name that replaces it in outputs."""
    return dict(_keys)


def secret_values(environ: Mapping[str, str]) -> dict[str, str]:
    """Maps each value that looks like a key to the variable's name; the caller hides these values in output."""
    return {
        value: name
        for name, value in environ.items()
        if SECRET_NAME.search(name.upper()) and _LIKE_KEY.fullmatch(value)
    }


def typed_secrets(text: str) -> dict[str, str]:
    """Maps each value in source code that looks like a key or a password to a name for it."""
    assigned = {value: name for name, value in _ASSIGNED.findall(text) if SECRET_NAME.search(name.upper())}
    keys = {value: name for value, name in assigned.items() if _LIKE_KEY.fullmatch(value)}
    passwords = dict.fromkeys(_PASSWORD_IN_ADDRESS.findall(text), "a password")
    return {**dict.fromkeys(_KNOWN_KEY.findall(text), "a key"), **passwords, **keys}
