"""Normalises paths, hosts, commands and packages for comparison, without reading the disk."""

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
"""Shell syntax; a command line with such a character may start several programs."""


def absolute(path: str, *, folder: str = "", home: str = "") -> str | None:
    """The absolute path, with a trailing ``/`` if `path` has one.

    None if the path is relative to an unknown folder, or if ``..`` may follow a link.
    """
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
    """True if `path` is `top`, or a path inside `top` without hidden names below `top`."""
    whole = absolute(path)
    if whole is None:
        return False
    own, parts = ([part for part in path.split("/") if part] for path in (top, whole))
    return parts[: len(own)] == own and not any(part.startswith(".") for part in parts[len(own) :])


def address(text: str) -> tuple[str, str]:
    """The host in lower case and the port; the host of a store such as S3 includes the scheme: ``s3://bucket``.

    The host is "" if two programs could read different hosts in the address.
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
    """True if `text` is at the host `pattern`, or at a subdomain if `pattern` begins with ``*.``."""
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
    # A first word such as `NAME=value` sets an environment variable, and names no program.
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
