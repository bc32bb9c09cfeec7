"""Loads this package's modules into the agent's kernel, from the file that `launch.py` writes."""

import marshal
import sys
from functools import partial
from importlib.util import MAGIC_NUMBER
from types import CodeType, ModuleType
from typing import Any


def install(shell: Any, path: str, overlay: str, prefix: str, supervisor: str) -> None:
    modules: dict[str, Any] = {}
    for name, code in _unpack(path).items():
        modules[name] = sys.modules[f"autogen_nb_{name}"] = ModuleType(f"autogen_nb_{name}")
        exec(code, vars(modules[name]))  # noqa: S102  # the package's code
    modules["service"].install(modules)
    modules["output_stream"].install(shell.kernel)
    modules["repair"].install(shell)
    modules["figures"].install(shell)
    modules["overlay_env"].enter(overlay, prefix)
    if supervisor:
        threads = modules["lost_threads"].LostThreads(partial(modules["idle_pools"].restart_of, shell))
        connect = partial(modules["service"].connect, shell.kernel)
        modules["checkpoint"].install(shell.kernel, supervisor, threads, connect)


def _unpack(path: str) -> dict[str, CodeType]:
    with open(path, "rb") as file:
        magic, compiled, sources = marshal.load(file)  # noqa: S302  # this package wrote the file
    if magic == MAGIC_NUMBER:
        codes: dict[str, CodeType] = marshal.loads(compiled)  # noqa: S302  # as above
        return codes
    return {name: compile(source, file_name, "exec") for name, (source, file_name) in sources.items()}
