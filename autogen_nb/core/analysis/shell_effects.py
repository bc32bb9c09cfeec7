"""Reads the effects of shell code from lists of known commands."""

import posixpath
import re
from dataclasses import dataclass, field

from autogen_nb.core.analysis.effect_collector import EffectCollector, FileUse, kinds, word_lists

_NESTED = re.compile(r"\$\(((?:[^()]|\([^()]*\))*)\)|`([^`]*)`|[<>]\(((?:[^()]|\([^()]*\))*)\)")
_TOKEN = re.compile(
    r"""[ \t\r]*+(?:(?P<redirection>&>>?|>[>|&]?|<>?)|(?P<end>[;&|()\n]+|\#[^\n]*)
    |(?P<word>(?:\\.|'[^']*'|"(?:\\.|[^"\\])*"|[^\s;&|()<>'"\\])+))""",
    re.DOTALL | re.VERBOSE,
)
_QUOTED = re.compile(r"""\\(.)|'([^']*)'|"((?:\\.|[^"\\])*)\"""", re.DOTALL)
_KEYWORDS = frozenset("then do else elif if while until ! { } time done fi esac".split())
_COMMANDS = word_lists("shell.words")
_KINDS = kinds("shell.commands")
_AWK = r"-f.*|--file.*|.*(system\s*\(|print[^;}]*[>|]).*"
_CHANGING = {
    "find": r"-(exec|execdir|ok|okdir|delete|fprint\w*|fls)",
    "sed": r"-[bEnrsuz]*[if].*|--in.*|--fi.*",
    **dict.fromkeys(("awk", "gawk"), _AWK),
    "tar": r"-\w*[IF].*|--(us|to-c|checkpoint-a|inf|new|rs).*",
    "sort": r"-[bcCdfghiMmnRrsuVz]*o.*|--o.*|--co.*",
    "rg": r"--pre.*",
    "tree": r"-o.*",
    "less": r"[+-].*",
    "xxd": r"-r.*|-\w*r\w*",
    "printf": r"-v.*",
    "date": r"-s.*|--set.*",
    "hostname": r".*",
    "ps": r"\w*e\w*",
}
"""These commands only read or print, except with these arguments."""
_FLAG = re.compile(
    r"-[A-Za-z]|-[qvUIynh]+|--[\w-]+|--(progress-bar|timeout|retries|upgrade-strategy|root-user-action)=.*"
)
"""Options of an installer that cannot name a package; other options with a value may name one."""
_TEXT_OPTION = re.compile(r"-[ef]|--(regexp|file|expression).*")
_NO_PATH = re.compile(r"-|\]\]?|==?|!=?|\d+")
_ENV_COMMAND = re.compile(r"-\w*S|--split")
_ADDRESS = re.compile(r"[A-Za-z][\w+.-]*://\S+")


@dataclass(slots=True)
class Command:
    words: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)

    def add(self, word: str, redirection: str) -> None:
        if redirection == "<":
            self.reads.append(word)
        elif redirection and not (redirection == ">&" and word.isdigit()):
            self.writes.append(word)
        elif not redirection and (self.words or word not in _KEYWORDS):
            self.words.append(word)


def commands(code: str) -> list[Command] | None:
    """The commands in order, with those in substitutions first; None if the code cannot be parsed."""
    if "<<" in code:
        return None
    found: list[Command] = []
    for match in _NESTED.finditer(code):
        # In single quotes, a substitution does not run. Reading it anyway can only cause a needless question.
        nested = commands(match[1] or match[2] or match[3] or "")
        if nested is None:
            return None
        found += nested
    plain = _NESTED.sub("$_", code.replace("\\\n", " ")).rstrip()
    position, redirection = 0, ""
    command = Command()
    while position < len(plain):
        token = _TOKEN.match(plain, position)
        if token is None:
            return None
        position = token.end()
        if token["word"]:
            word = _QUOTED.sub(lambda quoted: quoted[1] or quoted[2] or quoted[3] or "", token["word"])
            command.add(word, redirection)
        elif token["redirection"] and command.words and command.words[-1].isdigit():
            command.words.pop()
        elif token["end"]:
            found.append(command)
            command = Command()
        redirection = token["redirection"] or ""
    return [each for each in (*found, command) if each != Command()]


def read_shell(code: str, effects: EffectCollector) -> None:
    parsed = commands(code)
    if parsed is None:
        effects.add("process", code)
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
        self._add_files("write", command.writes)
        self._add_files("read", command.reads)
        words = command.words
        while words and re.match(r"[A-Za-z_]\w*\+?=", words[0]):
            if len(words) > 1:
                # A variable before a command, as in `PATH=. ls`, can change what the command does.
                self._effects.add("environment", words[0].partition("=")[0])
            words = words[1:]
        if words:
            self._read_words(posixpath.basename(words[0]), words[1:], words[0])

    def _read_words(self, name: str, arguments: list[str], program: str) -> None:
        kind, paths = _KINDS.get(name), [word for word in arguments if not word.startswith("-")]
        if name.startswith("python") and arguments[:2] == ["-m", "pip"]:
            self._read_words("pip", arguments[2:], "pip")
        elif name == "cd":
            self._folder = None if arguments[:1] == ["-"] else self._path(arguments[0] if arguments else "~")
        elif any(re.fullmatch(_CHANGING.get(name, "$"), word, re.DOTALL) for word in arguments) or (
            kind in ("look", "print") and program != name
        ):
            self._effects.add("process", " ".join((program if name in _CHANGING else name, *arguments)))
        elif kind == "look":
            self._look(name, arguments, paths)
        elif kind == "print":
            for variable in re.findall(r"\$\{?([A-Z][A-Z0-9_]{2,})", "\n".join(arguments)):
                self._effects.add("environment", variable)
        elif not (name in _COMMANDS["versioned"] and arguments in (["--version"], ["-V"], ["-VV"])):
            self._change(name, kind, arguments, paths)

    def _look(self, name: str, arguments: list[str], paths: list[str]) -> None:
        if name in _COMMANDS["text_first"] and not any(map(_TEXT_OPTION.fullmatch, arguments)):
            paths = paths[1:]
        if name == "uniq":
            self._add_files("write", paths[1:])
            paths = paths[:1]
        options = [word.partition("=")[2] for word in arguments if word.startswith("--")]
        paths += [option for option in options if "/" in option]
        if not paths and name in ("ls", "find", "tree", "du", "dir", "rg"):
            paths = ["."]
        self._add_files("read", [path for path in paths if not _NO_PATH.fullmatch(path)])

    def _change(self, name: str, kind: str | None, arguments: list[str], paths: list[str]) -> None:  # noqa: C901  # rows
        verb = paths[0] if paths else ""
        if name == "git" and verb in _COMMANDS["remote"]:
            kind = "network"
        elif name == "env" and (any("=" not in path for path in paths) or any(map(_ENV_COMMAND.match, arguments))):
            kind = None
        match kind:
            case "install" if not {"install", "add"}.isdisjoint(paths[:2]):
                self._effects.add("install", " ".join(_packages(arguments)))
            case "install" if verb in _COMMANDS["inspecting"] and not (
                verb in ("env", "config") and not _COMMANDS["changing"].isdisjoint(arguments)
            ):
                pass
            case "network":
                addresses: list[str | None] = [match[0] for word in arguments if (match := _ADDRESS.search(word))]
                for address in addresses or (paths[:1] if name in _COMMANDS["by_host"] else None) or [None]:
                    self._effects.add_connection(address)
            case "environment":
                self._effects.add("environment", verb.partition("=")[0])
            case "copy":
                links = r"-\w*l\w*|--link\b.*" if name == "cp" else r"-\w*s\w*|--symbolic"
                # Who can write to a hard link can write to its source.
                hard = any(re.fullmatch(links, word) for word in arguments) != (name == "ln")
                self._add_files("read", paths[:-1])
                self._add_files("write", (paths if hard else paths[-1:]) or ["$"])
                if any(":" in path for path in paths):
                    self._effects.add_connection(None)
            case "write" | "delete":
                self._add_files(kind, paths if paths and name not in ("dd", "tar") else ["$"])
            case _:
                self._effects.add("process", None if name.startswith("$") else " ".join((name, *arguments)))

    def _add_files(self, use: FileUse, paths: list[str]) -> None:
        for path in paths:
            self._effects.add_file(use, self._path(path))

    def _path(self, path: str) -> str | None:
        if self._folder is None or any(char in path for char in "$`{}\0"):
            return None
        return path if path.startswith("~") else posixpath.join(self._folder, path)


def _packages(arguments: list[str]) -> list[str]:
    return [word for word in arguments if word not in ("install", "add", "pip") and not _FLAG.fullmatch(word)]
