import ast
from pathlib import Path

from tests.test_imports import PACKAGE

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
    "kernels/processes/private_folders.py": "private folders, in the folder for temporary files",
    "kernels/processes/supervisor.py": "runs alone, without a package; private folders when their code has ended",
    "executors/block_executor.py": "the working directory itself",
    "executors/handed_functions.py": "the working directory itself",
    "models/wrappers/cache.py": "the cache's own folder, which SQLite opens by its name, too",
    "models/wrappers/recording.py": "the folder of the recording, before it is held",
    "notebook/chat_folders.py": "a folder of our own in the temporary one, which no sandbox writes",
    "run/runtime_log.py": "the log that the program has named, and its folder",
    "trusted/held_folder.py": "what the others use",
    "trusted/owned_files.py": "files whose owner is checked, and files that a person names, opened for reading only",
}
"""The modules that do it all the same, and why no code of an agent's can have put a link there."""


def changed_by_name(package: Path) -> dict[str, list[int]]:
    # What lies in `inside` runs in the agent's kernel.
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
