"""The checks of ``autogen-nb doctor``. Only `probe` contacts a server."""

import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from autogen_nb._version import __version__
from autogen_nb.agents.parts.execution_target import ExecutionTarget
from autogen_nb.errors import AutogenError
from autogen_nb.human.rules_file import RulesFile
from autogen_nb.kernels.places import SANDBOXES
from autogen_nb.models.config import model_connection
from autogen_nb.models.config.config_list import LIST
from autogen_nb.models.config.local_servers import USUAL, LocalServers
from autogen_nb.run import policy

State = Literal["ok", "note", "broken"]

_PACKAGE = "autogen-nb"
_PIP = f"{sys.executable} -m pip install"
_PYTHON = (3, 11)
_DELIVERS_IN_AWAITED_CELLS = (6, 29)
_DELIVERS_IN_ALL_CELLS = (7, 0)
"""The first ipykernel releases that deliver clicks during an awaited cell, and during any cell."""

_FRONT_ENDS = {"jupyterlab": "JupyterLab", "notebook": "Notebook"}
_OPTIONAL = {
    "data": "the built-in analysis (-m offline), tables and the demo",
    "docker": "--sandbox docker and the Docker executors",
    "azure": "tokens of Microsoft Entra for models on Azure",
    "pictures": "smaller plots for models that accept images",
}
_SETTINGS = ("AUTOGEN_NB_MODEL", "AUTOGEN_NB_CONFIRM", "AUTOGEN_NB_BUDGET")


@dataclass(frozen=True, slots=True)
class Finding:
    area: str
    name: str
    state: State
    text: str
    mend: str = ""


def _python() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding("python", "autogen_nb", "ok", f"version {__version__}")
    is_supported = sys.version_info[:2] >= _PYTHON
    mend = "" if is_supported else "install Python 3.11 or newer, and autogen-nb into it"
    yield Finding("python", "Python", "ok" if is_supported else "broken", f"{version} at {sys.executable}", mend)


def _libraries() -> Iterator[Finding]:
    try:
        required = metadata.requires(_PACKAGE) or []
    except metadata.PackageNotFoundError:
        yield Finding("libraries", _PACKAGE, "note", "is not installed, but used from its source", f"{_PIP} {_PACKAGE}")
        return
    for text in required:
        name, least, extra = _requirement(text)
        if extra and extra not in _OPTIONAL:
            continue
        version = _version(name)
        if version is not None and _numbers(version) >= _numbers(least):
            yield Finding("libraries", name, "ok", version)
            continue
        what = "is not installed" if version is None else f"{version} is too old"
        use = f"; it is for {_OPTIONAL[extra]}" if extra else ""
        state: State = "note" if extra else "broken"
        yield Finding("libraries", name, state, what + use, f"{_PIP} {'-U ' if version else ''}'{name}>={least}'")


def _front_ends() -> Iterator[Finding]:
    installed = {label: version for name, label in _FRONT_ENDS.items() if (version := _version(name))}
    for label, version in installed.items():
        yield Finding("front ends", label, "ok", version)
    if not installed:
        text = "this environment has no JupyterLab or Notebook; other front ends, such as VS Code, may use its kernel"
        yield Finding("front ends", "none", "note", text, f"{_PIP} jupyterlab")


def _clicks() -> Iterator[Finding]:
    version, widgets = _version("ipykernel"), _version("ipywidgets")
    state: State = "ok"
    mend = ""
    if widgets is None:
        text = "buttons need ipywidgets; with %config AutogenMagics.ask = 'text', you type your answers"
        state, mend = "broken", f"{_PIP} ipywidgets"
    elif version is None or _numbers(version) < _DELIVERS_IN_AWAITED_CELLS:
        text = f"with ipykernel {version or 'missing'}, a click may not reach a running cell"
        state, mend = "note", f"{_PIP} -U 'ipykernel>=7.4'"
    elif _numbers(version) < _DELIVERS_IN_ALL_CELLS:
        text = f"ipykernel {version} delivers clicks while a %%autogen cell runs; in other cells, you type your answers"
    else:
        text = f"ipykernel {version} delivers clicks while any cell runs, from front ends with and without subshells"
    yield Finding("clicks", "buttons", state, text, mend)


def _kernel() -> Iterator[Finding]:
    from autogen_nb.run import engine

    with tempfile.TemporaryDirectory(prefix="autogen-nb-") as folder:
        executor = ExecutionTarget().executor(cwd=Path(folder))
        start = time.monotonic()
        try:
            engine.call(executor.start())
            yield Finding("kernel", "agent's kernel", "ok", f"starts in {time.monotonic() - start:.1f} s")
        except AutogenError as error:
            yield Finding("kernel", "agent's kernel", "broken", str(error), f"{_PIP} -U ipykernel jupyter_client")
        finally:
            engine.call(executor.stop())


def _sandboxes() -> Iterator[Finding]:
    none, *walls = SANDBOXES
    text = f"the default: code has your rights; --sandbox {' or '.join(walls)} restricts it"
    yield Finding("sandboxes", none, "ok", text)
    for name in walls:
        try:
            # The check rejects the home folder, which may be the working folder.
            with tempfile.TemporaryDirectory(prefix="autogen-nb-") as folder:
                ExecutionTarget(name).check(Path(folder))
        except AutogenError as error:
            what, _, mend = str(error).partition(": ")
            yield Finding("sandboxes", name, "note", what, mend)
        else:
            yield Finding("sandboxes", name, "ok", f"--sandbox {name} is available")


def _models() -> Iterator[Finding]:
    has_pandas = _version("pandas") is not None
    mend = "" if has_pandas else f"{_PIP} 'autogen-nb[data]'"
    yield Finding("models", "offline", "ok" if has_pandas else "note", "a fixed analysis of tables, no host", mend)
    try:
        known = model_connection.known_models("", None, os.environ)
    except AutogenError as error:
        yield Finding("models", LIST, "broken", str(error), f"repair or remove {LIST}")
        return
    if model_connection.choose(None, None, os.environ) is None:
        mend = (
            "set OPENAI_API_KEY, or OPENAI_BASE_URL and AUTOGEN_NB_MODEL, or write an OAI_CONFIG_LIST; "
            "autogen-nb doctor --probe looks for servers on this machine"
        )
        yield Finding("models", "none", "note", "no model is configured; a cell asks which one to use", mend)
    for model in known:
        text = f"{model.source}; connects to {', '.join(model.hosts) or 'no host'}"
        yield Finding("models", model.name or "without a name", "ok", text)


def probe(servers: LocalServers) -> Iterator[Finding]:
    """Lists the models that servers on this machine offer."""
    listening = servers.listening()
    for server in listening:
        models = ", ".join(server.models) or "no model"
        yield Finding("this machine", server.kind, "ok", f"{server.base_url} has {models}")
    if not listening:
        ports = ", ".join(f"{name} {port}" for name, port in USUAL.items())
        yield Finding("this machine", "servers", "note", f"no server answers on the usual ports ({ports})")


def _policy() -> Iterator[Finding]:
    try:
        current_policy = policy()
    except AutogenError as error:
        yield Finding("policy", "organisation", "broken", str(error), "ask the administrator of this machine")
    else:
        yield Finding("policy", "organisation", "ok", current_policy.text or "this machine has no policy")
    rules = RulesFile()
    try:
        count = len(rules.rules())
    except AutogenError as error:
        yield Finding("policy", "your rules", "note", str(error), f"repair or remove {rules.path}")
    else:
        yield Finding("policy", "your rules", "ok", f"{count}; %autogen rules lists them")


def _settings() -> Iterator[Finding]:
    for name in _SETTINGS:
        if value := os.environ.get(name):
            yield Finding("settings", name, "ok", value)


def _requirement(text: str) -> tuple[str, str, str]:
    name = re.match(r"[\w.-]+", text)
    least = re.search(r">=\s*([\d.]+)", text)
    extra = re.search(r"extra\s*==\s*['\"]([\w-]+)['\"]", text)
    return name[0] if name else text, least[1] if least else "0", extra[1] if extra else ""


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


CHECKS = (_python, _libraries, _front_ends, _clicks, _kernel, _sandboxes, _models, _policy, _settings)
