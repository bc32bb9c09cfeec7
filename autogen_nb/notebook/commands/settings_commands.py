"""The commands about settings of all notebooks: the model with its server and key, rules, and MCP servers.

The MCP servers of the person are in one file, in the form that other programs have for them.
"""

import asyncio
import json
import os
import re
from argparse import PARSER, REMAINDER
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from autogen_nb.core.policy.rules import Rule, parse
from autogen_nb.core.text.visible_text import visible
from autogen_nb.engine import engine
from autogen_nb.errors import ChatUnfinished, ConfigError
from autogen_nb.models.config.model_selection import ModelConnection, known_models
from autogen_nb.models.config.providers import Provider, checked_url, host_of, provider_of, server_of
from autogen_nb.models.config.server_check import LocalServer, local_servers, models_of_keys
from autogen_nb.notebook.asking.person import REVOKE, AbsentPerson, ModelForm
from autogen_nb.notebook.commands.command import YES, Argument, CommandContext, command
from autogen_nb.notebook.model_setting import ModelSetting
from autogen_nb.notebook.notebook import Notebook
from autogen_nb.notebook.rendering.chat_html import Content, note_display, stacked, table
from autogen_nb.trusted import owned_files

if TYPE_CHECKING:
    from autogen_nb.agents.parts.mcp_servers import ServerParams

_PROJECT_FILES = (".mcp.json", ".jupyter/mcp_settings.json")
"""The files of a project that `read_servers` knows; they are only read if the person says so."""
_CALL_SECONDS = 60.0
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


def saved_servers() -> dict[str, Any]:
    """The saved servers by name."""
    text = owned_files.read(_servers_path(), frozenset({os.geteuid()}))
    return {} if text is None else _servers_of(text, _servers_path())


def save_servers(servers: Mapping[str, Any]) -> None:
    for name, server in servers.items():
        if not re.fullmatch(r"[A-Za-z][\w-]{0,30}", name):
            raise ConfigError(f"a server cannot be called {name!r}; use a letter, then letters, digits, '-' and '_'")
        if not (isinstance(server, dict) and isinstance(server.get("command", server.get("url")), str)):
            raise ConfigError(f"the server {name!r} has neither a command nor a url")
    _servers_path().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    owned_files.write(_servers_path(), json.dumps({"mcpServers": servers}, indent=1) + "\n")


def read_servers(path: Path) -> dict[str, Any]:
    """The servers in a file such as ``.mcp.json`` of a project, or that of jupyter-ai."""
    try:
        return _servers_of(owned_files.read_regular(path, 1 << 20).decode(), path)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{str(path)!r} cannot be read: {error}") from None


def server_params(names: list[str], folder: Path) -> "dict[str, ServerParams]":
    """The parameters of saved servers; values such as ``${TOKEN}`` come from the environment."""
    if find_spec("mcp") is None:
        raise ConfigError("the package mcp is missing: pip install 'autogen-nb[mcp]'")
    known = saved_servers()
    for name in names:
        if name not in known:
            file = next((each for each in _PROJECT_FILES if (folder / each).exists()), "")
            way = f"`%autogen mcp add --from {file}` reads yours" if file else "`%autogen mcp add` makes one"
            raise ConfigError(f"there is no MCP server {name!r}; known are {', '.join(known) or 'none'}; {way}")
    return {name: _params_of(_expanded(known[name]), folder) for name in names}


def _params_of(server: dict[str, Any], folder: Path) -> "ServerParams":
    from pydantic import ValidationError

    from autogen_nb.agents.parts.mcp_servers import StdioServerParams, StreamableHttpServerParams

    try:
        if "command" in server:
            return StdioServerParams.model_validate(
                {"cwd": str(folder), **server, "read_timeout_seconds": _CALL_SECONDS}
            )
        return StreamableHttpServerParams.model_validate({**server, "timeout": _CALL_SECONDS})
    except ValidationError as error:
        raise ConfigError(f"a server in {str(_servers_path())!r} is invalid: {error.errors()[0]['msg']}") from None


def _servers_path() -> Path:
    return platformdirs.user_config_path("autogen_nb", appauthor=False) / "mcp.json"


def _servers_of(text: str, path: Path) -> dict[str, Any]:
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


_MOST_MODELS = 50
_WAYS = "`%autogen model set` opens a form to change it; `-m NAME` sets another model for one cell."
_NO_MODEL = "No model is set up: `%autogen model set` opens a form; a cell that needs a model also opens it."


@command("shows the model, its server, and the setting that selects them")
async def model(context: CommandContext) -> None:
    context.show(model_table(context.notebook.model_setting, os.environ))


@command(
    "opens the form for the model, its server and key",
    Argument("name", nargs="?", metavar="NAME", completes="models"),
    Argument("--url", metavar="URL", help="the server's address; the key is typed in the form"),
    name="model set",
)
async def set_model(context: CommandContext, name: str | None, url: str | None) -> None:
    setting = context.notebook.model_setting
    form = form_for(name, url, setting.proposal(None, os.environ))
    with context.stage() as stage:
        if isinstance(stage.person, AbsentPerson):
            raise ConfigError("nobody is there to fill in a form: set OPENAI_API_KEY, or OPENAI_BASE_URL, or use -m")
        try:
            connection = await stage.ask(lambda person: person.connection(form))
        except ChatUnfinished:
            stage.view.note("Nothing was changed.")
            return
        remark = await context.result(asyncio.to_thread(setting.use_form, connection, os.environ))
        if remark:
            stage.view.note(remark, tone="warning")
        stage.view.add(*model_table(setting, os.environ))


@command("deletes the answers of the form; the environment selects the model again", name="model forget")
async def forget_model(context: CommandContext) -> None:
    setting = context.notebook.model_setting
    setting.forget()
    context.show(model_table(setting, os.environ, "The answers of the model form are deleted, for all notebooks."))


@command("lists the configured models, and the models that this machine serves")
async def models(context: CommandContext) -> None:
    # The command is the person's consent to scan local ports and to ask the providers of keys.
    listed = asyncio.to_thread(list_models, context.notebook, os.environ)
    context.show(await context.result(listed))


def form_for(name: str | None, url: str | None, initial: ModelConnection) -> ModelForm:
    if url is not None:
        address = checked_url(url, "--url") or ""
        same = server_of(address) == server_of(initial.base_url)
        changes: dict[str, Any] = {} if same else {"api_key": None, "model": ""}
        initial = replace(initial, base_url=address, **changes)
    head = "Which model should cells use by default?"
    return ModelForm(head, replace(initial, model=name) if name else initial, offline=False, stop="Change nothing")


def model_table(setting: ModelSetting, environ: Mapping[str, str], first: str = "") -> Content:
    remarks = [first, setting.recall(environ), setting.drop_if_replaced(environ)]
    rows = setting.rows(environ)
    if failure := setting.failure_of(setting.choose(None, environ)):
        remarks.append(f"The last request failed: {failure}")
    if (lacking := setting.without_key) is not None:
        remarks.append(f"The next cell asks for the key of `{host_of(lacking.base_url)}`, for `{lacking.model}`.")
    else:
        remarks.append(_WAYS if rows else _NO_MODEL)
    parts = [table(("what", "is", "by"), rows, kind="model")] if rows else []
    parts += [note_display(visible(remark), kind="model") for remark in remarks if remark]
    return stacked(*parts)


def list_models(
    notebook: Notebook, environ: Mapping[str, str], servers: Callable[[], Sequence[LocalServer]] = local_servers
) -> Content:
    form_connection = notebook.model_setting.form_connection
    models = known_models(form_connection, environ, notebook.defaults.model)
    here = servers()
    rows = [("offline", "no host", "a fixed analysis of tables; no language model")]
    rows += [(model.name or "without a name", ", ".join(model.hosts) or "no host", model.source) for model in models]
    rows += [
        (name, server.base_url, f"on this machine, at the port of {server.kind}")
        for server in here
        for name in server.models
    ]
    rows += [row for listing in engine.call(models_of_keys(environ)) for row in _provider_rows(*listing, environ)]
    notebook.listed_models = tuple((name, source) for name, _, source in rows if name)
    hint = note_display(visible(_list_hint(here, configured=bool(models))))
    return stacked(table(("model", "host", "source"), rows, kind="models"), hint)


def _provider_rows(
    provider: Provider, names: Sequence[str], error: str, environ: Mapping[str, str]
) -> Iterator[tuple[str, str, str]]:
    source, host = f"by the key in {provider.key(environ)[0]}", host_of(provider.address(environ))
    for name in names[:_MOST_MODELS]:
        is_unique = provider_of(name, environ)[0] == provider
        yield (name if is_unique else f"{provider.name}/{name}"), host, source
    if error or not names:
        yield "", host, error or f"lists no models; `-m {provider.name}/NAME` asks one {source}"
    elif len(names) > _MOST_MODELS:
        yield "", host, f"{len(names) - _MOST_MODELS} more {source}"


def _list_hint(here: Sequence[LocalServer], *, configured: bool) -> str:
    if first := next((server for server in here if server.models), None):
        return f"`%env OPENAI_BASE_URL={first.base_url}` and then `%%autogen -m {first.models[0]}` asks that server."
    if configured:
        return "No server answers on this machine's usual ports. `%%autogen -m NAME` selects one of these models."
    return (
        "No server answers on this machine's usual ports, and none is set up: set a provider's key, such as "
        "`OPENAI_API_KEY` or `ANTHROPIC_API_KEY`, or `OPENAI_BASE_URL` and `AUTOGEN_NB_MODEL`; or run a cell, which "
        "asks for a server."
    )


_EXAMPLE = "network api.example.org"
_ALL = "`%autogen rules` lists them"
_RULE = Argument("words", nargs=PARSER, metavar="RULE", completes="kinds of effects")
_SAVED_RULE = Argument("words", nargs=PARSER, metavar="RULE", completes="rules")


@command("lists the effects that code may have without a question", name="rules list")
async def rules(context: CommandContext) -> None:
    rows = [
        (str(number), str(saved.rule), saved.rule.words, saved.made.astimezone().strftime("%Y-%m-%d %H:%M"))
        for number, saved in enumerate(context.notebook.rules.saved_rules(), 1)
    ]
    empty = f"There are no rules. `%autogen rules add {_EXAMPLE}` makes one."
    context.show_rows(("#", "rule", "what it does", "made"), rows, empty=empty, kind="rules", numbers={"#"})


@command(f"allows an effect in all notebooks, such as: {_EXAMPLE}", _RULE, name="rules add", split=str.split)
async def add_rule(context: CommandContext, words: Sequence[str]) -> None:
    rule = _read(words, context.notebook.conversations.cwd)
    if not context.notebook.rules.add(rule):
        context.say(f"This rule already exists: {rule.words}.")
        return
    way_back = f"{rule.warning} `%autogen rules remove {rule}` revokes it.".lstrip()
    context.say(f"From now on, in all of your notebooks: {rule.words}. {way_back}")


@command("revokes a rule, or the rule with a number", _SAVED_RULE, name="rules remove", split=str.split)
async def remove_rule(context: CommandContext, words: Sequence[str]) -> None:
    rules = context.notebook.rules
    saved = [each.rule for each in rules.saved_rules()]
    if len(words) != 1 or not words[0].isdecimal():
        rule = _read(words, context.notebook.conversations.cwd)
    elif 0 < int(words[0]) <= len(saved):
        rule = saved[int(words[0]) - 1]
    else:
        raise ConfigError(f"there is no rule {words[0]}; {_ALL}")
    if not rules.remove(rule):
        raise ConfigError(f"there is no rule {str(rule)!r}; {_ALL}")
    context.say(f"Revoked: {rule.words}.")


@command("revokes all rules", YES, name="rules clear")
async def clear_rules(context: CommandContext, *, yes: bool) -> None:
    saved = context.notebook.rules.rules()
    if not saved:
        context.say("There are no rules.")
        return
    count = "the one rule" if len(saved) == 1 else f"all {len(saved)} rules"
    with context.stage() as stage:
        if not (yes or await stage.ask(lambda person: person.choose(REVOKE, f"Revoke {count}?"))):
            stage.view.note("Nothing was revoked.")
            return
        context.notebook.rules.remove(*saved)
        stage.view.note(f"Revoked {count}.")


def _read(words: Sequence[str], folder: Path) -> Rule:
    return parse(" ".join(words), folder=str(folder), home=str(Path("~").expanduser()))


_SERVER = Argument("server", metavar="NAME", completes="MCP servers")


@command("lists your MCP servers", name="mcp list")
async def servers(context: CommandContext) -> None:
    rows = [(name, _what(server)) for name, server in saved_servers().items()]
    empty = "There are no MCP servers. `%autogen mcp add NAME COMMAND` or `%autogen mcp add NAME URL` adds one."
    context.show_rows(("name", "server"), rows, empty=empty, kind="mcp")


@command(
    "adds an MCP server: a name, and its command or URL; or all servers of a file, such as .mcp.json",
    Argument("--from", dest="file", metavar="FILE"),
    Argument("words", nargs=REMAINDER, metavar="NAME COMMAND|URL"),
    name="mcp add",
)
async def add_server(context: CommandContext, words: Sequence[str], file: str | None) -> None:
    if file is not None and not words:
        new = read_servers(Path(context.notebook.conversations.cwd, file))
    elif file is None and len(words) > 1:
        name, command, *more = words
        is_address = command.startswith(("http://", "https://")) and not more
        new = {name: {"url": command} if is_address else {"command": command, "args": more}}
    else:
        raise ConfigError("%autogen mcp add takes a name and a command or URL, or --from and a file")
    save_servers({**saved_servers(), **new})
    is_program = any("command" in server for server in new.values())
    outside = " Its programs run on this machine, outside of any sandbox." * is_program
    added = "; ".join(f"{name} ({_what(server)})" for name, server in new.items())
    context.say(f"Added: {added}. `%%autogen --mcp NAME` uses one, and each call is asked about.{outside}")


@command("removes an MCP server", _SERVER, name="mcp remove")
async def remove_server(context: CommandContext, server: str) -> None:
    kept = saved_servers()
    if kept.pop(server, None) is None:
        raise ConfigError(f"there is no MCP server {server!r}; known are {', '.join(kept) or 'none'}")
    save_servers(kept)
    context.say(f"Removed: {server}.")


@command("starts an MCP server, lists its tools and ends it", _SERVER, name="mcp test")
async def test_server(context: CommandContext, server: str) -> None:
    params = server_params([server], context.notebook.conversations.cwd)
    from autogen_nb.agents.parts.mcp_servers import McpServer

    tried = McpServer(params[server], server)
    try:
        tools = await context.result(tried.tools())
    finally:
        await context.result(tried.stop())
    rows = [(tool.name, tool.about.partition("\n")[0]) for tool in tools]
    context.show(table(("tool", "what it does"), rows, kind="mcp"))


def _what(server: dict[str, str]) -> str:
    return " ".join((server["command"], *server.get("args", ()))) if "command" in server else server["url"]
