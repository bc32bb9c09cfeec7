"""Reads the effects of a notebook cell: Python with IPython's syntax.

1. A `%%magic` in the first line applies to the whole cell.
2. Lines such as `%magic`, `!command`, `name = !command` and `name?` are read one by one, even in a string of several
   lines. In the Python code, ``pass`` or an assignment replaces them.
3. Code in magics and strings is read after the code that contains it.
"""

import re
import textwrap

from autogen_nb.core.analysis.effect_collector import EffectCollector, kinds, one_line
from autogen_nb.core.analysis.python_effects import PythonReader
from autogen_nb.core.analysis.shell_effects import read_shell
from autogen_nb.core.analysis.sql_effects import read_statement
from autogen_nb.core.text.code_blocks import parse_python

_LINE_MAGICS = kinds("magics.line")
_CELL_MAGICS = kinds("magics.cell")
_MOST_NESTED = 4

_COMMAND = re.compile(r"(\s*)([!%?/,;].*|\?{0,2}\s*%{0,2}[\w.*\[\]'\"]+\s*\?{0,2}\s*;?\s*(?<=[?;\s]))")
_ASSIGNMENT = re.compile(r"(\s*[\w.\[\]'\", ]+?\s*=)\s*([!%].*)")
_HELP = re.compile(r"\?|.*\?\s*;?\s*$")
_EXPRESSION = re.compile(r"\{([^{}]*)\}")
_SHELL_OPTIONS = re.compile(r"(\s|--(bg|no-raise-error)|-[eux]*o pipefail|-[eux]+)*")
_HARMLESS = ("load_ext autoreload", "config InlineBackend.", "config InteractiveShell.ast_node_interactivity")


def read_cell(code: str, effects: EffectCollector) -> None:
    queue = [(code, 0)]
    for each, nested in queue:
        if nested > _MOST_NESTED:
            effects.add("unknown", words="nests code too deeply to be read")
            continue
        effects.inner = []
        stripped = each.lstrip("\n\r\t ")
        if stripped.startswith("%%"):
            head, _, body = stripped[2:].partition("\n")
            _read_cell_magic(head, body, effects)
        elif (tree := parse_python(each) or parse_python(_without_commands(each, effects))) is not None:
            PythonReader(tree, effects).read()
        else:
            effects.add("unknown", words="cannot be read as Python")
        queue += [(inner, nested + 1) for inner in effects.inner]


def _without_commands(code: str, effects: EffectCollector) -> str:
    """The Python code of a cell; adds the effects of its lines in IPython's syntax."""
    python_lines: list[str] = []
    lines = iter(textwrap.dedent(code).split("\n"))
    for line in lines:
        assignment = _ASSIGNMENT.fullmatch(line)
        command = _COMMAND.fullmatch(line)
        text = assignment[2] if assignment else command[2].strip() if command else ""
        if not text or text.isidentifier():
            python_lines.append(line)
            continue
        while text.endswith("\\"):
            text = text[:-1] + " " + next(lines, "")
        python_lines.append(f"{assignment[1]} str()[0:]" if assignment else f"{line[: -len(line.lstrip())]}pass")
        _read_line(text, effects)
    return "\n".join(python_lines)


def _read_line(command: str, effects: EffectCollector) -> None:
    if _HELP.match(command):
        return
    # IPython evaluates the expressions in braces.
    effects.inner += [part for part in _EXPRESSION.findall(command) if part.strip() and not part.isidentifier()]
    if command.startswith("!"):
        _read_command(command.lstrip("!").strip(), effects)
    elif command.startswith("%"):
        name, _, line = command.lstrip("%").strip().partition(" ")
        _read_line_magic(name, line.strip(), effects)
    else:
        effects.add("unknown", words="cannot be read as Python")


def _read_line_magic(name: str, line: str, effects: EffectCollector) -> None:  # one row for each kind
    if f"{name} {line}".startswith(_HARMLESS):
        return
    match _LINE_MAGICS.get(name):
        case "plain":
            pass
        case "sql":
            read_statement(line, effects)
        case "timed":
            effects.inner.append(re.sub(r"^(-\w+\s*\d*\s+)+", "", line))
        case "list" | "command" | "shell" as kind:
            command = {"list": "ls", "command": name, "shell": ""}[kind]
            _read_command(f"{command} {line}".strip(), effects)
        case "install":
            effects.add_started(f"{name} {line}")
            read_shell(f"{name} {line}", effects)
        case "environment":
            effects.add("environment", re.split(r"[=\s]", line)[0])
        case "setting":
            effects.add("environment", words=f"changes a setting: %{name} {one_line(line)}")
        case "write":
            effects.add_file("write", _last(line))
        case _:
            effects.add("unknown", words=f"uses the magic %{one_line(f'{name} {line}'.strip())}")


def _read_cell_magic(head: str, body: str, effects: EffectCollector) -> None:
    name, _, line = head.strip().partition(" ")
    match _CELL_MAGICS.get(name):
        case "code":
            if name in ("time", "timeit") and not line.startswith("-"):
                effects.inner.append(line)
            effects.inner.append(body)
        case "shell":
            if not _SHELL_OPTIONS.fullmatch(line):
                effects.add("process", f"{name} {line}")
            effects.add_started(name)
            read_shell(body, effects)
        case "system":
            read_shell(f"{line}\n{body}", effects)
        case "sql":
            read_statement(body, effects)
        case "write":
            effects.add_file("write", _last(line))
        case "process":
            effects.add("process", f"{name} {line}")
        case "plain":
            return
        case _:
            effects.add("unknown", words=f"uses the magic %%{one_line(name)}")


def _read_command(line: str, effects: EffectCollector) -> None:
    if line:
        effects.add_started(line)
    # The values of other `{expressions}` are unknown before the run.
    read_shell(_EXPRESSION.sub("$_", line.replace("{sys.executable}", "python")), effects)


def _last(line: str) -> str | None:
    words = line.split()
    path = words[-1].strip("\"'") if words else ""
    return None if not path or "{" in path or "$" in path else path
