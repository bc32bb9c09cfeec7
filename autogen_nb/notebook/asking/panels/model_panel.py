"""Which model? The first run's question."""

import ipywidgets as widgets

from autogen_nb.models.config.model_connection import DEFAULT_MODEL, ModelConnection
from autogen_nb.notebook.asking.panels import widget_parts
from autogen_nb.notebook.asking.panels.panel import Panel
from autogen_nb.notebook.rendering import chat_html


class ModelPanel(Panel):
    """Which model?"""

    def __init__(self, proposed: str) -> None:
        question = "No model is configured. Your task is kept; there are three ways on"
        super().__init__(f"{question}.", chat_html.question(f"{question}:"))
        self._key = widget_parts.field(widget_parts.Secret, "API key", hint="sk-…", name="API key, kept in memory only")
        self._key_model = widget_parts.field(widgets.Text, "Model", hint=DEFAULT_MODEL, value=proposed or DEFAULT_MODEL)
        self._url = widget_parts.field(widgets.Text, "Base URL", hint="http://localhost:11434/v1")
        self._url_model = widget_parts.field(
            widgets.Text, "Model", hint="the server's name of the model", value=proposed
        )
        self._complaint = widget_parts.html("")
        use_key = self.button("Use this key", self._with_key, hint="Run the task with this key", style="primary")
        use_url = self.button("Use this server", self._with_server, hint="Run the task on this server")
        offline = self.button(
            "Run with offline",
            lambda: self.answer(ModelConnection("offline")),
            hint="Run the task with the built-in analysis",
        )
        stop = self.button("Stop", lambda: self.answer(None), hint="Do not run the task")
        self.show(
            widget_parts.way(
                "1. Paste a key. It is kept in memory only, and never reaches the agent's kernel.",
                *(self._key, self._key_model, use_key),
            ),
            widget_parts.way(
                "2. Name a server that speaks OpenAI's API; a local one needs no key.",
                *(self._url, self._url_model, use_url),
            ),
            widget_parts.way(
                "3. Use `offline`: no language model, but a fixed analysis of a table. Nothing leaves this machine.",
                offline,
                stop,
            ),
            self._complaint,
        )

    def _with_key(self) -> None:
        key, self._key.value = self._key.value.strip(), ""
        if key:
            self.answer(ModelConnection(self._key_model.value.strip() or DEFAULT_MODEL, key))
        else:
            self._complain("The key is empty.")

    def _with_server(self) -> None:
        url, model = self._url.value.strip(), self._url_model.value.strip()
        if url and model:
            self.answer(ModelConnection(model, base_url=url))
        else:
            self._complain("A server needs its base URL and the name of a model.")

    def _complain(self, text: str) -> None:
        self._complaint.value = chat_html.line(text, tone="bad")
