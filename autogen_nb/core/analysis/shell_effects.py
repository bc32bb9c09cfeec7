"""What shell code does, by a list of words: commands that only look or tell, and what others do."""

import posixpath
import re
from collections.abc import Generator, Iterator

from autogen_nb.core.analysis import found_effects
from autogen_nb.core.analysis.known_names import names
from autogen_nb.core.analysis.shell_parser import Command, commands, known
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.effects import Effect

_LOOKS = names("shell", "looks")
_TELLS = names("shell", "tells")
_TEXT_FIRST = names("shell", "text_first")
_WRITES = names("shell", "writes")
_COPIES = names("shell", "copies")
_VERSIONED = names("shell", "versioned")
_REMOTE = names("shell", "remote")
_BY_HOST = names("shell", "by_host")
_DELETES = names("shell", "deletes")
_NETWORK = names("shell", "network")
_INSTALLS = names("shell", "installs")
_LOOKING = names("shell", "looking")
_ENVIRONMENT = names("shell", "environment")
_PROGRAM = re.compile(r"-f.*|--file.*|.*(system\s*\(|getline|print[^;}]*[>|]|[>|]\s*[\"']|ENVIRON).*", re.DOTALL)
_DANGEROUS = {
    "find": re.compile(r"-(exec|execdir|ok|okdir|delete|fprint\w*|fls)"),
    "sed": re.compile(
        r"(-[nEr]*i.*|--in-place.*|-f.*|.*[/;}0-9$]\s*[weW](\s.*)?|[weW]\s.*|.*/[gIp0-9]*[ew][gIp]*(\s.*)?)"
    ),
    "awk": _PROGRAM,
    "gawk": _PROGRAM,
    "sort": re.compile(r"(-o.*|--output.*|--compress-program.*)"),
    "rg": re.compile(r"--pre.*"),
    "tree": re.compile(r"-o.*"),
    "less": re.compile(r"[+-].*"),
    "xxd": re.compile(r"-r.*|-\w*r\w*"),
    "printf": re.compile(r"-v.*"),
    "date": re.compile(r"-s.*|--set.*"),
    "hostname": re.compile(r".*"),
    "ps": re.compile(r"\w*e\w*"),
}
_ADDRESS = re.compile(r"[A-Za-z][\w+.-]*://\S+")


def shell(code: str, scope: PathScope) -> Iterator[Effect]:
    """What shell code does."""
    found_ = commands(code)
    if found_ is None:
        yield from found_effects.runs(code)
        return
    folder: str | None = ""
    for command in found_:
        folder = yield from _command(command, folder, scope)


def _command(command: Command, folder: str | None, scope: PathScope) -> Generator[Effect, None, str | None]:
    """What one command does; gives back the folder that the next one runs in, None where it is not known."""
    for path in command.writes:
        yield from found_effects.writes(_path(path, folder), scope)
    for path in command.reads:
        yield from found_effects.reads(_path(path, folder), scope)
    words = command.words
    while words and re.match(r"[A-Za-z_]\w*\+?=", words[0]):
        # Before a command, such variables can change what it does.
        yield from found_effects.environment(words[0].partition("=")[0]) if len(words) > 1 else ()
        words = words[1:]
    if not words:
        return folder
    name, given = posixpath.basename(words[0]), words[1:]
    if name == "cd":
        return None if given[:1] == ["-"] else _path(given[0] if given else "~", folder)
    if name in _DANGEROUS and any(_DANGEROUS[name].fullmatch(word) for word in given):
        yield from found_effects.runs(" ".join(words))
    elif name in _LOOKS and words[0] == name:
        yield from _looked(name, given, folder, scope)
    elif name in _TELLS and words[0] == name:
        yield from _expanded(given)
    else:
        yield from _acted(name, given, folder, scope)
    return folder


def _looked(name: str, given: list[str], folder: str | None, scope: PathScope) -> Iterator[Effect]:
    texts = [word for word in given if not word.startswith("-") or word == "-"]
    inline = any(word in ("-e", "-f") or word.startswith(("--regexp", "--file", "--expression")) for word in given)
    if name in _TEXT_FIRST and not inline:
        texts = texts[1:]
    options = [value for word in given if word.startswith("--") for value in [word.partition("=")[2]] if "/" in value]
    if name == "uniq":
        for text in texts[1:]:
            yield from found_effects.writes(_path(text, folder), scope)
        texts = texts[:1]
    for text in [*texts, *options] or (["."] if name in ("ls", "find", "tree", "du", "dir", "rg") else []):
        if text in ("-", "]", "]]", "=", "==", "!=", "!") or text.isdigit():
            continue
        yield from found_effects.reads(_path(text, folder), scope)


def _expanded(given: list[str]) -> Iterator[Effect]:
    """A variable of the environment that is told."""
    for word in given:
        for name in re.findall(r"\$\{?([A-Z][A-Z0-9_]{2,})", word):
            yield from found_effects.environment(name)


def _acted(  # noqa: C901  # one row for each kind of command
    name: str, given: list[str], folder: str | None, scope: PathScope
) -> Iterator[Effect]:
    paths = [word for word in given if not word.startswith("-")]
    if name in _VERSIONED and given in (["--version"], ["-V"], ["-VV"]):
        return
    if name in _INSTALLS:
        if not paths or paths[0] not in _LOOKING:
            yield from found_effects.installs(
                " ".join(word for word in paths if word not in ("install", "add", "pip")) or None
            )
    elif name.startswith("python") and given[:3] == ["-m", "pip", "install"]:
        yield from found_effects.installs(" ".join(given[3:]) or None)
    elif name in _NETWORK or (name == "git" and paths[:1] and paths[0] in _REMOTE):
        yield from _connected(name, given, paths)
    elif name in _DELETES:
        for path in paths or ["$"]:
            yield from found_effects.deletes(_path(path, folder), scope)
    elif name in _COPIES:
        yield from _copied(paths, folder, scope)
    elif name in _WRITES:
        for path in paths or ["$"]:
            yield from found_effects.writes(_path(path, folder) if name not in ("dd", "tar") else None, scope)
    elif name in _ENVIRONMENT:
        yield from found_effects.environment(paths[0].partition("=")[0] if paths else None)
    else:
        yield from found_effects.runs(" ".join((name, *given)))


def _connected(name: str, given: list[str], paths: list[str]) -> Iterator[Effect]:
    addresses: list[str | None] = [match[0] for word in given if (match := _ADDRESS.search(word))]
    if not addresses and name in _BY_HOST:
        addresses += paths[:1]
    for address in addresses or [None]:
        yield from found_effects.connects(address)


def _copied(paths: list[str], folder: str | None, scope: PathScope) -> Iterator[Effect]:
    for path in paths[:-1]:
        yield from found_effects.reads(_path(path, folder), scope)
    for path in paths[-1:] or ["$"]:
        yield from found_effects.writes(_path(path, folder), scope)
    if any(":" in path for path in paths):
        yield from found_effects.connects(None)


def _path(path: str, folder: str | None) -> str | None:
    """The path as seen from the notebook's folder; None where it cannot be told."""
    if folder is None or not known(path):
        return None
    return path if path.startswith("~") else posixpath.join(folder, path)
