"""What IPython's magics do."""

import re
from collections.abc import Iterator

from autogen_nb.core.analysis import found_effects
from autogen_nb.core.analysis.shell_effects import shell
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.effects import Effect

RUN_PYTHON = frozenset("time timeit capture prun memit".split())
"""Cell magics whose body is run as Python in the same kernel."""

_PLAIN = frozenset(
    "precision who whos who_ls lsmagic magic quickref pdoc pinfo pinfo2 pdef reset reset_selective xdel xmode colors "
    "pwd tb autoreload dhist psearch pprint page time timeit automagic autoindent doctest_mode load_ext_ nbagg unalias "
    "autosave aimport".split()
)
_SHELL = frozenset("ls ll la lf lk lx cat less more man rm rmdir mkdir mv cp".split())
_LISTS = frozenset("ll la lf lk lx".split())
_SHOWS = frozenset("html HTML markdown latex svg SVG".split())
_BACKENDS = re.compile(r"(inline|widget|notebook|nbagg|ipympl|agg|--list|-l)?", re.IGNORECASE)
_EXTENSIONS = frozenset("autoreload line_profiler memory_profiler".split())
_LOOKING = re.compile(r"(list|show|freeze|check|--version|-V|index versions|info|config list)\b")


def line_magic(name: str, line: str, scope: PathScope) -> Iterator[Effect]:  # noqa: C901, PLR0912  # one row for each magic
    """What a magic of one line does."""
    if name in _PLAIN:
        return
    if name in ("matplotlib", "pylab"):
        if not _BACKENDS.fullmatch(line.partition("#")[0].strip()):
            yield from found_effects.unknown(f"takes the backend {found_effects.one_line(line)}")
    elif name == "config":
        if not line.startswith(
            ("InlineBackend.", "InteractiveShell.ast_node_interactivity", "IPCompleter.", "Completer.")
        ):
            yield from found_effects.environment("", f"sets {found_effects.one_line(line)}")
    elif name in ("load_ext", "reload_ext"):
        if line not in _EXTENSIONS:
            yield from found_effects.unknown(f"loads the extension {found_effects.one_line(line)}")
    elif name in _SHELL:
        yield from shell(command(f"%{name} {line}"), scope)
    elif name in ("system", "sx", "sc"):
        yield from shell(line, scope)
    elif name in ("pip", "conda", "mamba", "micromamba", "uv"):
        if not _LOOKING.match(line):
            yield from shell(f"{name} {line}", scope)
    elif name in ("cd", "pushd", "popd", "bookmark"):
        yield from found_effects.environment("", f"changes the working folder: {found_effects.one_line(line)}")
    elif name in ("env", "set_env"):
        variable = re.split(r"[=\s]", line)[0]
        yield from found_effects.environment(variable)
    elif name in ("save", "logstart", "notebook", "writefile", "file", "store", "pastebin", "export"):
        yield from found_effects.writes(_last(line), scope)
    elif name in ("run", "load", "loadpy", "edit", "macro", "rerun", "recall", "debug", "alias"):
        yield from found_effects.unknown(f"runs %{name} {found_effects.one_line(line)}")
    else:
        yield from found_effects.unknown(f"uses the magic %{found_effects.one_line(name)}")


def cell_magic(name: str, line: str, body: str, scope: PathScope) -> Iterator[Effect]:
    """What a magic of a whole cell does, whose body is not Python of the same kernel."""
    if name in ("writefile", "file"):
        yield from found_effects.writes(_last(line), scope)
    elif name in ("script", "python", "python2", "python3", "pypy", "perl", "ruby", "cmd", "R", "julia", "node"):
        yield from found_effects.runs(f"{name} {line}".strip())
    elif name not in _SHOWS:
        yield from found_effects.unknown(f"uses the magic %%{found_effects.one_line(name)}")
    del body


def command(line: str) -> str:
    """The command of the shell that a line of IPython's own runs; "" where it runs none."""
    if line.startswith("!"):
        return line.lstrip("!").strip()
    name, _, rest = line.lstrip("%").strip().partition(" ")
    if line.startswith("%") and name in _SHELL:
        return f"{'ls' if name in _LISTS else name} {rest}".strip()
    return rest.strip() if name in ("system", "sx") else ""


def options(name: str, line: str, scope: PathScope) -> Iterator[Effect]:
    """What the options of a magic do whose body runs as Python."""
    if name == "prun" and (kept := re.search(r"-[DT]\s*(\S+)", line)):
        yield from found_effects.writes(kept[1], scope)


def _last(line: str) -> str | None:
    words = line.split()
    path = words[-1].strip("\"'") if words else ""
    return None if not path or "{" in path or "$" in path else path
