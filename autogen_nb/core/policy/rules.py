"""The user's saved rules: effects that need no question in any code.

1. A rule names a kind of effect and optionally a path, host, command, package or variable, which are normalised for
   comparison, without reading the disk.
2. Only a rule without a target covers effects with an unknown target.
3. A path covers everything below it, except hidden files and folders, and paths with ``..`` (they may follow a link).
4. A program's name covers the command lines that start only this program.
5. A server covers its tools; a tool with a digest is covered only as long as its definition is the same.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from posixpath import join, normpath

from autogen_nb.core.text.visible_text import visible
from autogen_nb.effects import HARMLESS, KINDS, PATHS, Effect, EffectKind
from autogen_nb.errors import ConfigError

_WEB = frozenset({"http", "https", "ws", "wss", "ftp"})
_HOST = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*|[0-9a-f:.]*:[0-9a-f:.]*")
_PORT = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]]+):(\d{1,5})")
_LONGEST_HOST = 300
_REQUIREMENT = re.compile(
    r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(\[[\w,. -]*\])?((===?|[<>!~]=|[<>])[\w.*+!,<>=~]+)?"
)
_SHELL = frozenset(";|&<>()$`\\\n\r{}*?[]!#~")
"""Shell syntax; a command line with such a character may start several programs."""


def absolute_path(path: str, *, folder: str = "", home: str = "") -> str | None:
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


def is_below(top: str, path: str) -> bool:
    """True if `path` is `top`, or a path inside `top` without hidden names below `top`."""
    whole = absolute_path(path)
    if whole is None:
        return False
    own, parts = ([part for part in path.split("/") if part] for path in (top, whole))
    return parts[: len(own)] == own and not any(part.startswith(".") for part in parts[len(own) :])


def host_and_port(text: str) -> tuple[str, str]:
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
    pattern_host, pattern_port = host_and_port(pattern.removeprefix("*."))
    host, port = host_and_port(text)
    if not host or (pattern_port and pattern_port != port):
        return False
    return host.endswith(f".{pattern_host}") if star else host == pattern_host


def program_of(line: str) -> str | None:
    if _SHELL & set(line):
        return None
    try:
        words = shlex.split(line)
    except ValueError:
        return None
    # A first word such as `NAME=value` sets an environment variable, and names no program.
    return words[0] if words and "=" not in words[0] else None


def package_of(requirement: str) -> str | None:
    match = _REQUIREMENT.fullmatch(requirement.strip())
    return re.sub(r"[-_.]+", "-", match[1]).lower() if match else None


def _resolve_leading_dots(folder: str, path: str) -> str:
    parts = path.split("/")
    above = normpath(folder)
    while parts and parts[0] in ("..", ".", ""):
        above = above.rpartition("/")[0] if parts.pop(0) == ".." else above
    return join(above or "/", *parts)


RULE_KINDS: tuple[EffectKind, ...] = tuple(kind for kind in KINDS if kind not in HARMLESS)

_ALIASES: Mapping[EffectKind, str] = {
    "read_private": "read",
    "delete": "remove move",
    "network": "host connect",
    "process": "command program run shell",
    "install": "package",
    "environment": "env variable",
}
ALIASES: Mapping[str, EffectKind] = {word: kind for kind, words in _ALIASES.items() for word in words.split()}

INTERPRETERS = frozenset(
    "awk bash busybox cmd dash doas env eval exec find fish gawk ipython jupyter ksh lua make nice node nohup npx "
    "osascript parallel perl php pipx powershell pwsh R Rscript ruby sh ssh strace sudo su tclsh time timeout uv uvx "
    "watch xargs zsh".split()
)
"""Programs that run other programs or code; questions do not propose to allow them with any arguments."""

_DESCRIPTIONS: Mapping[EffectKind, tuple[str, str]] = {
    "read_private": ("reading {}", "reading any file"),
    "write": ("writing {}", "writing any file"),
    "delete": ("deleting, moving or renaming {}", "deleting, moving or renaming any file"),
    "network": ("connections to {}", "connections to any host"),
    "process": ("running {}", "running any program"),
    "install": ("installing {}", "installing any package"),
    "environment": ("reading and changing {} in the environment", "reading and changing the environment"),
    "mcp": ("calls of {}", "calls of any tool of any MCP server"),
    "unknown": ("{}", "code that cannot be read"),
}
_HOME = re.compile(r"/(home|Users)/[^/]+$")
_SHORTEST = 2
"""The minimum depth of a proposed folder; ``/data`` and ``/home`` are too broad."""


@dataclass(frozen=True, slots=True)
class Rule:
    kind: EffectKind
    target: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.target}".strip()

    @property
    def words(self) -> str:
        some, every = _DESCRIPTIONS[self.kind]
        return f"always allow {some.format(self._named()) if self.target else every}"

    @property
    def warning(self) -> str:
        """What the rule allows in effect if its program runs other programs or code; "" for other rules."""
        is_broad = self.kind == "process" and " " not in self.target and _runs_code(self.target)
        return f"With it, {visible(self.target)} runs any program or code, with all effects, unasked." * is_broad

    def covers(self, effect: Effect) -> bool:
        """True if the rule covers the effect; a path in the effect must be absolute (see `with_absolute_path`)."""
        if effect.kind != self.kind:
            return False
        if not self.target:
            return True
        match self.kind:
            case "read_private" | "write" | "delete":
                return is_below(self.target, effect.target)
            case "network":
                return same_host(self.target, effect.target)
            case "process":
                return self.target in (effect.target.strip(), program_of(effect.target))
            case "install":
                return package_of(effect.target) == self.target
            case "mcp":
                return f"{effect.target} ".startswith(f"{self.target} ")
            case _:
                return effect.target == self.target

    def _named(self) -> str:
        shown = visible(self.target)
        if self.kind in PATHS and self.target.endswith("/"):
            return f"anything below {shown}"
        if self.kind == "network" and self.target.startswith("*."):
            return f"every host below {shown[2:]}"
        if self.kind == "process" and " " not in self.target:
            return f"{shown} with any arguments"
        if self.kind == "mcp":
            server, *tool = shown.split(" ", 2)
            version = f" as it is now ({tool[1]})" if tool[1:] else ""
            return f"{tool[0] if tool else 'all tools'} of the MCP server {server}{version}"
        return shown


def parse(text: str, *, folder: str = "", home: str = "") -> Rule:
    word, _, target = text.strip().partition(" ")
    kind = _kind(word)
    target = target.strip()
    if not target:
        return Rule(kind)
    if visible(target) != target or "\n" in target:
        raise ConfigError(f"the rule {text!r} contains invisible characters; write it without them")
    return Rule(kind, _target(kind, target, folder, home))


def with_absolute_path(effect: Effect, *, folder: str, home: str) -> Effect:
    if effect.kind not in PATHS:
        return effect
    return replace(effect, target=absolute_path(effect.target, folder=folder, home=home) or "")


def covering_rules(rules: Iterable[Rule], effects: Iterable[Effect]) -> tuple[Rule, ...] | None:
    """The rules that cover all effects that are not harmless; None if one of these effects is not covered."""
    known = tuple(rules)
    used: list[Rule] = []
    for effect in effects:
        if effect.harmless:
            continue
        rule = next((each for each in known if each.covers(effect)), None)
        if rule is None:
            return None
        used.append(rule)
    return tuple(dict.fromkeys(used))


def proposed_rules(effects: Iterable[Effect]) -> tuple[Rule, ...]:
    """The rules to propose in a question about the effects; for each effect, the narrowest rule comes first."""
    offered = (rule for effect in effects for rule in _offers(effect) if rule.covers(effect) and _parses_back(rule))
    return tuple(dict.fromkeys(offered))


def _parses_back(rule: Rule) -> bool:
    """False if the text of the rule parses as another rule, as for a file name that begins with a space."""
    try:
        return parse(str(rule)) == rule
    except ConfigError:
        return False


def _kind(word: str) -> EffectKind:
    name = word.lower()
    kind = ALIASES.get(name) or next((kind for kind in RULE_KINDS if kind == name), None)
    if kind is not None:
        return kind
    if name in HARMLESS:
        raise ConfigError(f"{word!r} needs no rule, because it never needs a question")
    raise ConfigError(
        f"a rule begins with a kind of effect ({', '.join(RULE_KINDS)}), and {word!r} is none of them; "
        "for example: network api.example.org"
    )


def _target(kind: EffectKind, target: str, folder: str, home: str) -> str:
    match kind:
        case "read_private" | "write" | "delete":
            valid, way = absolute_path(target, folder=folder, home=home), "give an absolute path without '..'"
        case "network":
            valid, way = _host(target), "name one host, as in: network api.example.org, or network *.example.org"
        case "install":
            valid, way = package_of(target), "name one package, as in: install polars"
        case "unknown":
            valid, way = None, "unreadable code has no target; write only 'unknown', which lets all such code run"
        case _:
            valid, way = target, ""
    if not valid:
        raise ConfigError(f"{target!r} is no valid target of a rule for {kind!r}: {way}")
    return valid


def _host(target: str) -> str | None:
    host, port = host_and_port(target.removeprefix("*."))
    if not host:
        return None
    name = f"[{host}]:{port}" if port and ":" in host and "//" not in host else f"{host}:{port}" if port else host
    return f"*.{name}" if target.startswith("*.") else name


def _offers(effect: Effect) -> Iterator[Rule]:
    match effect.kind:
        case "read_private" | "write" | "delete":
            names = _offered_paths(effect)
        case "network":
            names = iter((host_and_port(effect.target)[0],))
        case "process":
            names = _offered_commands(effect.target.strip())
        case "install":
            names = iter((package_of(effect.target) or "",))
        case "environment" | "mcp":
            names = iter((effect.target,))
        case _:
            return
    yield from (Rule(effect.kind, name) for name in names if name)


def _offered_paths(effect: Effect) -> Iterator[str]:
    path = absolute_path(effect.target)
    if path is None or path == "/":
        return
    yield path
    folder, _, name = path.rstrip("/").rpartition("/")
    # A rule for the folder is too broad for deletions, hidden files, home folders and folders near the root.
    if (
        effect.kind != "delete"
        and not name.startswith(".")
        and folder.count("/") >= _SHORTEST
        and not _HOME.match(folder)
    ):
        yield f"{folder}/"


def _offered_commands(line: str) -> Iterator[str]:
    name = program_of(line)
    # A rule with a single word would cover the program with any arguments.
    if line != name and " " in line:
        yield line
    if name is not None and not _runs_code(name):
        yield name


def _runs_code(program: str) -> bool:
    base = program.rpartition("/")[2]
    return base in INTERPRETERS or base.startswith(("python", "pypy", "perl", "ruby", "lua"))
