"""The tools of a chat's MCP servers, for its model and as functions of its code; each call is asked about."""

import asyncio
import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from autogen_nb.agents.parts.mcp_servers import McpServer, ServedResult, ServedTool, ServerParams
from autogen_nb.agents.parts.output_collector import Redactor
from autogen_nb.agents.parts.tool_use import FAILED, AskingCall, ToolUser
from autogen_nb.core.ports import Inquirer
from autogen_nb.core.text.outputs import MODEL_LIMIT, shorten
from autogen_nb.core.text.visible_text import encodable, visible
from autogen_nb.effects import Effect
from autogen_nb.errors import AutogenError, ExecutionError
from autogen_nb.trusted import known_secrets

_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list", "object": "dict"}
_LONGEST_NAME = 64
_LONGEST_LINE = 500
_PROMPT = """

Your code can call these functions of MCP servers; they are built in, and raise errors. Data are dicts and lists:
"""
_SOURCE = """
def _define(tools, mark):
    import base64, builtins, inspect, json, threading
    lock = threading.Lock()

    def function(name, about, parameters):
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        signature = inspect.Signature(
            [inspect.Parameter(n, kind, annotation=getattr(builtins, t), **d) for n, t, d in parameters]
        )

        def call(*args, **kwargs):
            given = signature.bind(*args, **kwargs).arguments
            plain = lambda value: value.item() if hasattr(value, "item") else str(value)
            with lock:
                answer = json.loads(input(mark + json.dumps([name, given], default=plain)))
            if "error" in answer:
                raise getattr(builtins, answer["type"])(answer["error"])
            for data in answer["pictures"]:
                from IPython.display import Image, display
                display(Image(base64.b64decode(data)))
            return answer["value"]

        call.__name__ = call.__qualname__ = name
        call.__doc__, call.__signature__ = about, signature
        return call

    for tool in tools:
        setattr(builtins, tool[0], function(*tool))
"""


class _Denied(ExecutionError): ...


class McpTools:
    """The tools of the servers of `open`, which run until `close`; an `executors.block_executor.KernelFunctions`."""

    mark = "autogen_nb mcp "

    def __init__(self) -> None:
        self._servers: dict[str, McpServer] = {}
        self._tools: dict[str, tuple[McpServer, ServedTool]] = {}
        self._asks, self._seconds = True, 0.0
        self._report: Callable[[str], object] = str
        # The effects that the person has allowed, by what asks: for one block, or for the calls of one message.
        self._allowed: WeakKeyDictionary[Inquirer, set[Effect]] = WeakKeyDictionary()

    async def open(
        self, servers: Mapping[str, ServerParams], *, asks: bool, seconds: float, report: Callable[[str], object]
    ) -> None:
        """Starts these servers, if they do not run, ends others, and lists the tools. `report` gets the progress."""
        self._asks, self._seconds, self._report = asks, seconds, report
        for name in [name for name, server in self._servers.items() if servers.get(name) != server.params]:
            await self._servers.pop(name).stop()
        self._servers |= {name: McpServer(servers[name], name) for name in servers.keys() - self._servers.keys()}
        lists = await asyncio.gather(*(self._servers[name].tools() for name in servers))
        self._tools = {}
        for server, tools in zip((self._servers[name] for name in servers), lists, strict=True):
            for tool in tools:
                name = re.sub(r"\W", "_", f"{server.name}_{tool.name}")[:_LONGEST_NAME]
                self._tools.setdefault(name, (server, tool))

    async def close(self) -> None:
        """Ends the servers; the next `open` starts them again."""
        await asyncio.gather(*(server.stop() for server in self._servers.values()))

    @property
    def digests(self) -> tuple[str, ...]:
        return tuple(tool.digest for _, tool in self._tools.values())

    def offer(self, caller: ToolUser, executor: ToolUser) -> None:
        """Gives a model the tools; the executor calls them."""
        for name, (_, tool) in self._tools.items():
            caller.define("tool", {**tool.definition, "name": name})
            executor.function_map[name] = partial(self._asking, name)

    @property
    def prompt(self) -> str:
        """The functions, for the model."""
        lines = []
        for name, (_, tool) in self._tools.items():
            properties = tool.definition["parameters"]["properties"]
            parameters = [
                f"{each}: {' | '.join(map(repr, properties[each].get('enum', ()))) or kind}"
                + "".join(f" = {default!r}" for default in more.values())
                for each, kind, more in _parameters(tool)
            ]
            returned = "data" if tool.is_structured else "str"
            about = " ".join(tool.about.split())[:_LONGEST_LINE]
            lines.append(f"- {name}({', '.join(parameters)}) -> {returned}: {about}")
        return _PROMPT + "\n".join(lines) if lines else ""

    @property
    def source(self) -> str:
        functions = [[name, tool.about, _parameters(tool)] for name, (_, tool) in self._tools.items()]
        data = json.dumps(json.dumps([functions, self.mark]))
        return f"{_SOURCE}\n_define(*__import__('json').loads({data}))\ndel _define"

    async def call_from_code(self, call: str, inquirer: Inquirer) -> str:
        """The JSON answer to a call of a function in the agent's kernel."""
        try:
            name, arguments = json.loads(call)
            result = await self._call(name, dict(arguments), inquirer)
            value = result.text if result.value is None else result.value
            answer = {"value": value, "pictures": [data for _, data in result.pictures]}
        except (AutogenError, ValueError, TypeError) as error:
            kind = PermissionError if isinstance(error, _Denied) else RuntimeError
            answer = {"error": str(error), "type": kind.__name__}
        return encodable(json.dumps(answer))

    def _asking(self, name: str, **arguments: Any) -> AskingCall:
        async def run(inquirer: Inquirer) -> tuple[bool, Any]:
            try:
                result = await self._call(name, arguments, inquirer)
            except AutogenError as error:
                return False, f"{FAILED}{error}"
            secrets = {**known_secrets.secret_values(os.environ), **known_secrets.keys()}
            text = "\n".join((result.text, *[f"[a picture, {kind}]" for kind, _ in result.pictures])).strip()
            return True, shorten(Redactor(secrets).redacted(text), MODEL_LIMIT)

        return AskingCall(run)

    async def _call(self, name: str, arguments: Mapping[str, Any], inquirer: Inquirer) -> ServedResult:
        if name not in self._tools:
            raise ExecutionError(f"there is no tool {name!r} in this cell; --mcp names the servers of a cell")
        server, tool = self._tools[name]
        if inquirer not in self._allowed:
            self._allowed[inquirer] = set()
            # The server may have changed the tool since the cell began.
            present = {each.name: each for each in await server.tools()}
            if tool.name not in present:
                raise ExecutionError(f"the MCP server {server.name!r} does not offer {tool.name!r} any more")
            self._tools[name] = server, (tool := present[tool.name])
        words = f"calls the tool {tool.name} of the MCP server {server.name}"
        effect = Effect("mcp", f"{server.name} {tool.name} {tool.digest}", words)
        if self._asks and effect not in self._allowed[inquirer]:
            shown = ", ".join(f"{each}={value!r}" for each, value in arguments.items())
            judged = await inquirer.allow(effect, f"{name}({visible(shown)[:_LONGEST_LINE]})")
            if not judged.allowed:
                raise _Denied(f"the user does not allow it{': ' * bool(judged.reason)}{judged.reason}")
            self._allowed[inquirer].add(effect)
        try:
            result = await server.call(tool.name, arguments, self._seconds, self._report)
        finally:
            self._report("")
        if result.is_error:
            raise ExecutionError(result.text or "the tool failed without a message")
        return result if tool.is_structured else replace(result, value=None)


def _parameters(tool: ServedTool) -> list[tuple[str, str, dict[str, Any]]]:
    """The parameters with names that Python allows, their types, and their defaults; required ones come first."""
    parameters: list[tuple[str, str, dict[str, Any]]] = []
    for name, schema in tool.definition["parameters"]["properties"].items():
        if name.isidentifier() and isinstance(schema, dict):
            is_required = name in tool.definition["parameters"].get("required", ())
            default = {} if is_required else {"default": schema.get("default")}
            parameters.append((name, _TYPES.get(str(schema.get("type")), "object"), default))
    return sorted(parameters, key=lambda each: len(each[2]))
