"""``%autogen model`` shows, sets or removes the model, its server and key; ``%autogen models`` lists models."""

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from autogen_nb.core.text.visible_text import visible
from autogen_nb.engine import engine
from autogen_nb.errors import ChatUnfinished, ConfigError
from autogen_nb.models.config.model_selection import ModelConnection, known_models
from autogen_nb.models.config.providers import Provider, checked_url, host_of, provider_of, server_of
from autogen_nb.models.config.server_check import LocalServer, local_servers, models_of_keys
from autogen_nb.notebook.asking.person import AbsentPerson, ModelForm
from autogen_nb.notebook.commands.command import CommandContext, argument, command
from autogen_nb.notebook.model_setting import ModelSetting
from autogen_nb.notebook.notebook import Notebook
from autogen_nb.notebook.rendering.chat_html import Content, note_display, stacked, table

_MOST_MODELS = 50
_WAYS = "`%autogen model set` opens a form to change it; `-m NAME` sets another model for one cell."
_NO_MODEL = "No model is set up: `%autogen model set` opens a form; a cell that needs a model also opens it."


@command("shows the model, its server, and the setting that selects them")
async def model(context: CommandContext) -> None:
    context.show(model_table(context.notebook.model_setting, os.environ))


@command(
    "opens the form for the model, its server and key",
    argument("name", nargs="?", metavar="NAME", completes="models"),
    argument("--url", metavar="URL", help="the server's address; the key is typed in the form"),
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
