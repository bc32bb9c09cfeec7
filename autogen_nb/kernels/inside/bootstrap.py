"""Loads this package's modules into the agent's kernel, from the file that `launch.py` writes."""

import marshal
import sys
from functools import partial
from importlib.util import MAGIC_NUMBER
from types import CodeType, ModuleType
from typing import Any


def install(shell: Any, path: str, overlay: str, prefix: str, supervisor: str) -> None:
    modules = {name: _make_module(name, code) for name, code in _unpack(path).items()}
    modules["service"].install(modules)
    modules["output_stream"].install(shell.kernel)
    modules["repair"].install(shell)
    modules["figures"].install(shell)
    modules["overlay_env"].enter(overlay, prefix)
    modules["service"].show_charts(shell.display_formatter)
    if supervisor:
        threads = modules["lost_threads"].LostThreads(partial(modules["idle_pools"].restart_of, shell))
        connect = partial(modules["service"].connect, shell.kernel)
        modules["checkpoint"].install(shell.kernel, supervisor, threads, connect)


def _make_module(name: str, code: CodeType) -> Any:
    module = sys.modules[f"autogen_nb_{name}"] = ModuleType(f"autogen_nb_{name}")
    exec(code, vars(module))  # noqa: S102  # the package's code
    return module


def _unpack(path: str) -> dict[str, CodeType]:
    with open(path, "rb") as file:
        magic, compiled, sources = marshal.load(file)  # noqa: S302  # this package wrote the file
    if magic == MAGIC_NUMBER:
        codes: dict[str, CodeType] = marshal.loads(compiled)  # noqa: S302  # as above
        return codes
    return {name: compile(source, file_name, "exec") for name, (source, file_name) in sources.items()}
