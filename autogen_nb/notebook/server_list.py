"""The person's MCP servers, in one file for all notebooks, in the form that other programs have for them."""

import json
import os
import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from autogen_nb.errors import ConfigError
from autogen_nb.trusted import owned_files

if TYPE_CHECKING:
    from autogen_nb.agents.parts.mcp_servers import ServerParams

FILES = (".mcp.json", ".jupyter/mcp_settings.json")
"""The files of a project that `read_file` knows; they are only read if the person says so."""
_CALL_SECONDS = 60.0
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


def saved() -> dict[str, Any]:
    """The saved servers by name."""
    text = owned_files.read(_path(), frozenset({os.geteuid()}))
    return {} if text is None else _servers(text, _path())


def save(servers: Mapping[str, Any]) -> None:
    for name, server in servers.items():
        if not re.fullmatch(r"[A-Za-z][\w-]{0,30}", name):
            raise ConfigError(f"a server cannot be called {name!r}; use a letter, then letters, digits, '-' and '_'")
        if not (isinstance(server, dict) and isinstance(server.get("command", server.get("url")), str)):
            raise ConfigError(f"the server {name!r} has neither a command nor a url")
    _path().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    owned_files.write(_path(), json.dumps({"mcpServers": servers}, indent=1) + "\n")


def read_file(path: Path) -> dict[str, Any]:
    """The servers in a file such as ``.mcp.json`` of a project, or that of jupyter-ai."""
    try:
        return _servers(owned_files.read_regular(path, 1 << 20).decode(), path)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{str(path)!r} cannot be read: {error}") from None


def params(names: list[str], folder: Path) -> "dict[str, ServerParams]":
    """The parameters of saved servers; values such as ``${TOKEN}`` come from the environment."""
    if find_spec("mcp") is None:
        raise ConfigError("the package mcp is missing: pip install 'autogen-nb[mcp]'")
    known = saved()
    for name in names:
        if name not in known:
            file = next((each for each in FILES if (folder / each).exists()), "")
            way = f"`%autogen mcp add --from {file}` reads yours" if file else "`%autogen mcp add` makes one"
            raise ConfigError(f"there is no MCP server {name!r}; known are {', '.join(known) or 'none'}; {way}")
    return {name: _params(_expanded(known[name]), folder) for name in names}


def _params(server: dict[str, Any], folder: Path) -> "ServerParams":
    from pydantic import ValidationError

    from autogen_nb.agents.parts.mcp_servers import StdioServerParams, StreamableHttpServerParams

    try:
        if "command" in server:
            return StdioServerParams.model_validate(
                {"cwd": str(folder), **server, "read_timeout_seconds": _CALL_SECONDS}
            )
        return StreamableHttpServerParams.model_validate({**server, "timeout": _CALL_SECONDS})
    except ValidationError as error:
        raise ConfigError(f"a server in {str(_path())!r} is invalid: {error.errors()[0]['msg']}") from None


def _path() -> Path:
    return platformdirs.user_config_path("autogen_nb", appauthor=False) / "mcp.json"


def _servers(text: str, path: Path) -> dict[str, Any]:
    try:
        content = json.loads(text)
        if isinstance(listed := content.get("mcp_servers"), list):
            return {each["name"]: {key: _pairs(value) for key, value in each.items()} for each in listed}
        servers = content.get("mcpServers", content.get("servers"))
        return {str(name): dict(server) for name, server in servers.items()}
    except (ValueError, AttributeError, KeyError, TypeError):
        raise ConfigError(f"{str(path)!r} is not used: it has no servers, as 'mcpServers' in JSON") from None


def _pairs(value: Any) -> Any:
    """A value of jupyter-ai's file, where mappings are lists of names and values."""
    is_pairs = isinstance(value, list) and value and all(isinstance(each, dict) for each in value)
    return {each["name"]: each["value"] for each in value} if is_pairs else value


def _expanded(value: Any) -> Any:
    if isinstance(value, str):
        return _VARIABLE.sub(lambda match: os.environ.get(match[1], match[2] or ""), value)
    if isinstance(value, dict):
        return {key: _expanded(each) for key, each in value.items()}
    return [_expanded(each) for each in value] if isinstance(value, list) else value
