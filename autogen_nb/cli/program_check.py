"""Reads which names of a program for AutoGen exist in this package; it neither runs nor imports the program."""

import ast
import difflib
import inspect
import json
import re
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple

from autogen_nb.agents.parts.agent import Agent
from autogen_nb.autogen_modules import NAMES, StandIn, own_module

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
