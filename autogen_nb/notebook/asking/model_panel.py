"""The model form: a server's address, a key and a model, tested before use."""

from collections.abc import Sequence
from concurrent.futures import Future
from functools import partial

import ipywidgets as widgets

from autogen_nb.engine import engine
from autogen_nb.errors import ConfigError, WrongAddress
from autogen_nb.models.config.model_selection import ModelConnection
from autogen_nb.models.config.providers import PROVIDERS, checked_base, host_of, provider_named, revealed, shown_url
from autogen_nb.models.config.server_check import CheckedConnection, check_connection
from autogen_nb.models.remote.clients import checked_key
from autogen_nb.notebook.asking import panel
from autogen_nb.notebook.asking.panel import Panel
from autogen_nb.notebook.asking.person import (
    ModelForm,
    choice_request,
    failure_message,
    key_for,
    loses_secrets,
    sentence,
)
from autogen_nb.notebook.model_setting import keyring
from autogen_nb.notebook.rendering import chat_html
from autogen_nb.notebook.rendering.styles import Tone

_KEEP = "Keep the key in this system's keyring, for all notebooks"
_STORED_KEY = "kept; type another to replace it"
_KEY_AGAIN = " The API key was not kept: type it again."


class ModelPanel(Panel):
    """Asks for a server, a key and a model, and tests them; each attempt empties the key field."""

    def __init__(self, form: ModelForm) -> None:
        super().__init__(form.head)
        self._stored = form.initial
        self._check: Future[CheckedConnection] | None = None
        names = [provider.name for provider in PROVIDERS]
        self._provider = panel.menu("Provider", names, self._fill_in, first="another server")
        url = shown_url(form.initial.base_url or "")
        self._url = panel.field(widgets.Text, "Base URL", hint="http://localhost:11434/v1", value=url, wide=True)
        hint = _STORED_KEY if form.initial.api_key else "sk-…"
        self._key = panel.field(panel.Secret, "API key", hint=hint, name="API key, kept in memory only")
        self._model = panel.field(
            widgets.Text, "Model", hint="the model's name on the server", value=form.initial.model
        )
        self._keep = panel.checkbox(_KEEP, checked=False)
        for field in (self._url, self._key, self._model):
            panel.on_enter(field, self._begin)
        self._use = self.button("Use this server", self._begin, hint="Test the server, then use it", style="primary")
        give_up = partial(self._loop.call_soon_threadsafe, self._stop_asking)
        self._cancel = self.button("Cancel", give_up, hint="Do not wait for the server")
        self._actions = panel.row(self._use)
        self._status = panel.html("")
        self._choices = widgets.VBox()
        stop = self.button("Stop", lambda: self.answer(None), hint=form.stop)
        rows = [
            panel.titled_row(
                "A provider, or a server that speaks OpenAI's API; a local one often needs no key. "
                "The key is sent only to this address, and never reaches the agent's kernel. The address and the model "
                "are remembered, the key is not.",
                *(self._provider, self._url, self._key, self._model),
                *([self._keep] if keyring() else []),
                self._actions,
            ),
            self._status,
            self._choices,
        ]
        if form.offline:
            offline = self.button(
                "Run with offline",
                lambda: self.answer(ModelConnection("offline")),
                hint="Run the task with the built-in analysis",
            )
            text = "Or `offline`: no language model, but a fixed analysis of a table. Nothing leaves this machine."
            rows.append(panel.titled_row(text, offline, stop))
        else:
            rows.append(panel.row(stop))
        self.show(*rows)
        self._widgets += (self._use, self._cancel)
        if form.only_key:
            self._show_only_key()

    def _show_only_key(self) -> None:
        hidden = (self._provider, self._url, self._model)

        def show_all() -> None:
            for field in hidden:
                field.layout.display = None
            self._actions.children = (self._use,)

        for field in hidden:
            field.layout.display = "none"
        other = self.button("Another server", show_all, hint="Change the address and the model, too")
        self._actions.children = (self._use, other)
        self._widgets.append(other)

    def finish(self) -> None:
        check, self._check = self._check, None
        if check is not None:
            check.cancel()

    def _fill_in(self, name: str) -> None:
        provider = provider_named(name)
        variable = provider.key()[0] if provider else ""
        self._url.value = provider.url if provider else ""
        self._model.value = provider.default if provider else ""
        self._key.placeholder = f"that of {variable}; type another to replace it" if variable else "sk-…"

    def _begin(self) -> None:
        key, self._key.value = self._key.value, ""
        self._loop.call_soon_threadsafe(self._ask_server, key)

    def _ask_server(self, typed: str) -> None:
        self.finish()
        model = self._model.value.strip()
        self._offer(())
        try:
            url = checked_base(revealed(self._url.value.strip(), self._stored.base_url))
            key = checked_key(typed, "API key") or key_for(url, self._stored)
        except WrongAddress as error:
            self._say(sentence(str(error)), "bad")
            self._propose(error.proposal, typed)
            return
        except ConfigError as error:
            # Without a valid address, the key belongs to no server, so the panel does not keep it.
            self._say(sentence(str(error)) + (_KEY_AGAIN if typed.strip() else ""), "bad")
            return
        connection = ModelConnection(model, key, url, keep_key=self._keep.value)
        if not loses_secrets(self._stored, connection):
            self._stored = connection
        # A saved notebook contains the field's value, so the address is shown without a user name and a password.
        self._url.value = shown_url(url)
        self._key.placeholder = _STORED_KEY if key else "sk-…"
        check = self._check = engine.submit(check_connection(connection))
        self._actions.children = (self._cancel,)
        self._say(f"Asking `{host_of(url)}` …")
        check.add_done_callback(lambda done: self._loop.call_soon_threadsafe(self._show_result, done, connection))

    def _propose(self, url: str, key: str) -> None:
        def take() -> None:
            self._url.value = url
            self._loop.call_soon_threadsafe(self._ask_server, key)

        # The key belongs to the address that the person accepts with the button.
        button = self.button(f"Use {url}", take, hint="Ask the server at this address", style="primary")
        self._choices.children = (panel.row(button),)

    def _show_result(self, check: "Future[CheckedConnection]", connection: ModelConnection) -> None:
        # The result of an earlier check may arrive after the fields have changed.
        if check is not self._check or check.cancelled():
            return
        self._check = None
        self._actions.children = (self._use,)
        error = check.exception()
        if error is None and check.result().connection.model:
            self.answer(check.result().connection)
        elif error is None:
            self._offer(check.result().models)
            self._say(choice_request(connection, check.result()), "warning")
        else:
            self._say(failure_message(error, connection, self._stored), "bad")

    def _offer(self, models: Sequence[str]) -> None:
        previous, self._choices.children = self._choices.children, ()
        for widget in previous:
            panel.close(widget)
        if models:
            fill_in = partial(setattr, self._model, "value")
            self._choices.children = (panel.choices("Its models", models, fill_in),)

    def _stop_asking(self) -> None:
        self.finish()
        self._actions.children = (self._use,)
        self._say("Cancelled.")

    def _say(self, text: str, tone: Tone = "muted") -> None:
        self._status.value = chat_html.line(text, tone=tone)
