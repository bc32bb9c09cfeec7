"""Predicts the effects of a notebook cell: Python with IPython's syntax.

1. A `%%magic` in the first line applies to the whole cell.
2. `%magic`, `!command`, `name = !command` and `name?` count only where a statement begins, outside strings and
   brackets. In the Python code, ``pass`` or an assignment replaces such a line.
3. Code in magics and strings is read after the code that contains it.
"""

import re
import textwrap

from autogen_nb.core.analysis.effect_collector import EffectCollector
from autogen_nb.core.analysis.magic_effects import read_cell_magic, read_command, read_line_magic
from autogen_nb.core.analysis.python_effects import read_python
from autogen_nb.core.text.code_blocks import parse_python

_TRICKY = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028-\u202e\u2066-\u2069]")
"""Line ends that only IPython recognises, and characters that disguise code."""

_ASSIGNMENT = re.compile(r"(?P<indent>\s*)(?P<target>[\w.\[\]'\", ]+?)\s*=\s*(?P<command>[!%].*)", re.DOTALL)
_HELP = re.compile(r"\s*(\?{1,2}\s*%{0,2}[\w.*\[\]'\"]+|%{0,2}[\w.*\[\]'\"]+\s*\?{1,2})\s*;?\s*")
_TOKEN = re.compile(r"\"\"\"|'''|\"|'|#|\\.|[()\[\]{}]", re.DOTALL)
_DEEPER = dict.fromkeys("([{", 1) | dict.fromkeys(")]}", -1)
_MOST_NESTED = 4


def read_cell(code: str, effects: EffectCollector) -> None:
    queue = [(code, 0, True)]
    for each, nested, runs in queue:
        if _TRICKY.search(each):
            effects.add_unknown("has characters that hide what runs")
        if nested > _MOST_NESTED:
            effects.add_unknown("nests code too deeply to be read")
            continue
        effects.inner, effects.texts = [], []
        started = len(effects.started)
        tree = parse_python(each)
        if tree is None:
            _read_ipython(textwrap.dedent(each), effects)
        else:
            read_python(tree, effects)
        if not runs:
            # Code in a string may never run. If it runs, the guard in the kernel asks before a program starts.
            del effects.started[started:]
        queue += [(inner, nested + 1, runs) for inner in effects.inner]
        queue += [(text, nested + 1, False) for text in effects.texts]


def _read_ipython(code: str, effects: EffectCollector) -> None:
    magics = EffectCollector(effects.scope)
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
            effects.add_unknown("cannot be read as Python")
            effects.started += magics.started
            return
        read_python(tree, effects)
    effects.merge(magics)


def _read_line(command: str, effects: EffectCollector) -> None:
    for part in re.findall(r"\{([^{}]*)\}", command):
        # IPython evaluates the expressions in braces.
        if not part.isidentifier() and part.strip():
            effects.add_text(part, "builds a command that is not known before it runs")
    if _HELP.fullmatch(command):
        return
    if command.startswith("!"):
        read_command(command.lstrip("!").strip(), effects)
    elif command.startswith("%"):
        name, _, line = command.lstrip("%").strip().partition(" ")
        read_line_magic(name, line.strip(), effects)
    else:
        effects.add_unknown("cannot be read as Python")


def _split(code: str) -> tuple[str, list[str]]:
    python_lines: list[str] = []
    commands: list[str] = []
    inside = ""
    depth = 0
    lines = iter(code.split("\n"))
    for line in lines:
        plain = not inside and depth == 0
        parts = _command(line) if plain else None
        if parts is None:
            python_lines.append(line)
            inside, depth = _scanned(line, inside, depth)
            continue
        indent, command, instead = parts
        while command.endswith("\\"):
            command = command[:-1] + " " + next(lines, "")
        if '"""' in command or "'''" in command:
            # Triple quotes could hide code, so this unclosed bracket makes the parser fail.
            python_lines.append("(")
        python_lines.append(f"{indent}{instead}")
        commands.append(command.strip())
    return "\n".join(python_lines), commands


def _command(line: str) -> tuple[str, str, str] | None:
    """The indent, the command and the Python replacement of a line in IPython's syntax; None for other lines."""
    bare = line.lstrip()
    indent = line[: len(line) - len(bare)]
    if bare.startswith(("%", "!", "?", "/", ",", ";")) or (_HELP.fullmatch(line) and bare):
        return indent, bare, "pass"
    if (assignment := _ASSIGNMENT.fullmatch(line)) is not None:
        return indent, assignment["command"], f"{assignment['target']} = str()[0:]"
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
