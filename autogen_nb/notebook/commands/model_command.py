"""``%autogen model`` shows, sets or removes the model, its server and key; ``%autogen models`` lists models."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from autogen_nb.core.text.visible_text import visible
from autogen_nb.errors import ConfigError
from autogen_nb.models.config.address import checked_url, host_of, server_of
from autogen_nb.models.config.local_servers import LocalServer, LocalServers
from autogen_nb.models.config.model_connection import known_models
from autogen_nb.models.config.providers import Provider, provider_of
from autogen_nb.models.config.server_check import models_of_keys
from autogen_nb.notebook.asking.person import ModelForm
from autogen_nb.notebook.model_setting import ModelSetting
from autogen_nb.notebook.notebook import Notebook
from autogen_nb.notebook.rendering.tables_html import DisplayData, line, stacked, table
from autogen_nb.notebook.view.status_line import did_you_mean
from autogen_nb.run import engine

VERBS = ("set", "forget")

_MOST_MODELS = 50
_WAYS = "`%autogen model set` opens a form to change it; `-m NAME` sets another model for one cell."
_NO_MODEL = "No model is set up: `%autogen model set` opens a form; a cell that needs a model also opens it."


def execute(words: Sequence[str], setting: ModelSetting, environ: Mapping[str, str]) -> DisplayData:
    if list(words) == ["forget"]:
        setting.forget()
        return _shown(setting, environ, "The answers of the model form are deleted, for all notebooks.")
    if words:
        hint = did_you_mean(words[0], VERBS, f"the commands are {', '.join(VERBS)}")
        raise ConfigError(f"%autogen model has no {' '.join(words)!r}; {hint}")
    return _shown(setting, environ)


def form_for(words: Sequence[str], setting: ModelSetting, environ: Mapping[str, str]) -> ModelForm:
    rest, initial = list(words), setting.proposal(None, environ)
    if "--url" in rest:
        index = rest.index("--url")
        url = checked_url(rest[index + 1] if index + 1 < len(rest) else "", "--url") or ""
        same = server_of(url) == server_of(initial.base_url)
        initial = replace(initial, base_url=url) if same else replace(initial, base_url=url, api_key=None, model="")
        del rest[index : index + 2]
    if len(rest) > 1 or any(word.startswith("-") for word in rest):
        # A key in a cell would be saved with the notebook.
        raise ConfigError("%autogen model set takes a model's name and --url; the key is typed in the form")
    head = "Which model should cells use by default?"
    return ModelForm(head, replace(initial, model=rest[0]) if rest else initial, offline=False, stop="Change nothing")


def _shown(setting: ModelSetting, environ: Mapping[str, str], first: str = "") -> DisplayData:
    remarks = [first, setting.recall(environ), setting.drop_if_replaced(environ)]
    rows = setting.rows(environ)
    if failure := setting.failure_of(setting.choose(None, environ)):
        remarks.append(f"The last request failed: {failure}")
    if (lacking := setting.without_key) is not None:
        remarks.append(f"The next cell asks for the key of `{host_of(lacking.base_url)}`, for `{lacking.model}`.")
    else:
        remarks.append(_WAYS if rows else _NO_MODEL)
    parts = [table(("what", "is", "by"), rows, kind="model")] if rows else []
    parts += [line(visible(remark), kind="model") for remark in remarks if remark]
    return stacked(*parts)


def list_models(
    words: Sequence[str], notebook: Notebook, environ: Mapping[str, str], servers: LocalServers
) -> DisplayData:
    """Lists the models; the command is the user's consent to scan local ports and to ask the providers of keys."""
    if words:
        raise ConfigError(f"%autogen models takes no arguments; remove {' '.join(words)!r}")
    form_connection = notebook.model_setting.form_connection
    models = known_models("" if form_connection else notebook.defaults.model, form_connection, environ)
    here = servers.listening()
    rows = [("offline", "no host", "a fixed analysis of tables; no language model")]
    rows += [(model.name or "without a name", ", ".join(model.hosts) or "no host", model.source) for model in models]
    rows += [
        (name, server.base_url, f"on this machine, at the port of {server.kind}")
        for server in here
        for name in server.models
    ]
    rows += [row for listing in engine.call(models_of_keys(environ)) for row in _provider_rows(*listing, environ)]
    hint = line(visible(_list_hint(here, configured=bool(models))))
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
