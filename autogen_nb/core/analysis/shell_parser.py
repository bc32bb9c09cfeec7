"""The words of shell code: simple commands with their redirections, and the code within others."""

import re
import shlex
from dataclasses import dataclass, field

_NESTED = re.compile(r"\$\(((?:[^()]|\([^()]*\))*)\)|`([^`]*)`|[<>]\(((?:[^()]|\([^()]*\))*)\)")
_ENDS = frozenset({";", "&&", "||", "|", "&", "|&", ";;", "\n", "(", ")"})
_WRITES = frozenset({">", ">>", ">|", "&>", "&>>", ">&", "<>"})
_KEYWORDS = frozenset("then do else elif if while until ! { } time done fi esac".split())


@dataclass(slots=True)
class Command:
    """One command: its words, and the files that it is redirected to and from."""

    words: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.words or self.writes or self.reads)


def commands(code: str) -> list[Command] | None:
    """The commands of shell code, in order, with those within `$(...)`; None for what cannot be read."""
    if "<<" in code:
        return None
    inner: list[Command] = []
    for match in _NESTED.finditer(code):
        # Within single quotes it would not run; it is read all the same.
        within = commands(match[1] or match[2] or match[3] or "")
        if within is None:
            return None
        inner += within
    plain = _NESTED.sub("$_", code)
    try:
        words = _words(plain)
    except ValueError:
        return None
    return inner + _grouped(words)


def _words(code: str) -> list[str]:
    found: list[str] = []
    # A backslash at the end of a line goes on with the next one.
    for line in _lines(re.sub(r"\\\n", " ", code)):
        lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|()<>")
        lexer.whitespace_split = True
        lexer.commenters = "#"
        found += [*lexer, "\n"]
    return found


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
    at = iter(words)
    for word in at:
        now = grouped[-1]
        if word in _ENDS or set(word) <= set(";&|()"):
            grouped.append(Command())
        elif word in _WRITES or word == "<":
            if now.words and now.words[-1].isdigit():
                now.words.pop()
            target = next(at, "")
            if target.isdigit() and word == ">&":
                continue
            (now.reads if word == "<" else now.writes).append(target)
        elif word in _KEYWORDS and not now.words:
            continue
        else:
            now.words.append(word)
    return [each for each in grouped if each]
