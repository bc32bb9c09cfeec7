"""``%autogen models``: configured models, and models on this machine's servers."""

from collections.abc import Mapping, Sequence

from autogen_nb.core.text.visible_text import visible
from autogen_nb.errors import ConfigError
from autogen_nb.models.config.local_servers import LocalServer, LocalServers
from autogen_nb.models.config.model_connection import known_models
from autogen_nb.notebook.notebook import Notebook
from autogen_nb.notebook.rendering import chat_html
from autogen_nb.notebook.rendering.tables_html import DisplayData, line, table

_HEADS = ("model", "host", "source")
_OFFLINE = ("offline", "no host", "a fixed analysis of tables; no language model")


def execute(words: Sequence[str], notebook: Notebook, environ: Mapping[str, str], servers: LocalServers) -> DisplayData:
    """Lists the models; the command is the user's consent to scan local ports."""
    if words:
        raise ConfigError(f"%autogen models takes no arguments, not {' '.join(words)!r}")
    form_connection = notebook.model_setting.form_connection
    models = known_models("" if form_connection else notebook.defaults.model, form_connection, environ)
    here = servers.listening()
    rows = [_OFFLINE]
    rows += [(model.name or "without a name", ", ".join(model.hosts) or "no host", model.source) for model in models]
    rows += [
        (name, server.base_url, f"on this machine, at the port of {server.kind}")
        for server in here
        for name in server.models
    ]
    data, _ = table(_HEADS, rows, kind="models")
    hint, _ = line(visible(_hint(here, configured=bool(models))))
    html, text = (f"{data[kind]}{between}{hint[kind]}" for kind, between in (("text/html", ""), ("text/plain", "\n")))
    return chat_html.bundle(html, text, kind="models")


def _hint(here: Sequence[LocalServer], *, configured: bool) -> str:
    if first := next((server for server in here if server.models), None):
        return f"`%env OPENAI_BASE_URL={first.base_url}` and then `%%autogen -m {first.models[0]}` asks that server."
    if configured:
        return "No server answers on this machine's usual ports. `%%autogen -m NAME` selects one of these models."
    return (
        "No server answers on this machine's usual ports, and none is set up: set `OPENAI_API_KEY`, or "
        "`OPENAI_BASE_URL` and `AUTOGEN_NB_MODEL`; a cell asks which one to take."
    )
