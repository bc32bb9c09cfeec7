"""Normalises paths, hosts, commands and packages, so that they can be compared.

The functions do not read the disk. A path in which ``..`` may follow a link becomes None.
"""

import re
import shlex
from posixpath import join, normpath

_WEB = frozenset({"http", "https", "ws", "wss", "ftp"})
_HOST = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*|[0-9a-f:.]*:[0-9a-f:.]*")
_PORT = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]]+):(\d{1,5})")
_LONGEST_HOST = 300
_REQUIREMENT = re.compile(
    r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(\[[\w,. -]*\])?((===?|[<>!~]=|[<>])[\w.*+!,<>=~]+)?"
)
_SHELL = frozenset(";|&<>()$`\\\n\r{}*?[]!#~")
"""Shell syntax: a command line with one of these characters may start several programs."""


def absolute(path: str, *, folder: str = "", home: str = "") -> str | None:
    """The absolute path, with its trailing ``/``; None if it depends on the disk or on an unknown folder."""
    if path == "~" or path.startswith("~/"):
        path = home + path[1:] if home else ""
    elif folder and path and not path.startswith("/"):
        path = _resolve_leading_dots(folder, path)
    if not path.startswith("/") or ".." in path.split("/"):
        return None
    # `normpath` keeps two slashes at the beginning.
    whole = "/" + normpath(path).lstrip("/")
    return f"{whole}/" if path.endswith("/") and whole != "/" else whole


def below(top: str, path: str) -> bool:
    """True if `path` is `top`, or is below `top` and not in a hidden folder or file."""
    whole = absolute(path)
    if whole is None:
        return False
    own, parts = ([part for part in path.split("/") if part] for path in (top, whole))
    return parts[: len(own)] == own and not any(part.startswith(".") for part in parts[len(own) :])


def address(text: str) -> tuple[str, str]:
    """The lower-case host and the port, or ``scheme://host`` for stores such as ``s3://``.

    The host is "" if different programs could read the address differently.
    """
    scheme, mark, rest = text.strip().lower().rpartition("://")
    if "\\" in rest or not rest.isprintable() or " " in rest or "://" in scheme:
        return "", ""
    if mark:
        rest = re.split(r"[/?#]", rest, maxsplit=1)[0].rpartition("@")[2]
    if len(rest) > _LONGEST_HOST:
        return "", ""
    match = _PORT.fullmatch(rest)
    host, port = (match[1], match[2]) if match else (rest, "")
    host = host.strip("[]").rstrip(".")
    if not _HOST.fullmatch(host):
        return "", ""
    return (f"{scheme}://{host}", port) if mark and scheme not in _WEB else (host, port)


def same_host(pattern: str, text: str) -> bool:
    """True if the text names the host of the pattern, or a subdomain if the pattern begins with ``*.``."""
    star = pattern.startswith("*.")
    pattern_host, pattern_port = address(pattern.removeprefix("*."))
    host, port = address(text)
    if not host or (pattern_port and pattern_port != port):
        return False
    return host.endswith(f".{pattern_host}") if star else host == pattern_host


def program(line: str) -> str | None:
    if _SHELL & set(line):
        return None
    try:
        words = shlex.split(line)
    except ValueError:
        return None
    # In `NAME=value program`, the first word sets an environment variable.
    return words[0] if words and "=" not in words[0] else None


def package(requirement: str) -> str | None:
    match = _REQUIREMENT.fullmatch(requirement.strip())
    return re.sub(r"[-_.]+", "-", match[1]).lower() if match else None


def _resolve_leading_dots(folder: str, path: str) -> str:
    parts = path.split("/")
    above = normpath(folder)
    while parts and parts[0] in ("..", ".", ""):
        above = above.rpartition("/")[0] if parts.pop(0) == ".." else above
    return join(above or "/", *parts)
