"""``autogen-nb doctor``: reports the state of the installation, and how to repair it.

For a program for AutoGen, it reads which of the program's names exist in this package; it neither runs nor imports the
program.
"""

import ast
import difflib
import inspect
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple

import click

from autogen_nb._version import __version__
from autogen_nb.agents.parts.agent import Agent
from autogen_nb.autogen_modules import NAMES, StandIn, own_module
from autogen_nb.cli import exit_codes
from autogen_nb.core.policy.organisation_policy import SANDBOXES
from autogen_nb.core.text.visible_text import visible
from autogen_nb.engine import engine
from autogen_nb.errors import AutogenError
from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.human.rule_based_approver import RulesFile
from autogen_nb.kernels.places.place import Place
from autogen_nb.models.config import model_selection
from autogen_nb.models.config.config_list import LIST
from autogen_nb.models.config.providers import PROVIDERS, host_of
from autogen_nb.trusted import policy_file

WAYS = {
    "iterate over the messages of run_stream(...)": r"autogen_core\.(logging|trace_|\w+_LOGGER_NAME)",
    "dump_component and load_component save agents and teams": r"autogen_core\.(Component|is_component)",
    "give an AssistantAgent functions as tools": r"autogen(_ext|_core)?\.(tools|utils|mcp|interop)",
    "use autogen_nb.testing.ScriptedModel": r"autogen_ext\.models\.replay",
    "use an OpenAIChatCompletionClient or an llm_config, with the base_url of the server": (
        r"autogen_(ext|core)\.models|autogen\.(oai|llm_clients|ModelClient)"
    ),
    "write a class of your own that is a Memory": r"autogen_ext\.(memory|experimental)|autogen_core\.memory",
    "use an AssistantAgent with tools, or a MagenticOneGroupChat of your agents": r"autogen(_ext)?\.(agents|teams)",
    "match the events of autogen_nb.events": r"autogen\.(events|messages)",
    "keep what save_state() returns as it is": r"autogen_agentchat\.state|autogen_core\.model_context",
    "give a UserProxyAgent an input_func": r"autogen_agentchat\.ui",
    "messages have to_text() and to_model_text()": r"autogen_agentchat\.(utils|messages)",
    "use an executor of this package, such as JupyterCodeExecutor": r"autogen(_ext|_core)?\.(coding|code_executor)",
    "there is no actor runtime: use a team, or plain asyncio": r"autogen_core\.(?!Image)|autogen_ext\.(runtimes|cache)",
    "it is another API: use an AssistantAgent, and await agent.run(task=...)": r"(ag2|agent_framework)\b",
    "write import autogen": r"pyautogen\b",
    "few programs use it; docs/coming.md says what is here": "",
}
"""What to use instead of a name, with a pattern of names; the first pattern counts."""

_DIFFERENCES = {
    r"autogen(\.agentchat)?\.(Assistant|Conversable)Agent": "replies are cached only with a cache_seed",
    r"autogen(\.\w+)*\.LLMConfig": "it is a dict, and still a context manager",
    r"autogen\.agentchat.*\.StayTarget": "in a ReplyResult, the agent that called the tool speaks again",
    r"autogen\.agentchat.*\.AutoPattern": "the manager's model does not choose the tool executor",
    r"autogen\.agentchat.*run_group_chat": "it begins with process() or events, which are this package's",
    r"autogen\.coding.*LocalCommandLineCodeExecutor": "it runs the Python of this program, not the first one on PATH",
    r"autogen_agentchat.*\.RoundRobinGroupChat": "a second task goes to the first participant",
    r"autogen_agentchat.*\.GraphFlow": "members of the same round answer one after the other",
    r"autogen_agentchat.*\.TextMentionTermination": "it searches neither the task nor outputs of code",
    r"autogen_ext.*CodeExecutor": "its first use starts it, and the end of the run stops it",
}
"""How the behaviour of a name differs, by a pattern of the name."""

_ROOTS = (*NAMES, "autogen_nb", "pyautogen", "ag2", "agent_framework")
_OTHER_LANGUAGE = re.compile(r"%%(?!time|capture)")
_MAGIC = re.compile(r"^(\s*)((?:[\w, ]+=\s*)?(?:%{1,2}[a-zA-Z]|[!?]).*|[\w.]+\?{1,2})$")
_State = Literal["ok", "note", "broken"]


class Finding(NamedTuple):
    name: str
    state: _State
    text: str
    mend: str = ""


def check_program(path: Path) -> list[Finding]:
    """A summary, and a finding for each import, name and argument that exists, differs or is missing here."""
    places = ["line 1"]
    try:
        source, places = _read(path)
        program = _Program(ast.parse(source))
    except (SyntaxError, ValueError, LookupError, TypeError) as error:
        place = places[min(getattr(error, "lineno", None) or 1, len(places)) - 1]
        text = f"{place} is not valid Python: {error.msg}" if isinstance(error, SyntaxError) else "it is no program"
        return [Finding(str(path), "broken", text)]
    lines = sorted(program.findings, key=lambda row: (row[0], row[1].state != "ok"))
    findings = [each._replace(name=places[line - 1]) for line, each in lines]
    if missing := sum(finding.state == "broken" for finding in findings):
        names = "name does" if missing == 1 else "names do"
        return [Finding(str(path), "broken", f"{missing} {names} not exist here"), *findings]
    unchanged = "runs unchanged after install_as_autogen()" if program.roots & {*NAMES} else "runs unchanged"
    return [Finding(str(path), "ok", unchanged if program.roots else "imports nothing of AutoGen"), *findings]


def way_of(name: str) -> str:
    return next(way for way, pattern in WAYS.items() if re.match(pattern, name))


def _read(path: Path) -> tuple[str, list[str]]:
    """The program, with ``pass`` for the magics of a notebook, and the place of each of its lines."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return text, [f"line {number}" for number in range(1, text.count("\n") + 2)]
    lines = []
    for number, cell in enumerate(json.loads(text)["cells"], 1):
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and not _OTHER_LANGUAGE.match(source):
            lines += [(f"cell {number}, line {line}", text) for line, text in enumerate(source.splitlines(), 1)]
    return "\n".join(_MAGIC.sub(r"\1pass", text) for _, text in lines), [place for place, _ in lines] or ["cell 1"]


class _Program:
    """The imports of a program, its attributes of imported modules, and its calls of what is imported."""

    def __init__(self, tree: ast.Module) -> None:
        self.findings: list[tuple[int, Finding]] = []
        self.roots: set[str] = set()
        self.bound: dict[str, str] = {}
        self.reported: set[str] = set()
        nodes = list(ast.walk(tree))
        for node in nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._import(node)
        for node in nodes:
            if isinstance(node, ast.arg) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)):
                self.bound.pop(getattr(node, "arg", getattr(node, "id", "")), None)
        for node in nodes:
            if isinstance(node, ast.Attribute) and (name := self._dotted(node)):
                self._exists(node, name)
            elif isinstance(node, ast.Call):
                self._call(node)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        module = f"{'.' * node.level}{node.module}." if isinstance(node, ast.ImportFrom) else ""
        names = [each for each in node.names if f"{module}{each.name}".partition(".")[0] in _ROOTS]
        for each in names:
            name = f"{module}{each.name}"
            root = name.partition(".")[0]
            self.roots.add(root)
            self.bound[each.asname or (each.name if module else root)] = name if module or each.asname else root
        here = [each.name for each in names if self._exists(node, f"{module}{each.name}".removesuffix(".*"))]
        if here:
            self._add(node, "ok", f"{f'from {module[:-1]} ' if module else ''}import {', '.join(here)}")

    def _add(self, node: ast.stmt | ast.expr, state: _State, text: str, mend: str = "") -> None:
        if text not in self.reported:
            self.reported.add(text)
            self.findings.append((node.lineno, Finding("", state, text, mend)))

    def _exists(self, node: ast.stmt | ast.expr, name: str) -> bool:
        try:
            _look_up(name)
        except LookupError as error:
            missing, way = error.args
            self._add(node, "broken", f"{missing} does not exist here", way)
            return False
        for pattern, difference in _DIFFERENCES.items():
            if re.fullmatch(pattern, name):
                self._add(node, "note", f"{name.rpartition('.')[2]} differs", difference)
        return True

    def _call(self, node: ast.Call) -> None:
        name = self._dotted(node.func)
        if name is None or not self._exists(node, name):
            return
        try:
            parameters = _parameters(_look_up(name))
        except (TypeError, ValueError):
            return
        any_keyword = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
        for keyword in {each.arg for each in node.keywords if each.arg and not any_keyword} - {*parameters}:
            near = difflib.get_close_matches(keyword, parameters, 1, 0.8)
            way = f"write {near[0]}=" if near else "leave it out"
            self._add(node, "broken", f"{name.rpartition('.')[2]}'s {keyword}= does not exist here", way)

    def _dotted(self, node: ast.expr) -> str | None:
        """The full name of an imported name, or of an attribute of it."""
        if isinstance(node, ast.Attribute):
            owner = self._dotted(node.value)
            return owner and f"{owner}.{node.attr}"
        return self.bound.get(node.id) if isinstance(node, ast.Name) else None


def _parameters(called: Any) -> dict[str, inspect.Parameter]:
    """The parameters of a call; the classes of agents and teams pass other keywords on to their base classes."""
    parameters = {**inspect.signature(called).parameters}
    for base in called.__mro__[1:] if isinstance(called, type) and issubclass(called, Agent) else ():
        others = [name for name, parameter in parameters.items() if parameter.kind is parameter.VAR_KEYWORD]
        if others and "__init__" in vars(base):
            del parameters[others[0]]
            parameters |= inspect.signature(vars(base)["__init__"]).parameters
    return parameters


def _look_up(name: str) -> Any:
    """What has this name here, or None if only a run could tell; raises LookupError if nothing has."""
    head, *parts = name.split(".")
    if head not in (*NAMES, "autogen_nb"):
        raise LookupError(head, way_of(head))
    found: Any = own_module(head)
    for index, part in enumerate(parts, 1):
        path = ".".join((head, *parts[:index]))
        owner, found = found, getattr(found, part, None)
        if found is None and isinstance(owner, ModuleType) and not part.startswith("_"):
            with suppress(ModuleNotFoundError):
                found = own_module(path)
        known = hasattr(owner, part) or not isinstance(owner, ModuleType | type)
        advice = found.advice.partition("; ")[2] if isinstance(found, StandIn) else ""
        if advice or not (found or known):
            raise LookupError(path, advice or way_of(path))
    return found


_PIP = f"{sys.executable} -m pip install"
_MARKS = {"ok": "ok  ", "note": "note", "broken": "FAIL"}
_OPTIONAL = {
    "data": "the built-in analysis (-m offline), tables and the demo",
    "docker": "--sandbox docker and the Docker executors",
    "anthropic": "Claude by the API of Anthropic",
    "gemini": "Gemini by the API of Google",
    "azure": "tokens of Microsoft Entra for models on Azure",
    "pictures": "smaller plots for models that accept images",
}


@click.command(
    short_help="Checks the installation, or programs for AutoGen, and says how to repair them.",
    epilog="Exit code 0 if chats can work here, or all programs can run, and 1 if something must be repaired first.",
)
@click.argument("programs", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def doctor(*, programs: Sequence[Path], as_json: bool) -> int:
    """Reports the state of the installation, libraries, sandboxes and models, and how to repair problems.

    With PROGRAMS for AutoGen or AG2, Python files or notebooks, reports instead which of their imports, names and
    arguments exist here, which differ, and what to use for the others. The programs do not run.

    The command contacts no host and shows no key.
    """
    findings = {str(path): check_program(path) for path in programs}
    findings = findings or {area: list(findings_of(area, *check)) for area, check in CHECKS.items()}
    broken = sum(finding.state == "broken" for area in findings.values() for finding in area)
    if as_json:
        rows = [{"area": area, **finding._asdict()} for area, found in findings.items() for finding in found]
        click.echo(json.dumps({"ok": not broken, "findings": rows}, indent=2))
    elif programs:
        for summary, *found in findings.values():
            click.echo(visible(f"{summary.name}: {summary.text}"))
            for name, state, text, way in found:
                click.echo(visible(f"  {_MARKS[state]}  {name}: {text}{way and '; '}{way}"))
    else:
        for area, found in findings.items():
            click.echo(area)
            for name, state, text, mend in found:
                repair = f"\n{' ' * 13}{mend}" if mend else ""
                click.echo(visible(f"  {_MARKS[state]}  {name}: {text}{repair}"))
        click.echo(f"\n{broken} to repair." if broken else "\nChats can work here.")
    return exit_codes.FAILED if broken else exit_codes.ANSWERED


def findings_of(area: str, check: Callable[[], Iterable[Finding]], mend: str) -> Iterator[Finding]:
    """The findings of a check; an exception in the check becomes a finding, too."""
    try:
        yield from check()
    except AutogenError as error:
        yield Finding(area, "broken", str(error), mend)
    except Exception as error:  # noqa: BLE001 - the report must include unexpected errors, too
        yield Finding(area, "broken", f"could not be checked: {type(error).__name__}: {error}")


def _libraries() -> Iterator[Finding]:
    yield Finding("autogen_nb", "ok", f"version {__version__}, in Python {sys.version.split()[0]} at {sys.executable}")
    for text in metadata.requires("autogen-nb") or []:
        [(name, least, extra)] = re.findall(r"^([\w.-]+)(?:.*?>=\s*([\d.]+))?(?:.*extra\s*==\s*['\"]([\w-]+))?", text)
        version = _version(name)
        if extra and extra not in _OPTIONAL:
            continue
        if version and _numbers(version) >= _numbers(least):
            yield Finding(name, "ok", version)
            continue
        what = f"{version} is too old" if version else "is not installed"
        use = f"; it is for {_OPTIONAL[extra]}" if extra else ""
        mend = f"{_PIP} {'-U ' if version else ''}'{name}>={least or 0}'"
        yield Finding(name, "note" if extra else "broken", what + use, mend)


def _kernel() -> Iterator[Finding]:
    with tempfile.TemporaryDirectory(prefix="autogen-nb-") as folder:
        executor = BlockExecutor(cwd=folder)
        start = time.monotonic()
        try:
            engine.call(executor.start())
            yield Finding("agent's kernel", "ok", f"starts in {time.monotonic() - start:.1f} s")
            if reason := executor.why_no_guard:
                asked = "code that may do more than compute is asked about before it runs"
                yield Finding("guard", "note", f"no guard here: {reason}; {asked}")
            else:
                yield Finding("guard", "ok", "code waits at the system call while you are asked")
        finally:
            engine.call(executor.stop())


def _sandboxes() -> Iterator[Finding]:
    none, *sandboxes = SANDBOXES
    yield Finding(none, "ok", f"the default: code has your rights; --sandbox {' or '.join(sandboxes)} restricts it")
    for name in sandboxes:
        try:
            # `check` rejects the home folder, and the command may run there.
            with tempfile.TemporaryDirectory(prefix="autogen-nb-") as folder:
                Place(name).check(Path(folder))
            yield Finding(name, "ok", f"--sandbox {name} is available")
        except AutogenError as error:
            what, _, mend = str(error).partition(": ")
            yield Finding(name, "note", what, mend)


def models() -> Iterator[Finding]:
    """Lists the configured models, without contacting their servers."""
    mend = "" if _version("pandas") else f"{_PIP} 'autogen-nb[data]'"
    yield Finding("offline", "note" if mend else "ok", "a fixed analysis of tables; connects to no host", mend)
    for provider in PROVIDERS:
        if variable := provider.key()[0]:
            yield Finding(provider.name, "ok", f"the key in {variable} is sent to {host_of(provider.address())} only")
    if model_selection.choose(None, None, os.environ) is None:
        mend = f"{model_selection.WAYS}, or write an {LIST}; %autogen models lists servers on this machine"
        yield Finding("none", "note", "no model is configured; the first cell asks for one", mend)
    for model in model_selection.known_models(None, os.environ):
        text = f"{model.source}; connects to {', '.join(model.hosts) or 'no host'}"
        yield Finding(model.name or "without a name", "ok", text)


def _version(name: str) -> str:
    return next((distribution.version for distribution in metadata.distributions(name=name)), "")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


CHECKS: dict[str, tuple[Callable[[], Iterable[Finding]], str]] = {
    "libraries": (_libraries, ""),
    "kernel": (_kernel, f"{_PIP} -U ipykernel jupyter_client"),
    "sandboxes": (_sandboxes, ""),
    "models": (models, f"repair or remove {LIST}"),
    "policy": (
        lambda: [Finding("organisation", "ok", policy_file.policy().text or "this machine has no policy")],
        "ask the administrator of this machine",
    ),
    "rules": (
        lambda: [Finding("your rules", "ok", f"{len(RulesFile().rules())}; %autogen rules lists them")],
        "repair or remove the file",
    ),
}
"""The check of each area, and the repair to suggest if the check raises an `AutogenError`."""
