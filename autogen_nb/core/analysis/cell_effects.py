"""What a cell of a notebook does: Python with IPython's own syntax, of which this is a small reading of its own.

1. `%%magic` is looked for in the first line; the rest of the cell is the magic's.
2. `%magic`, `!command`, `name = !command`, `name?` are looked for where a statement begins, outside
   of texts and brackets.
3. Such a line is read by itself, and stands as ``pass`` in the Python that remains.
4. Code that runs within code, by a magic or from a text, is read after what it stands in.
"""

import re
import textwrap

from autogen_nb.core.analysis.found_effects import FoundEffects
from autogen_nb.core.analysis.magic_effects import read_cell_magic, read_command, read_line_magic
from autogen_nb.core.analysis.python_effects import read_python
from autogen_nb.core.text.code_blocks import parse_python

_TRICKY = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028-\u202e\u2066-\u2069]")
"""Line ends that only IPython takes for some, and what makes a line read otherwise than it runs."""

_ASSIGNED = re.compile(r"(?P<indent>\s*)(?P<target>[\w.\[\]'\", ]+?)\s*=\s*(?P<command>[!%].*)", re.DOTALL)
_HELP = re.compile(r"\s*(\?{1,2}\s*%{0,2}[\w.*\[\]'\"]+|%{0,2}[\w.*\[\]'\"]+\s*\?{1,2})\s*;?\s*")
_TOKEN = re.compile(r"\"\"\"|'''|\"|'|#|\\.|[()\[\]{}]", re.DOTALL)
_DEEPER = dict.fromkeys("([{", 1) | dict.fromkeys(")]}", -1)
_MOST_NESTED = 4


def read_cell(code: str, found: FoundEffects) -> None:
    """Finds what the code of a cell does, and the code within it."""
    waiting = [(code, 0, True)]
    for each, nested, stands in waiting:
        if _TRICKY.search(each):
            found.add_unknown("has characters that hide what runs")
        if nested > _MOST_NESTED:
            found.add_unknown("nests code too deeply to be read")
            continue
        found.inner, found.texts = [], []
        started = len(found.started)
        tree = parse_python(each)
        if tree is None:
            _read_ipython(textwrap.dedent(each), found)
        else:
            read_python(tree, found)
        if not stands:
            # The guard asks about a program whose command is known only when it runs.
            del found.started[started:]
        waiting += [(inner, nested + 1, stands) for inner in found.inner]
        waiting += [(text, nested + 1, False) for text in found.texts]


def _read_ipython(code: str, found: FoundEffects) -> None:
    magics = FoundEffects(found.scope)
    stripped = code.lstrip("\n\r\t ")
    if stripped.startswith("%%"):
        head, _, body = stripped[2:].partition("\n")
        read_cell_magic(head, body, magics)
    else:
        source, commands = _split(code)
        for command in commands:
            _read_line(command, magics)
        tree = parse_python(source)
        if tree is None:
            found.add_unknown("cannot be read as Python")
            found.started += magics.started
            return
        read_python(tree, found)
    found.add_apart(magics)


def _read_line(command: str, found: FoundEffects) -> None:
    for part in re.findall(r"\{([^{}]*)\}", command):
        # IPython puts in what these come to; a format in front of which a colon stands is not run.
        if not part.isidentifier() and part.strip():
            found.add_inner(part, "puts together a command")
    if _HELP.fullmatch(command):
        return
    if command.startswith("!"):
        read_command(command.lstrip("!").strip(), found)
    elif command.startswith("%"):
        name, _, line = command.lstrip("%").strip().partition(" ")
        read_line_magic(name, line.strip(), found)
    else:
        found.add_unknown("cannot be read as Python")


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
