"""Predicts the effects of IPython's magics."""

import re

from autogen_nb.core.analysis.effect_collector import EffectCollector, one_line
from autogen_nb.core.analysis.known_names import word_lists
from autogen_nb.core.analysis.shell_effects import read_shell

_LINES = {name: kind for kind, names in word_lists("magics.line").items() for name in names}
_CELLS = {name: kind for kind, names in word_lists("magics.cell").items() for name in names}
_LISTS = ("ll", "la", "lf", "lk", "lx")
_SETTINGS = ("InlineBackend.", "InteractiveShell.ast_node_interactivity", "IPCompleter.", "Completer.")
_EXTENSIONS = ("autoreload", "line_profiler", "memory_profiler")
_BACKENDS = re.compile(r"(inline|widget|notebook|nbagg|ipympl|agg|--list|-l)?", re.IGNORECASE)
_SHELL_OPTIONS = re.compile(
    r"(\s*(--bg|--no-raise-error|--(out|err|proc)[ =]\w+|-[eux]+|-[eux]*o pipefail)(?!\S))*"
    r"(\s+-s(\s+[^-\s{$][^{$]*)?)?\s*"
)
"""Options with which a cell magic such as `%%bash` runs only the code of the cell."""
_INSPECTING = re.compile(r"(list|show|freeze|check|--version|-V|index versions|info|config list)\b")


def read_line_magic(name: str, line: str, effects: EffectCollector) -> None:  # noqa: C901, PLR0912  # one row for each kind
    shown = one_line(line)
    match _LINES.get(name):
        case "plain":
            return
        case "timed":
            effects.inner.append(re.sub(r"^(-\w+\s*\d*\s+)+", "", line))
        case "backend":
            if not _BACKENDS.fullmatch(line.partition("#")[0].strip()):
                effects.add_unknown(f"uses the backend {shown}")
        case "settings":
            if not line.startswith(_SETTINGS):
                effects.add_change(f"sets {shown}")
        case "extension":
            if line not in _EXTENSIONS:
                effects.add_unknown(f"loads the extension {shown}")
        case "command":
            read_command(f"{'ls' if name in _LISTS else name} {line}".strip(), effects)
        case "shell":
            read_command(line, effects)
        case "installer":
            if _INSPECTING.match(line):
                effects.add_started(f"{name} {line}")
            else:
                read_shell(f"{name} {line}", effects)
        case "folder":
            effects.add_change(f"changes the working folder: {shown}")
        case "environment":
            effects.add_variable(re.split(r"[=\s]", line)[0])
        case "write":
            effects.add_file("write", _last(line))
        case "run":
            effects.add_unknown(f"runs %{name} {shown}")
        case _:
            effects.add_unknown(f"uses the magic %{one_line(name)}")


def read_cell_magic(head: str, body: str, effects: EffectCollector) -> None:
    """Reads the cell magic in `head`, the first line without its `%%`."""
    name, _, line = head.strip().partition(" ")
    match _CELLS.get(name):
        case "code":
            if name in ("time", "timeit") and not line.startswith("-"):
                effects.inner.append(line)
            if name == "prun" and (profile := re.search(r"-[DT]\s*(\S+)", line)):
                effects.add_file("write", profile[1])
            effects.inner.append(body)
        case "shell":
            if _SHELL_OPTIONS.fullmatch(f" {line}"):
                effects.add_started(name)
            else:
                effects.add_program(f"{name} {line}")
            read_shell(body, effects)
        case "system":
            read_shell(f"{line}\n{body}" if line else body, effects)
        case "write":
            effects.add_file("write", _last(line))
        case "program":
            effects.add_program(f"{name} {line}".strip())
        case "markup":
            return
        case _:
            effects.add_unknown(f"uses the magic %%{one_line(name)}")


def read_command(line: str, effects: EffectCollector) -> None:
    if line:
        effects.add_started(line)
    # The values of `{expressions}` are unknown before the run.
    read_shell(re.sub(r"\{[^{}]*\}", "$_", line), effects)


def _last(line: str) -> str | None:
    words = line.split()
    path = words[-1].strip("\"'") if words else ""
    return None if not path or "{" in path or "$" in path else path
