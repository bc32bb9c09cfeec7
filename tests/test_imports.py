import ast
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

PACKAGE = "autogen_nb"

REEXPORTS = ("base", "code_executors", "coding", "conditions", "memory", "model_context", "teams", "tools", "ui")
"""Modules that export the package's names under AutoGen's module names."""

ROWS = (
    ("autogen_modules", "effects", "lazy_export", "errors", "events", "event_json", "messages", "outputs", "_version"),
    ("core",),
    ("engine", "trusted"),
    ("run", "kernels"),
    ("models", "executors", "human", "views", "sessions"),
    ("agents", "testing"),
    ("settings",),
    ("many", "conversations"),
    ("notebook", "cli", *REEXPORTS),
)
"""The modules and folders of each row, from the lowest; `__init__` is above all rows."""

LIBRARIES = {
    "openai": ("models.openai.", "models.remote.clients"),
    "anthropic": ("models.anthropic.",),
    "google": ("models.gemini.",),
    **dict.fromkeys(("click", "nbclient"), ("cli.",)),
    "mcp": ("agents.parts.mcp_servers", "cli.mcp_server"),
    **dict.fromkeys(("jupyter_client", "zmq"), ("kernels.",)),
    **dict.fromkeys(
        ("IPython", "ipywidgets", "comm", "ipykernel"),
        # These modules of `inside` run in the agent's kernel.
        ("notebook.", *(f"kernels.inside.{name}" for name in ("figures", "kernel_main", "output_stream", "service"))),
    ),
    **dict.fromkeys(("dask", "distributed"), ("many.", "kernels.inside.service")),
    "traitlets": ("notebook.", "cli.task_options", "settings"),
}
"""The modules, and folders (with a dot at the end), that may import a library."""

LAYERS = {
    "agents": ("parts", "chats", "teams"),
    "core": ("text", "policy", "analysis", "chats"),
    "notebook": ("rendering", "view"),
}
"""The subfolders of a folder, from the lowest; the modules of the folder itself are above them."""

PURE = {**dict.fromkeys(ROWS[0], frozenset[str]()), "core": frozenset({"markdown_it"})}
"""Modules and folders that do no input or output, and what each may import beside the standard library."""

HEAVY = ("openai", "genai_prices", "pandas", "matplotlib", "numpy", "IPython", "ipywidgets", "jupyter_client")


@pytest.fixture
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(PACKAGE, include_external_packages=True, cache_dir=None)


def upward(graph: grimp.ImportGraph, container: str, *layers: grimp.Layer) -> list[str]:
    found = graph.find_illegal_dependencies_for_layers(layers, containers={container})
    return [f"{each.importer} imports {each.imported}" for each in found]


def test_imports_point_down(graph: grimp.ImportGraph) -> None:
    needs = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules - {PACKAGE}}
    # Raises CycleError for modules that need each other.
    TopologicalSorter(needs).prepare()

    assert {name.split(".")[1] for name in graph.find_modules_that_directly_import(PACKAGE)} <= {*REEXPORTS}
    assert graph.find_children(PACKAGE) == {f"{PACKAGE}.{place}" for row in ROWS for place in row}
    # `__init__` may import any module.
    for imported in graph.find_modules_directly_imported_by(PACKAGE):
        graph.remove_import(importer=PACKAGE, imported=imported)
    # Only the modules of row 0 may import modules of their row.
    rows = [grimp.Layer(*row, independent=row != ROWS[0]) for row in reversed(ROWS)]
    assert upward(graph, PACKAGE, *rows) == []
    for folder, layers_below in LAYERS.items():
        above = {name.rpartition(".")[2] for name in graph.find_children(f"{PACKAGE}.{folder}")} - {*layers_below}
        layers = [grimp.Layer(*above, independent=False), *map(grimp.Layer, reversed(layers_below))]
        assert upward(graph, f"{PACKAGE}.{folder}", *layers) == []


def test_libraries_are_imported_only_where_design_allows(graph: grimp.ImportGraph) -> None:
    libraries = {name for name in graph.modules if not name.startswith(PACKAGE)} - sys.stdlib_module_names
    users = {library: graph.find_modules_that_directly_import(library) - {PACKAGE} for library in libraries}
    pure = {f"{PACKAGE}.{place}": allowed for place, allowed in PURE.items()}

    for library, modules in LIBRARIES.items():
        assert [
            name
            for name in users.get(library, ())
            if not name.startswith(tuple(f"{PACKAGE}.{module}" for module in modules))
        ] == []
    for library, names in users.items():
        assert [name for name in names if library not in pure.get(".".join(name.split(".")[:2]), {library})] == []


def test_no_import_by_a_string_evades_the_rules(project: Path) -> None:
    package = project / PACKAGE
    call = re.compile(r"""(?<!['\w])(?:import_module|__import__)\("(\w+)""")
    found = {
        (path.relative_to(package).parts[0], name)
        for path in package.rglob("*.py")
        for name in call.findall(path.read_text(encoding="utf-8"))
    }

    assert {pair for pair in found if pair[1] in {*LIBRARIES, PACKAGE} or pair[0] in PURE} == {("__init__.py", PACKAGE)}


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


def test_the_extension_waits_for_no_module_of_a_chat() -> None:
    assert _loaded("import autogen_nb.notebook.extension", ("autogen_nb.messages", "autogen_nb.outputs")) == []


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
    "agents/parts/output_collector.py": "the working directory itself; what lies below it is held",
    "cli/doctor_command.py": "folders that were made just now, for a check",
    "cli/main.py": "a device",
    "cli/run_command.py": "a device; files that the person has named, made anew; a folder of its own before its code",
    "human/rule_based_approver.py": "the person's own settings, which no sandbox writes",
    "notebook/model_setting.py": "the same",
    "notebook/commands/settings_commands.py": "the same",
    "notebook/commands/cell_commands.py": "a folder that was made just now, before any code",
    "sessions/attachment.py": "the folder of a session, which no code of an agent writes",
    "human/terminal_human.py": "a folder that was made just now, and the terminal",
    "kernels/launch.py": "a fresh folder for a kernel that has not begun",
    "kernels/limits/cgroups.py": "the system's own cgroups",
    "kernels/notebook_kernel.py": "a notebook's own kernel, in a private folder",
    "kernels/places/container.py": "the working directory before its container; a private folder that that reads",
    "kernels/places/file_transfer.py": "a private folder that no kernel on a server sees",
    "kernels/places/local.py": "the log, in a private folder that a sandbox reads; an overlay, before any code",
    "kernels/transfer/pickles.py": "a private folder that a sandbox reads, and the kernel's outbox",
    "kernels/transfer/variable_exchange.py": "a private folder that a sandbox reads, and a session's folder",
    "kernels/guard/caller.py": "the memory of a waiting process, whose number cannot be used again",
    "kernels/guard/confine.py": "opens places for rules only",
    "kernels/guard/door.py": "the memory of a waiting process",
    "kernels/guard/plans.py": "a descriptor that is held, by its name in /proc",
    "kernels/processes/private_folders.py": "private folders, in the folder for temporary files",
    "kernels/processes/supervisor.py": "runs alone, without a package; private folders when their code has ended",
    "executors/block_executor.py": "the working directory itself",
    "executors/command_line_code_executor.py": "the working directory itself",
    "many/dask_map.py": "the folder of journals, the person's own data, which no sandbox writes",
    "models/wrappers/recording.py": "the folder of a recording, before it is held, and that of a cache, for SQLite",
    "conversations/chat_kernels.py": "a folder of our own in the temporary one, which no sandbox writes",
    "run/runtime_log.py": "the log that the program has named, and its folder",
    "sessions/log_file.py": "the person's own data, which no sandbox writes",
    "sessions/store.py": "the person's own data, which no sandbox writes",
    "trusted/held_folder.py": "what the others use",
    "trusted/owned_files.py": "files whose owner is checked, the person's own settings, and files to read",
}
"""The modules that do it all the same, and why no code of an agent's can have put a link there."""


def changed_by_name(package: Path) -> dict[str, list[int]]:
    # The modules in `inside` run in the agent's kernel.
    files = (path for path in sorted(package.rglob("*.py")) if path.parent.name != "inside")
    found = {
        path.relative_to(package).as_posix(): [
            node.lineno
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call) and _changes(node)
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
