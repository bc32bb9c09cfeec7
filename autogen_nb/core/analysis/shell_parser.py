"""Splits shell code into simple commands with their redirections, including commands in substitutions."""

import re
from dataclasses import dataclass, field

_NESTED = re.compile(r"\$\(((?:[^()]|\([^()]*\))*)\)|`([^`]*)`|[<>]\(((?:[^()]|\([^()]*\))*)\)")
_TOKEN = re.compile(
    r"""[ \t\r]*+(?:(?P<redirection>&>>?|>[>|&]?|<>?)|(?P<end>[;&|()\n]+|\#[^\n]*)
    |(?P<word>(?:\\.|'[^']*'|"(?:\\.|[^"\\])*"|[^\s;&|()<>'"\\])+))""",
    re.DOTALL | re.VERBOSE,
)
_QUOTED = re.compile(r"""\\(.)|'([^']*)'|"((?:\\.|[^"\\])*)\"""", re.DOTALL)
_KEYWORDS = frozenset("then do else elif if while until ! { } time done fi esac".split())


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
