"""The keys of models that this process uses, except short ones; outputs of code show a name instead of a key."""

_MIN_LENGTH = 8
"""Many local model servers accept any text as a key, so a short key is often no secret."""

_keys: dict[str, str] = {}


def add(key: str | None) -> None:
    if key and len(key) >= _MIN_LENGTH:
        _keys[key] = "a key of a model"


def keys() -> dict[str, str]:
    """Maps each key to the name that replaces it in outputs."""
    return dict(_keys)
