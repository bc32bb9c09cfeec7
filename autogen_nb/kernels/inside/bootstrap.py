"""Loads this package's modules and the guard into the agent's kernel, from the file that `launch.py` writes."""

import builtins
import marshal
import sys
from importlib.util import MAGIC_NUMBER
from types import CodeType, ModuleType
from typing import Any


def install(shell: Any, path: str, field: str, overlay: str, prefix: str, supervisor: str) -> None:
    inside, guard = _unpack(path)
    modules = {name: _make_module(name, code) for name, code in inside.items()}
    modules["service"].install(modules)
    modules["output_stream"].install(shell.kernel)
    modules["repair"].install(shell)
    modules["figures"].install(shell)
    overlay = modules["overlay_env"].enter(overlay, prefix)
    own: dict[str, Any] = {"__builtins__": dict(vars(builtins))}
    exec(guard.pop("guard"), own)  # noqa: S102  # the package's code
    secret = bytes.fromhex(shell.kernel.get_parent("shell")["content"].pop(field)["secret"])
    folders = (modules["overlay_env"].private(overlay), modules["overlay_env"].packages(overlay))
    service, parts = modules["service"], own["load"](guard)
    service.show_charts(shell.display_formatter, parts["audit_events"].DRAW)
    own["install"](shell.kernel, secret, parts, *folders, supervisor, lambda: service.connect(shell.kernel))


def _make_module(name: str, code: CodeType) -> Any:
    module = sys.modules[f"autogen_nb_{name}"] = ModuleType(f"autogen_nb_{name}")
    exec(code, vars(module))  # noqa: S102  # the package's code
    return module


def _unpack(path: str) -> list[dict[str, CodeType]]:
    with open(path, "rb") as file:
        magic, compiled, sources = marshal.load(file)  # noqa: S302  # this package wrote the file
    if magic == MAGIC_NUMBER:
        codes: list[dict[str, CodeType]] = marshal.loads(compiled)  # noqa: S302  # as above
        return codes
    return [
        {name: compile(source, file_name, "exec") for name, (source, file_name) in part.items()} for part in sources
    ]
