"""``%autogen models``: which models there are: those that are set up, and those that answer on this machine."""

from collections.abc import Mapping, Sequence

from autogen_nb.core.visible import visible
from autogen_nb.errors import ConfigError
from autogen_nb.models import known
from autogen_nb.models.local_servers import LocalServer, LocalServers
from autogen_nb.notebook import rendering
from autogen_nb.notebook.notebook import Notebook
from autogen_nb.notebook.tables import Shown, line, table

_HEADS = ("model", "asks", "what it is")
_OFFLINE = ("offline", "no host", "a fixed analysis of tables; no language model")


def obey(words: Sequence[str], notebook: Notebook, environ: Mapping[str, str], servers: LocalServers) -> Shown:
    """What is to be shown: asking this is the person's leave to look at this machine's own ports.

    Raises
    ------
    ConfigError
        When more is said than that, or OAI_CONFIG_LIST cannot be read.
    """
    if words:
        raise ConfigError(f"%autogen models takes nothing more, not {' '.join(words)!r}")
    taken = known.taken(notebook.defaults.model, notebook.connection, environ)
    here = servers.listening()
    rows = [_OFFLINE]
    rows += [_row(each) for each in (*([taken] if taken else []), *known.listed(environ))]
    rows += [
        (name, server.base_url, f"on this machine, at the port of {server.kind}")
        for server in here
        for name in server.models
    ]
    data, _ = table(_HEADS, rows, kind="models")
    hint, _ = line(visible(_hint(here, configured=taken is not None)))
    html, text = (f"{data[kind]}{between}{hint[kind]}" for kind, between in (("text/html", ""), ("text/plain", "\n")))
    return rendering.bundle(html, text, kind="models")


def _row(each: known.Known) -> tuple[str, str, str]:
    return each.name or "without a name", ", ".join(each.hosts) or "no host", each.source


def _hint(here: Sequence[LocalServer], *, configured: bool) -> str:
    if first := next((server for server in here if server.models), None):
        return f"`%env OPENAI_BASE_URL={first.base_url}` and then `%%autogen -m {first.models[0]}` asks that server."
    if configured:
        return "No server answers on this machine's usual ports. `%%autogen -m NAME` takes one of these."
    return (
        "No server answers on this machine's usual ports, and none is set up: set `OPENAI_API_KEY`, or "
        "`OPENAI_BASE_URL` and `AUTOGEN_NB_MODEL`; a cell asks which one to take."
    )
