"""Predicts the effects of shell code from lists of known commands."""

import posixpath
import re

from autogen_nb.core.analysis.effect_collector import EffectCollector, FileUse
from autogen_nb.core.analysis.known_names import word_lists
from autogen_nb.core.analysis.shell_parser import Command, commands

_COMMANDS = word_lists("shell")
_KINDS = {
    name: kind
    for kind in ("environment", "writes", "copies", "deletes", "network", "installs")
    for name in _COMMANDS[kind]
}

_AWK = re.compile(r"-f.*|--file.*|.*(system\s*\(|print[^;}]*[>|]).*", re.DOTALL)
_DANGEROUS = {
    "find": re.compile(r"-(exec|execdir|ok|okdir|delete|fprint\w*|fls)"),
    "sed": re.compile(r"-[bEnrsuz]*[if].*|--in.*|--fi.*"),
    "awk": _AWK,
    "gawk": _AWK,
    "sort": re.compile(r"-[bcCdfghiMmnRrsuVz]*o.*|--o.*|--co.*"),
    "rg": re.compile(r"--pre.*"),
    "tree": re.compile(r"-o.*"),
    "less": re.compile(r"[+-].*"),
    "xxd": re.compile(r"-r.*|-\w*r\w*"),
    "printf": re.compile(r"-v.*"),
    "date": re.compile(r"-s.*|--set.*"),
    "hostname": re.compile(r".*"),
    "ps": re.compile(r"\w*e\w*"),
}
"""These commands only read or print, except with these arguments."""
_FLAG = re.compile(
    r"-[A-Za-z]|-[qvUIynh]+|--[\w-]+|--(progress-bar|timeout|retries|upgrade-strategy|root-user-action)=.*"
)
"""Options of an installer that cannot name a package; other options with a value may name one."""
_ENV_COMMAND = re.compile(r"-\w*S|--split")
_ADDRESS = re.compile(r"[A-Za-z][\w+.-]*://\S+")


def read_shell(code: str, effects: EffectCollector) -> None:
    parsed = commands(code)
    if parsed is None:
        effects.add_program(code)
        return
    reader = _ShellReader(effects)
    for command in parsed:
        reader.read(command)


class _ShellReader:
    def __init__(self, effects: EffectCollector) -> None:
        self._effects = effects
        # The working directory, relative to the notebook's folder; None if it is unknown.
        self._folder: str | None = ""

    def read(self, command: Command) -> None:
        for path in command.writes:
            self._add_file("write", path)
        for path in command.reads:
            self._add_file("read", path)
        words = command.words
        while words and re.match(r"[A-Za-z_]\w*\+?=", words[0]):
            if len(words) > 1:
                # A variable before a command, as in `PATH=. ls`, can change what the command does.
                self._effects.add_variable(words[0].partition("=")[0])
            words = words[1:]
        if words:
            self._read_words(posixpath.basename(words[0]), words[1:], words[0])

    def _read_words(self, name: str, arguments: list[str], program: str) -> None:
        if name == "cd":
            self._folder = None if arguments[:1] == ["-"] else self._path(arguments[0] if arguments else "~")
        elif name in _DANGEROUS and any(_DANGEROUS[name].fullmatch(word) for word in arguments):
            self._effects.add_program(" ".join((program, *arguments)))
        elif name in _COMMANDS["looks"] and program == name:
            self._look(name, arguments)
        elif name in _COMMANDS["tells"] and program == name:
            for variable in re.findall(r"\$\{?([A-Z][A-Z0-9_]{2,})", "\n".join(arguments)):
                self._effects.add_variable(variable)
        elif not (name in _COMMANDS["versioned"] and arguments in (["--version"], ["-V"], ["-VV"])):
            self._read_other(name, arguments, [word for word in arguments if not word.startswith("-")])

    def _look(self, name: str, arguments: list[str]) -> None:
        paths = [word for word in arguments if not word.startswith("-") or word == "-"]
        inline = any(
            word in ("-e", "-f") or word.startswith(("--regexp", "--file", "--expression")) for word in arguments
        )
        if name in _COMMANDS["text_first"] and not inline:
            paths = paths[1:]
        if name == "uniq":
            for path in paths[1:]:
                self._add_file("write", path)
            paths = paths[:1]
        options = [word.partition("=")[2] for word in arguments if word.startswith("--")]
        paths += [option for option in options if "/" in option]
        for path in paths or (["."] if name in ("ls", "find", "tree", "du", "dir", "rg") else []):
            if path not in ("-", "]", "]]", "=", "==", "!=", "!") and not path.isdigit():
                self._add_file("read", path)

    def _read_other(self, name: str, arguments: list[str], paths: list[str]) -> None:
        effects, kind = self._effects, _KINDS.get(name)
        if name == "git" and paths and paths[0] in _COMMANDS["remote"]:
            kind = "network"
        if name == "env" and (any("=" not in path for path in paths) or any(map(_ENV_COMMAND.match, arguments))):
            kind = None
        if name.startswith("python") and arguments[:3] == ["-m", "pip", "install"]:
            effects.add_install(" ".join(_packages(arguments[3:])) or None)
        elif kind == "installs":
            verb, changes = paths[0] if paths else "", not _COMMANDS["changing"].isdisjoint(arguments)
            if verb not in _COMMANDS["looking"] or (verb in ("env", "config") and changes):
                effects.add_install(" ".join(_packages(arguments)) or None)
        elif kind == "network":
            addresses: list[str | None] = [match[0] for word in arguments if (match := _ADDRESS.search(word))]
            for address in addresses or (paths[:1] if name in _COMMANDS["by_host"] else None) or [None]:
                effects.add_connection(address)
        elif kind == "environment":
            effects.add_variable(paths[0].partition("=")[0] if paths else None)
        elif kind is None:
            effects.add_program(" ".join((name, *arguments)))
        else:
            links = any(
                re.fullmatch(r"-\w*l\w*|--link\b.*" if name == "cp" else r"-\w*s\w*|--symbolic", word)
                for word in arguments
            )
            self._change(name, kind, paths, hard=links != (name == "ln"))

    def _change(self, name: str, kind: str, paths: list[str], *, hard: bool) -> None:
        """Adds the files that a command reads and changes; `hard` is True if the command creates hard links."""
        if kind == "copies":
            for path in paths[:-1]:
                self._add_file("read", path)
                if hard:
                    self._add_file("write", path)
        for path in (paths[-1:] if kind == "copies" else paths) or ["$"]:
            self._add_file("delete" if kind == "deletes" else "write", path if name not in ("dd", "tar") else "$")
        if kind == "copies" and any(":" in path for path in paths):
            self._effects.add_connection(None)

    def _add_file(self, use: FileUse, path: str) -> None:
        self._effects.add_file(use, self._path(path))

    def _path(self, path: str) -> str | None:
        if self._folder is None or any(char in path for char in "$`{}\0"):
            return None
        return path if path.startswith("~") else posixpath.join(self._folder, path)


def _packages(arguments: list[str]) -> list[str]:
    return [word for word in arguments if word not in ("install", "add", "pip") and not _FLAG.fullmatch(word)]
