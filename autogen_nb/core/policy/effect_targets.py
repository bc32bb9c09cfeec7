"""What an effect is done to, brought into one form: paths, hosts, commands and packages that can be compared.

No disk is asked. Where only a disk could tell what is meant, the answer is that it is not known.
"""

import re
import shlex
from posixpath import join, normpath

_WEB = frozenset({"http", "https", "ws", "wss", "ftp"})
_HOST = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*|[0-9a-f:.]*:[0-9a-f:.]*")
_PORT = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]]+):(\d{1,5})")
_LONGEST_HOST = 300
"""Characters; no name in the system of domain names is longer."""
_REQUIREMENT = re.compile(
    r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(\[[\w,. -]*\])?((===?|[<>!~]=|[<>])[\w.*+!,<>=~]+)?"
)
_SHELL = frozenset(";|&<>()$`\\\n\r{}*?[]!#~")
"""What makes more of a command line than one program with its arguments."""


def absolute(path: str, *, folder: str = "", home: str = "") -> str | None:
    """The path from the root on, with a ``/`` at its end kept; None where it is not known.

    What climbs at the beginning climbs from the folder; behind a name that may be a link to anywhere, ``..`` is
    not read.
    """
    if path == "~" or path.startswith("~/"):
        path = home + path[1:] if home else ""
    elif folder and path and not path.startswith("/"):
        path = _climbed(folder, path)
    if not path.startswith("/") or ".." in path.split("/"):
        return None
    # POSIX, and normpath with it, keeps two slashes at the beginning.
    whole = "/" + normpath(path).lstrip("/")
    return f"{whole}/" if path.endswith("/") and whole != "/" else whole


def below(top: str, path: str) -> bool:
    """Whether an absolute path is `top` itself or lies below it, and is not hidden there."""
    whole = absolute(path)
    if whole is None:
        return False
    own, parts = ([part for part in path.split("/") if part] for path in (top, whole))
    return parts[: len(own)] == own and not any(part.startswith(".") for part in parts[len(own) :])


def address(text: str) -> tuple[str, str]:
    """The host in lower case, and the port where one is named; of a store such as ``s3://`` the two together.

    The host is "" where different programs could read different ones.
    """
    scheme, mark, rest = text.strip().lower().rpartition("://")
    if "\\" in rest or not rest.isprintable() or " " in rest or "://" in scheme:
        return "", ""
    if mark:
        rest = re.split(r"[/?#]", rest, maxsplit=1)[0].rpartition("@")[2]
    if len(rest) > _LONGEST_HOST:
        return "", ""
    found = _PORT.fullmatch(rest)
    host, port = (found[1], found[2]) if found else (rest, "")
    host = host.strip("[]").rstrip(".")
    if not _HOST.fullmatch(host):
        return "", ""
    return (f"{scheme}://{host}", port) if mark and scheme not in _WEB else (host, port)


def same_host(pattern: str, text: str) -> bool:
    """Whether the text names a host that the pattern means: this one, or with ``*.`` those below a domain."""
    star = pattern.startswith("*.")
    meant, wanted = address(pattern.removeprefix("*."))
    host, port = address(text)
    if not host or (wanted and wanted != port):
        return False
    return host.endswith(f".{meant}") if star else host == meant


def program(line: str) -> str | None:
    """The one program that a command line starts; None where it may start more."""
    if _SHELL & set(line):
        return None
    try:
        words = shlex.split(line)
    except ValueError:
        return None
    # What has a "=" would be set for the program behind it.
    return words[0] if words and "=" not in words[0] else None


def package(requirement: str) -> str | None:
    """The name of the one package that a requirement names, in its usual form; None where it is anything else."""
    found = _REQUIREMENT.fullmatch(requirement.strip())
    return re.sub(r"[-_.]+", "-", found[1]).lower() if found else None


def _climbed(folder: str, path: str) -> str:
    parts = path.split("/")
    above = normpath(folder)
    while parts and parts[0] in ("..", ".", ""):
        above = above.rpartition("/")[0] if parts.pop(0) == ".." else above
    return join(above or "/", *parts)
