"""Puts our own modules, which came in one file, into the kernel that this runs in: before any of the agent's code.

Its source is sent there, so it imports nothing of ours. `preparation` packs the file.
"""

import builtins
import marshal
import sys
from importlib.util import MAGIC_NUMBER
from types import CodeType, ModuleType
from typing import Any


def install(shell: Any, path: str, field: str, over: str, prefix: str) -> None:
    """Has all of ours work in this kernel; once."""
    inside, guard = _unpacked(path)
    # Modules of their own, so that nothing shows in the namespace of the agent's code.
    modules = {name: _made(name, code) for name, code in inside.items()}
    modules["service"].install(modules["encode"], modules["pickles"])
    modules["repair"].install(shell)
    over = modules["overlay_env"].enter(over, prefix)
    own: dict[str, Any] = {"__builtins__": dict(vars(builtins))}
    exec(guard.pop("guard"), own)  # noqa: S102 - our own code
    secret = bytes.fromhex(shell.kernel.get_parent("shell")["content"].pop(field)["secret"])
    folders = (modules["overlay_env"].private(over), modules["overlay_env"].packages(over))
    own["install"](shell.kernel, secret, own["load"](guard), *folders)


def _made(name: str, code: CodeType) -> Any:
    module = sys.modules[f"autogen_nb_{name}"] = ModuleType(f"autogen_nb_{name}")
    exec(code, vars(module))  # noqa: S102 - our own code
    return module


def _unpacked(path: str) -> list[dict[str, CodeType]]:
    with open(path, "rb") as file:
        magic, compiled, sources = marshal.load(file)  # noqa: S302 - our own file, from before the agent's code
    if magic == MAGIC_NUMBER:
        found: list[dict[str, CodeType]] = marshal.loads(compiled)  # noqa: S302 - same
        return found
    return [{name: compile(source, shown, "exec") for name, (source, shown) in part.items()} for part in sources]
