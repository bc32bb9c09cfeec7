"""What shell code does, by a list of words: commands that only look or tell, and what others do."""

import posixpath
import re

from autogen_nb.core.analysis.found_effects import FileUse, FoundEffects
from autogen_nb.core.analysis.known_names import word_lists
from autogen_nb.core.analysis.shell_parser import Command, commands

_COMMANDS = word_lists("shell")
_KINDS = {
    name: kind
    for kind in ("environment", "writes", "copies", "deletes", "network", "installs")
    for name in _COMMANDS[kind]
}
"""What other commands do; of a name in several lists, the last one holds."""

_PROGRAM = re.compile(r"-f.*|--file.*|.*(system\s*\(|getline|print[^;}]*[>|]|[>|]\s*[\"']|ENVIRON).*", re.DOTALL)
_DANGEROUS = {
    "find": re.compile(r"-(exec|execdir|ok|okdir|delete|fprint\w*|fls)"),
    "sed": re.compile(
        r"(-[nEr]*i.*|--in-place.*|-f.*|.*[/;{}0-9$]\s*[weW]([\s}].*)?|[weW]\s.*|.*/[gIp0-9]*[ew][gIp]*(\s.*)?)"
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
_FLAG = re.compile(
    r"-[A-Za-z]|-[qvUIynh]+|--[\w-]+|--(progress-bar|timeout|retries|upgrade-strategy|root-user-action)=.*"
)
"""An option of an installer that says nothing of what is installed; one with a value in the same word may name more."""
_ADDRESS = re.compile(r"[A-Za-z][\w+.-]*://\S+")


def read_shell(code: str, found: FoundEffects) -> None:
    parsed = commands(code)
    if parsed is None:
        found.add_program(code)
        return
    reader = _ShellReader(found)
    for command in parsed:
        reader.read(command)


class _ShellReader:
    def __init__(self, found: FoundEffects) -> None:
        self._found = found
        # The folder that the next command runs in, as seen from the notebook's; None where it is not known.
        self._folder: str | None = ""

    def read(self, command: Command) -> None:
        for path in command.writes:
            self._add_file("write", path)
        for path in command.reads:
            self._add_file("read", path)
        words = command.words
        while words and re.match(r"[A-Za-z_]\w*\+?=", words[0]):
            if len(words) > 1:
                # Before a command, such variables can change what it does.
                self._found.add_variable(words[0].partition("=")[0])
            words = words[1:]
        if words:
            self._read_words(posixpath.basename(words[0]), words[1:], words[0])

    def _read_words(self, name: str, given: list[str], program: str) -> None:
        if name == "cd":
            self._folder = None if given[:1] == ["-"] else self._path(given[0] if given else "~")
        elif name in _DANGEROUS and any(_DANGEROUS[name].fullmatch(word) for word in given):
            self._found.add_program(" ".join((program, *given)))
        elif name in _COMMANDS["looks"] and program == name:
            self._look(name, given)
        elif name in _COMMANDS["tells"] and program == name:
            for variable in re.findall(r"\$\{?([A-Z][A-Z0-9_]{2,})", "\n".join(given)):
                self._found.add_variable(variable)
        elif not (name in _COMMANDS["versioned"] and given in (["--version"], ["-V"], ["-VV"])):
            self._read_other(name, given, [word for word in given if not word.startswith("-")])

    def _look(self, name: str, given: list[str]) -> None:
        paths = [word for word in given if not word.startswith("-") or word == "-"]
        inline = any(word in ("-e", "-f") or word.startswith(("--regexp", "--file", "--expression")) for word in given)
        if name in _COMMANDS["text_first"] and not inline:
            paths = paths[1:]
        if name == "uniq":
            for path in paths[1:]:
                self._add_file("write", path)
            paths = paths[:1]
        options = [word.partition("=")[2] for word in given if word.startswith("--")]
        paths += [option for option in options if "/" in option]
        for path in paths or (["."] if name in ("ls", "find", "tree", "du", "dir", "rg") else []):
            if path not in ("-", "]", "]]", "=", "==", "!=", "!") and not path.isdigit():
                self._add_file("read", path)

    def _read_other(self, name: str, given: list[str], paths: list[str]) -> None:
        found, kind = self._found, _KINDS.get(name)
        if name == "git" and paths and paths[0] in _COMMANDS["remote"]:
            kind = "network"
        if name.startswith("python") and given[:3] == ["-m", "pip", "install"]:
            found.add_install(" ".join(_packages(given[3:])) or None)
        elif kind == "installs":
            if not paths or paths[0] not in _COMMANDS["looking"]:
                found.add_install(" ".join(_packages(given)) or None)
        elif kind == "network":
            addresses: list[str | None] = [match[0] for word in given if (match := _ADDRESS.search(word))]
            for address in addresses or (paths[:1] if name in _COMMANDS["by_host"] else None) or [None]:
                found.add_connection(address)
        elif kind == "environment":
            found.add_variable(paths[0].partition("=")[0] if paths else None)
        elif kind is None:
            found.add_program(" ".join((name, *given)))
        else:
            links = any(
                re.fullmatch(r"-\w*l\w*|--link\b.*" if name == "cp" else r"-\w*s\w*|--symbolic", word) for word in given
            )
            self._change(name, kind, paths, hard=links != (name == "ln"))

    def _change(self, name: str, kind: str, paths: list[str], *, hard: bool) -> None:
        """Finds which files a command makes, rewrites or deletes; `hard` says that it gives files another name."""
        if kind == "copies":
            for path in paths[:-1]:
                self._add_file("read", path)
                if hard:
                    self._add_file("write", path)
        for path in (paths[-1:] if kind == "copies" else paths) or ["$"]:
            self._add_file("delete" if kind == "deletes" else "write", path if name not in ("dd", "tar") else "$")
        if kind == "copies" and any(":" in path for path in paths):
            self._found.add_connection(None)

    def _add_file(self, use: FileUse, path: str) -> None:
        self._found.add_file(use, self._path(path))

    def _path(self, path: str) -> str | None:
        """The path as seen from the notebook's folder; None where it cannot be told."""
        if self._folder is None or any(char in path for char in "$`{}\0"):
            return None
        return path if path.startswith("~") else posixpath.join(self._folder, path)


def _packages(given: list[str]) -> list[str]:
    return [word for word in given if word not in ("install", "add", "pip") and not _FLAG.fullmatch(word)]
