import ast
import subprocess
import sys
from collections.abc import Container, Iterator, Mapping
from functools import cache
from pathlib import Path

PACKAGE = "autogen_nb"

DOORS = ("base", "code_executors", "coding", "conditions", "teams", "ui")
"""The places that give names of the front where AutoGen has them: they stand above it."""

ROWS = (
    ("autogen_modules", "effects", "lazy_export", "errors", "events", "event_json", "messages", "outputs", "_version"),
    ("core",),
    ("engine", "trusted"),
    ("run", "kernels"),
    ("models", "executors", "human", "views", "sessions"),
    ("agents", "testing"),
    ("settings",),
    ("many",),
    ("notebook", "cli", *DOORS),
)
"""The places of each row, from the bottom; `__init__` stands above them all, and puts the parts together."""

ROW = {place: number for number, row in enumerate(ROWS) for place in row}

ROOMS = {
    "openai": ("models/openai/openai_clients.py", "models/openai/server_errors.py"),
    "click": ("cli/",),
    "nbclient": ("cli/",),
    "jupyter_client": ("kernels/",),
    "zmq": ("kernels/",),
    **dict.fromkeys(
        ("IPython", "ipywidgets", "comm", "ipykernel"),
        # The two files run inside the agent's kernel, which is an IPython.
        ("notebook/", "kernels/inside/service.py", "kernels/inside/kernel_main.py"),
    ),
    **dict.fromkeys(("dask", "distributed"), ("many/", "kernels/inside/")),
    "traitlets": ("notebook/", "cli/task_options.py", "settings.py"),
}
"""Where a library may be imported: files, and folders."""

FLOORS = {
    "agents": ("parts", "chats", "teams"),
    "core": ("text", "policy", "analysis", "chats"),
    "notebook": ("rendering", "view"),
}
"""The rooms of a folder, from the bottom; what lies in the folder itself stands above them all."""

PURE = {**dict.fromkeys(ROWS[0], frozenset[str]()), "core": frozenset({"markdown_it"})}
"""The places that do no input or output, and what each may import beside the standard library."""

HEAVY = ("openai", "genai_prices", "pandas", "matplotlib", "numpy", "IPython", "ipywidgets", "jupyter_client")


def complaints(package: Path) -> list[str]:
    files = sorted(path for path in package.rglob("*.py") if path != package / "__init__.py")
    return [
        f"{path.relative_to(package)}:{line}: {complaint}"
        for path in files
        for line, target in _imported(path, package)
        for complaint in _judge(path.relative_to(package), target)
    ]


@cache
def _nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def _imported(path: Path, package: Path) -> Iterator[tuple[int, str]]:
    here = (PACKAGE, *path.relative_to(package).parent.parts)
    for node in _nodes(path):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                above = here[: len(here) - level + 1] if level else ()
                base = ".".join([*above, *([module] if module else [])])
                yield from ((node.lineno, f"{base}.{alias.name}") for alias in names)
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield node.lineno, name


def _judge(module: Path, target: str) -> Iterator[str]:
    place = module.parts[0].removesuffix(".py")
    if place not in ROW:
        yield f"{place} has no row"
        return
    top, *rest = target.split(".")
    if top == PACKAGE:
        yield from _judge_own(place, rest[0] if rest else "__init__")
        if place in FLOORS and rest[:1] == [place]:
            yield from _judge_floor(FLOORS[place], module.parts[1], rest[1] if len(rest) > 1 else "")
        return
    allowed = ROOMS.get(top)
    if allowed is not None and not module.as_posix().startswith(allowed):
        yield f"{top} may be imported in {' and '.join(allowed)} only"
    if place in PURE and top not in sys.stdlib_module_names and top not in PURE[place]:
        yield f"{place} does no input or output, and may not import {top}"


def _judge_own(place: str, target: str) -> Iterator[str]:
    if target not in ROW and place in DOORS:
        return
    if target not in ROW:
        yield f"{target} is a name of the package's own front, which stands above {place}"
    elif ROW[target] > ROW[place]:
        yield f"{target} stands above {place}"
    # The values at the bottom are made of one another.
    elif target != place and ROW[target] == ROW[place] > 0:
        yield f"{target} stands beside {place}"


def _judge_floor(floors: tuple[str, ...], room: str, target: str) -> Iterator[str]:
    order = {name: number for number, name in enumerate(floors)}
    if order.get(target, len(floors)) > order.get(room, len(floors)):
        yield f"{target} stands above {room}"


def circles(package: Path) -> list[tuple[str, ...]]:
    needs = _needs(package)
    reached = {name: _reached(name, needs) for name in needs}
    groups = {tuple(sorted(each for each in reached[name] if name in reached[each])) for name in needs}
    return sorted(group for group in groups if group)


def _needs(package: Path) -> dict[str, set[str]]:
    names = {
        ".".join(path.relative_to(package).with_suffix("").parts).removesuffix(".__init__"): path
        for path in package.rglob("*.py")
        if path != package / "__init__.py"
    }
    return {
        name: {found for _, target in _imported(path, package) if (found := _module(target, names)) and found != name}
        for name, path in names.items()
    }


def _module(target: str, names: Container[str]) -> str:
    parts = target.split(".")[1:] if target.startswith(f"{PACKAGE}.") else []
    whole, home = ".".join(parts), ".".join(parts[:-1])
    return whole if whole in names else home if home in names else ""


def _reached(name: str, needs: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = list(needs[name])
    for each in waiting:
        if each not in found:
            found.add(each)
            waiting += needs[each]
    return found


def test_no_modules_need_each_other(project: Path) -> None:
    assert circles(project / PACKAGE) == []


def test_imports_point_down_and_vendors_stay_in_their_rooms(project: Path) -> None:
    assert complaints(project / PACKAGE) == []


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert _loaded("import autogen_nb", HEAVY) == []


def test_agents_of_a_chat_load_no_library_that_only_teams_and_tools_need() -> None:
    source = "import autogen_nb.agents.assistant, autogen_nb.agents.user_proxy, autogen_nb.agents.chats.initiated_chat"

    assert _loaded(source, ("pydantic", "autogen_nb.agents.teams.team_messages")) == []


def test_loading_the_extension_loads_no_library_that_only_a_chat_needs() -> None:
    source = """
from IPython.core.interactiveshell import InteractiveShell
InteractiveShell.instance().run_line_magic("load_ext", "autogen_nb")
"""
    assert _loaded(source, ("openai", "pandas", "matplotlib")) == []


def test_the_first_kernel_waits_for_little() -> None:
    source = "import autogen_nb.notebook.extension, autogen_nb.executors.block_executor"

    assert (
        _loaded(source, ("autogen_nb.events", "autogen_nb.run", "autogen_nb.core.analysis", "autogen_nb.models")) == []
    )


def _loaded(source: str, names: tuple[str, ...]) -> list[str]:
    ask = f"\nimport sys\nprint('loaded', *sorted(set({names!r}) & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", source + ask], check=True, stdout=subprocess.PIPE, text=True)
    return ran.stdout.splitlines()[-1].split()[1:]


CHANGING = frozenset(
    "write_text write_bytes mkdir makedirs rmdir removedirs rmtree unlink rename renames symlink_to hardlink_to "
    "link_to copyfile copymode copystat copy2 copytree chmod chown lchmod utime mknod mkfifo mkdtemp mkstemp "
    "NamedTemporaryFile TemporaryDirectory".split()
)
"""Calls that make, change or remove a file by its name; `open` for writing is one, too."""

OF_MODULES = {
    "os": frozenset("remove replace link symlink open truncate".split()),
    "shutil": frozenset("copy move".split()),
}
"""Calls that do so where a module has them, and may be anything elsewhere."""

OPENERS = frozenset("io codecs gzip bz2 lzma".split())
"""Modules whose `open` takes a name and then a mode, as the built-in one does."""

BY_NAME = {
    "agents/parts/code_execution.py": "the working directory itself; what lies below it is held",
    "cli/demo_command.py": "a folder of its own before its code runs, and a page whose place the person has named",
    "cli/doctor_command.py": "folders that were made just now, for a check",
    "cli/main.py": "a device",
    "cli/run_command.py": "a device; the file that the person has named, made anew, so that no link is opened",
    "human/rules_file.py": "the person's own settings, which no sandbox writes",
    "human/terminal_human.py": "a folder that was made just now, and the terminal",
    "kernels/lifecycle.py": "a fresh folder for a kernel that has not begun",
    "kernels/limits/cgroups.py": "the system's own cgroups",
    "kernels/notebook_kernel.py": "a notebook's own kernel, in a private folder",
    "kernels/places/container.py": "the working directory before its container; a private folder that that reads",
    "kernels/places/file_transfer.py": "a private folder that no kernel on a server sees",
    "kernels/places/local.py": "the log, in a private folder that a sandbox reads",
    "kernels/places/overlay.py": "a folder that was made just now, before any code",
    "kernels/preparation.py": "our own code, in a private folder that a sandbox reads",
    "kernels/transfer/variable_exchange.py": "a private folder that a sandbox reads, and a session's folder",
    "kernels/processes/private_folders.py": "private folders, in the folder for temporary files",
    "kernels/processes/supervisor.py": "runs alone, without a package; private folders when their code has ended",
    "executors/block_executor.py": "the working directory itself",
    "executors/handed_functions.py": "the working directory itself",
    "many/dask_map.py": "the folder of journals, the person's own data, which no sandbox writes",
    "models/wrappers/cache.py": "the cache's own folder, which SQLite opens by its name, too",
    "models/wrappers/recording.py": "the folder of the recording, before it is held",
    "notebook/chat_folders.py": "a folder of our own in the temporary one, which no sandbox writes",
    "run/runtime_log.py": "the log that the program has named, and its folder",
    "sessions/log_file.py": "the person's own data, which no sandbox writes",
    "sessions/store.py": "the person's own data, which no sandbox writes",
    "trusted/held_folder.py": "what the others use",
    "trusted/owned_files.py": "files whose owner is checked, and files that a person names, opened for reading only",
}
"""The modules that do it all the same, and why no code of an agent's can have put a link there."""


def changed_by_name(package: Path) -> dict[str, list[int]]:
    # What lies in `inside` runs in the agent's kernel.
    files = (path for path in sorted(package.rglob("*.py")) if path.parent.name != "inside")
    found = {
        path.relative_to(package).as_posix(): [
            node.lineno for node in _nodes(path) if isinstance(node, ast.Call) and _changes(node)
        ]
        for path in files
    }
    return {place: lines for place, lines in found.items() if lines}


def _changes(call: ast.Call) -> bool:
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    owner = getattr(getattr(call.func, "value", None), "id", "")
    if name in OF_MODULES.get(owner, ()):
        return not any(keyword.arg and keyword.arg.endswith("dir_fd") for keyword in call.keywords)
    if name == "open":
        # A path's own takes the mode first; the second of a held folder's is none of these.
        place = 1 if isinstance(call.func, ast.Name) or owner in OPENERS else 0
        given = [*call.args[place : place + 1], *(each.value for each in call.keywords if each.arg == "mode")]
        texts = [each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        return any(set(text) <= set("rwxabt+") and set(text) & set("wxa+") for text in texts)
    if name == "replace":
        # A path's own; that of a text has two arguments, and that of a value says what is replaced by what.
        return isinstance(call.func, ast.Attribute) and len(call.args) == 1 and not call.keywords
    if name == "touch":
        # A path's own has a mode at most.
        return all(isinstance(each, ast.Constant) for each in call.args)
    return name in CHANGING


def test_nothing_is_changed_by_name_where_code_could_put_a_link(project: Path) -> None:
    found = changed_by_name(project / PACKAGE)

    assert {place: lines for place, lines in found.items() if place not in BY_NAME} == {}
    assert [place for place in BY_NAME if place not in found] == []
