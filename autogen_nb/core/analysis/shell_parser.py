"""Splits shell code into simple commands with their redirections, including commands in substitutions."""

import re
import shlex
from dataclasses import dataclass, field

_NESTED = re.compile(r"\$\(((?:[^()]|\([^()]*\))*)\)|`([^`]*)`|[<>]\(((?:[^()]|\([^()]*\))*)\)")
_ENDS = frozenset({";", "&&", "||", "|", "&", "|&", ";;", "\n", "(", ")"})
_WRITES = frozenset({">", ">>", ">|", "&>", "&>>", ">&", "<>"})
_KEYWORDS = frozenset("then do else elif if while until ! { } time done fi esac".split())


@dataclass(slots=True)
class Command:
    words: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.words or self.writes or self.reads)


def commands(code: str) -> list[Command] | None:
    """The commands in order, with those in substitutions first; None if the code cannot be parsed."""
    if "<<" in code:
        return None
    inner: list[Command] = []
    for match in _NESTED.finditer(code):
        # In single quotes, a substitution does not run. Reading it anyway can only cause a needless question.
        nested = commands(match[1] or match[2] or match[3] or "")
        if nested is None:
            return None
        inner += nested
    plain = _NESTED.sub("$_", code)
    try:
        words = _words(plain)
    except ValueError:
        return None
    return inner + _grouped(words)


def _words(code: str) -> list[str]:
    words: list[str] = []
    for line in _lines(re.sub(r"\\\n", " ", code)):
        lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|()<>")
        lexer.whitespace_split = True
        lexer.commenters = "#"
        words += [*lexer, "\n"]
    return words


def _lines(code: str) -> list[str]:
    lines: list[str] = []
    rest = ""
    for line in code.split("\n"):
        rest = f"{rest}\n{line}" if rest else line
        try:
            shlex.split(rest, comments=True)
        except ValueError:
            continue
        lines.append(rest)
        rest = ""
    return [*lines, rest] if rest else lines


def _grouped(words: list[str]) -> list[Command]:
    grouped = [Command()]
    remaining = iter(words)
    for word in remaining:
        command = grouped[-1]
        if word in _ENDS or set(word) <= set(";&|()"):
            grouped.append(Command())
        elif word in _WRITES or word == "<":
            if command.words and command.words[-1].isdigit():
                command.words.pop()
            target = next(remaining, "")
            if target.isdigit() and word == ">&":
                continue
            (command.reads if word == "<" else command.writes).append(target)
        elif word in _KEYWORDS and not command.words:
            continue
        else:
            command.words.append(word)
    return [command for command in grouped if command]
