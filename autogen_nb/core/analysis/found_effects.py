"""What code was found to do, as acts: which kind a path or an address makes it, and its words for a person."""

import re
from urllib.parse import urlsplit

from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.effects import Effect

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{1,20})://")
_NULL = frozenset({"/dev/null", "nul", "/dev/stdout", "/dev/stderr"})
_SHOWN = 80
_LATER = "whose name is not known before it runs"


def reads(path: str | None, scope: PathScope) -> tuple[Effect, ...]:
    """What reading a file is; None stands for a path that cannot be told."""
    if path is None:
        return (Effect("read_private", "", f"reads a file {_LATER}"),)
    if _URL.match(path.rpartition("::")[2]) and not path.lower().startswith("file:"):
        return connects(path.rpartition("::")[2])
    path = local(path)
    if path.lower() in _NULL:
        return ()
    whose = scope.where(path)
    if whose == "private":
        return (Effect("read_private", path, f"reads {one_line(path)}, which may hold a secret"),)
    return (Effect("read_private" if whose == "elsewhere" else "read", path, f"reads {one_line(path)}"),)


def writes(path: str | None, scope: PathScope) -> tuple[Effect, ...]:
    """What writing a file is; None stands for a path that cannot be told."""
    if path is None:
        return (Effect("write", "", f"writes a file {_LATER}"),)
    if _URL.match(path.rpartition("::")[2]) and not path.lower().startswith("file:"):
        return connects(path.rpartition("::")[2])
    path = local(path)
    if path.lower() in _NULL:
        return ()
    own = scope.where(path) == "own"
    return (Effect("write_own" if own else "write", path, f"writes {one_line(path)}"),)


def deletes(path: str | None, _: PathScope) -> tuple[Effect, ...]:
    """What deleting, moving or renaming is; None stands for a path that cannot be told."""
    if path is None:
        return (Effect("delete", "", f"deletes or moves a file {_LATER}"),)
    return (Effect("delete", path, f"deletes or moves {one_line(path)}"),)


def connects(address: str | None) -> tuple[Effect, ...]:
    """What a connection to an address or a host is; None stands for one that cannot be told."""
    name = host(address or "")
    return (Effect("network", name, f"connects to {one_line(name)}" if name else "uses the network"),)


def runs(command: str | None) -> tuple[Effect, ...]:
    """What starting a program is; None stands for one that cannot be told."""
    text = " ".join((command or "").split())
    return (Effect("process", text, f"runs {one_line(text)}" if text else "starts a program"),)


def installs(package: str | None) -> tuple[Effect, ...]:
    """What installing a package is; None stands for one that cannot be told."""
    return (Effect("install", package or "", f"installs {one_line(package or 'packages')}"),)


def environment(name: str | None, words: str = "") -> tuple[Effect, ...]:
    """What reading or changing the environment, or the interpreter itself, is."""
    words = words or (f"uses the environment variable {one_line(name)}" if name else "uses environment variables")
    return (Effect("environment", name or "", words),)


def unknown(words: str) -> tuple[Effect, ...]:
    """What cannot be read is."""
    return (Effect("unknown", "", words),)


def is_url(text: str) -> bool:
    """Whether a text is an address that is not a file's."""
    return bool(_URL.match(text)) and not text.lower().startswith(("file:", "sqlite", "duckdb:"))


def host(address: str) -> str:
    """The host, or the bucket, of an address; the text itself where it is no address."""
    if not _URL.match(address):
        return address.rsplit("@", maxsplit=1)[-1].split(":", maxsplit=1)[0].split("/", maxsplit=1)[0]
    try:
        name = urlsplit(address).hostname or ""
    except ValueError:
        return ""
    return "" if "*" in name else name


def local(path: str) -> str:
    """The path of a ``file:`` address; another text as it is."""
    return re.sub(r"(?i)^file:(//(localhost)?(?=/))?", "", path)


def one_line(text: str) -> str:
    """The text on one line, cut where it is long, without what would make it read otherwise than it is."""
    plain = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
    return plain if len(plain) <= _SHOWN else f"{plain[: _SHOWN - 1]}…"
