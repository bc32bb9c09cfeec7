"""What a cell of a notebook does: Python with IPython's own syntax, of which this is a small reading of its own.

1. `%%magic` is looked for in the first line; the rest of the cell is the magic's.
2. `%magic`, `!command`, `name = !command`, `name?` are looked for where a statement begins, outside
   of texts and brackets.
3. Such a line is read by itself, and stands as ``pass`` in the Python that remains.
"""

import re
import textwrap
from collections.abc import Iterator

from autogen_nb.core.analysis import found_effects, magic_effects, python_effects
from autogen_nb.core.analysis.shell_effects import shell
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.core.text.code_blocks import parse_python
from autogen_nb.effects import Effect

_TRICKY = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028-\u202e\u2066-\u2069]")
"""Line ends that only IPython takes for some, and what makes a line read otherwise than it runs."""

_ASSIGNED = re.compile(r"(?P<indent>\s*)(?P<target>[\w.\[\]'\", ]+?)\s*=\s*(?P<command>[!%].*)", re.DOTALL)
_HELP = re.compile(r"\s*(\?{1,2}\s*%{0,2}[\w.*\[\]'\"]+|%{0,2}[\w.*\[\]'\"]+\s*\?{1,2})\s*;?\s*")
_TOKEN = re.compile(r"\"\"\"|'''|\"|'|#|\\.|[()\[\]{}]", re.DOTALL)
_DEEPER = dict.fromkeys("([{", 1) | dict.fromkeys(")]}", -1)
_MOST_NESTED = 4


def cell(code: str, scope: PathScope, nested: int = 0) -> Iterator[Effect]:
    """What the code of a cell does."""
    if _TRICKY.search(code):
        yield from found_effects.unknown("has characters that hide what runs")
    if nested > _MOST_NESTED:
        yield from found_effects.unknown("nests code too deeply to be read")
        return
    effects = python_effects.read(code, scope, nested)
    if effects is None:
        effects = tuple(_with_magics(code, scope, nested))
    yield from effects


def programs(code: str, nested: int = 0) -> Iterator[Effect]:
    """The programs that shell lines and shell cells start, which whoever let them run has let start."""
    code = textwrap.dedent(code)
    stripped = code.lstrip("\n\r\t ")
    if parse_python(code) is not None or nested > _MOST_NESTED:
        return
    if stripped.startswith("%%"):
        head, _, body = stripped.partition("\n")
        name = head[2:].strip().partition(" ")[0]
        if name in magic_effects.RUN_PYTHON:
            yield from programs(body, nested + 1)
        elif name in ("bash", "sh"):
            yield from found_effects.runs(name)
        return
    for command in _split(code)[1]:
        line = magic_effects.command(command)
        if line:
            yield from found_effects.runs(line)


def _with_magics(code: str, scope: PathScope, nested: int) -> Iterator[Effect]:
    code = textwrap.dedent(code)
    stripped = code.lstrip("\n\r\t ")
    if stripped.startswith("%%"):
        head, _, body = stripped.partition("\n")
        yield from _cell_magic(head[2:], body, scope, nested)
        return
    source, commands = _split(code)
    effects = python_effects.read(source, scope, nested)
    if effects is None:
        yield from found_effects.unknown("cannot be read as Python")
        return
    yield from effects
    for command in commands:
        yield from _line(command, scope, nested)


def _cell_magic(head: str, body: str, scope: PathScope, nested: int) -> Iterator[Effect]:
    name, _, line = head.strip().partition(" ")
    if name in magic_effects.RUN_PYTHON:
        yield from cell(line, scope, nested + 1) if name in ("time", "timeit") and not line.startswith("-") else ()
        yield from magic_effects.options(name, line, scope)
        yield from cell(body, scope, nested + 1)
    elif name in ("bash", "sh", "system", "sx", "!"):
        yield from shell(body if not line or name not in ("system", "sx", "!") else f"{line}\n{body}", scope)
    else:
        yield from magic_effects.cell_magic(name, line, body, scope)


def _line(command: str, scope: PathScope, nested: int) -> Iterator[Effect]:
    for part in re.findall(r"\{([^{}]*)\}", command):
        # IPython puts in what these come to; a format in front of which a colon stands is not run.
        if not part.isidentifier() and part.strip():
            effects = python_effects.read(part, scope, nested + 1)
            yield from found_effects.unknown("puts together a command") if effects is None else effects
    if _HELP.fullmatch(command):
        return
    if command.startswith("!"):
        # What IPython puts in is not known.
        yield from shell(re.sub(r"\{[^{}]*\}", "$_", command.lstrip("!")), scope)
    elif command.startswith("%"):
        name, _, line = command.lstrip("%").strip().partition(" ")
        if name in ("time", "timeit", "prun", "memit", "mprun", "lprun"):
            yield from cell(re.sub(r"^(-\w+\s*\d*\s+)+", "", line.strip()), scope, nested + 1) if line.strip() else ()
        else:
            yield from magic_effects.line_magic(name, line.strip(), scope)
    else:
        yield from found_effects.unknown("cannot be read as Python")


def _split(code: str) -> tuple[str, list[str]]:
    """The Python of a cell, and its lines that are IPython's own."""
    kept: list[str] = []
    commands: list[str] = []
    inside = ""
    depth = 0
    lines = iter(code.split("\n"))
    for line in lines:
        plain = not inside and depth == 0
        parts = _command(line) if plain else None
        if parts is None:
            kept.append(line)
            inside, depth = _scanned(line, inside, depth)
            continue
        indent, command, instead = parts
        while command.endswith("\\"):
            command = command[:-1] + " " + next(lines, "")
        if '"""' in command or "'''" in command:
            # Should it be within a text after all, nothing may hide behind it.
            kept.append("(")
        kept.append(f"{indent}{instead}")
        commands.append(command.strip())
    return "\n".join(kept), commands


def _command(line: str) -> tuple[str, str, str] | None:
    """The indent of a line that is IPython's own, the command in it, and the Python that stands in its place."""
    bare = line.lstrip()
    indent = line[: len(line) - len(bare)]
    if bare.startswith(("%", "!", "?", "/", ",", ";")) or (_HELP.fullmatch(line) and bare):
        return indent, bare, "pass"
    if (assigned := _ASSIGNED.fullmatch(line)) is not None:
        return indent, assigned["command"], f"{assigned['target']} = str()[0:]"
    return None


def _scanned(line: str, inside: str, depth: int) -> tuple[str, int]:
    """Whether the next line begins within a text, and within how many brackets."""
    for match in _TOKEN.finditer(line):
        mark = match[0]
        if inside:
            inside = "" if mark == inside else inside
        elif mark.startswith("#"):
            break
        elif mark[0] in "\"'":
            inside = mark
        else:
            depth = max(depth + _DEEPER.get(mark, 0), 0)
    return inside if len(inside) == len('"""') else "", depth
