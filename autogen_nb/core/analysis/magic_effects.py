"""What IPython's magics do."""

import re

from autogen_nb.core.analysis.found_effects import FoundEffects, one_line
from autogen_nb.core.analysis.known_names import word_lists
from autogen_nb.core.analysis.shell_effects import read_shell

_LINES = {name: kind for kind, found in word_lists("magics.line").items() for name in found}
_CELLS = {name: kind for kind, found in word_lists("magics.cell").items() for name in found}
_LISTS = ("ll", "la", "lf", "lk", "lx")
_SETTINGS = ("InlineBackend.", "InteractiveShell.ast_node_interactivity", "IPCompleter.", "Completer.")
_EXTENSIONS = ("autoreload", "line_profiler", "memory_profiler")
_BACKENDS = re.compile(r"(inline|widget|notebook|nbagg|ipympl|agg|--list|-l)?", re.IGNORECASE)
_SHELL_OPTIONS = re.compile(
    r"(\s*(--bg|--no-raise-error|--(out|err|proc)[ =]\w+|-[eux]+|-[eux]*o pipefail)(?!\S))*"
    r"(\s+-s(\s+[^-\s{$][^{$]*)?)?\s*"
)
"""With these, a shell runs the cell's body, and nothing else."""
_BRACED = re.compile(r"\b(g?awk|sed)\b.*\{", re.DOTALL)
"""Commands whose own programs have braces."""
_LOOKING = re.compile(r"(list|show|freeze|check|--version|-V|index versions|info|config list)\b")


def read_line_magic(name: str, line: str, found: FoundEffects) -> None:  # noqa: C901, PLR0912  # one row for each kind
    shown = one_line(line)
    match _LINES.get(name):
        case "plain":
            return
        case "timed":
            found.inner.append(re.sub(r"^(-\w+\s*\d*\s+)+", "", line))
        case "backend":
            if not _BACKENDS.fullmatch(line.partition("#")[0].strip()):
                found.add_unknown(f"takes the backend {shown}")
        case "settings":
            if not line.startswith(_SETTINGS):
                found.add_change(f"sets {shown}")
        case "extension":
            if line not in _EXTENSIONS:
                found.add_unknown(f"loads the extension {shown}")
        case "command":
            read_command(f"{'ls' if name in _LISTS else name} {line}".strip(), found)
        case "shell":
            read_command(line, found)
        case "installer":
            if _LOOKING.match(line):
                found.add_started(f"{name} {line}")
            else:
                read_shell(f"{name} {line}", found)
        case "folder":
            found.add_change(f"changes the working folder: {shown}")
        case "environment":
            found.add_variable(re.split(r"[=\s]", line)[0])
        case "write":
            found.add_file("write", _last(line))
        case "run":
            found.add_unknown(f"runs %{name} {shown}")
        case _:
            found.add_unknown(f"uses the magic %{one_line(name)}")


def read_cell_magic(head: str, body: str, found: FoundEffects) -> None:
    """Finds what a magic of a whole cell does; `head` is the first line without its marks."""
    name, _, line = head.strip().partition(" ")
    match _CELLS.get(name):
        case "code":
            if name in ("time", "timeit") and not line.startswith("-"):
                found.inner.append(line)
            if name == "prun" and (kept := re.search(r"-[DT]\s*(\S+)", line)):
                found.add_file("write", kept[1])
            found.inner.append(body)
        case "shell":
            if _SHELL_OPTIONS.fullmatch(f" {line}"):
                found.add_started(name)
            else:
                found.add_program(f"{name} {line}")
            read_shell(body, found)
        case "system":
            read_shell(f"{line}\n{body}" if line else body, found)
        case "write":
            found.add_file("write", _last(line))
        case "program":
            found.add_program(f"{name} {line}".strip())
        case "markup":
            return
        case _:
            found.add_unknown(f"uses the magic %%{one_line(name)}")


def read_command(line: str, found: FoundEffects) -> None:
    """Finds what a line does that IPython gives to a shell."""
    if line:
        found.add_started(line)
    # What IPython puts in is not known.
    read_shell(re.sub(r"\{[^{}]*\}", "$_", line), found)
    if _BRACED.search(line):
        # What cannot be put in stays as it is.
        read_shell(line, found)


def _last(line: str) -> str | None:
    words = line.split()
    path = words[-1].strip("\"'") if words else ""
    return None if not path or "{" in path or "$" in path else path
