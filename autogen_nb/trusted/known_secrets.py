"""The keys of models that this process uses; the output of code never shows them."""

_MIN_LENGTH = 8
"""A shorter key is often no secret, because many servers on this machine accept any text as a key."""

_keys: dict[str, str] = {}


def add(key: str | None) -> None:
    if key and len(key) >= _MIN_LENGTH:
        _keys[key] = "a key of a model"


def keys() -> dict[str, str]:
    """The name of each key."""
    return dict(_keys)
