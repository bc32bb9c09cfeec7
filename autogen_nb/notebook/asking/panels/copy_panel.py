"""May these variables be copied?"""

from autogen_nb.notebook.asking.panels import widget_parts
from autogen_nb.notebook.asking.panels.panel import Panel
from autogen_nb.notebook.rendering import chat_html


class CopyPanel(Panel):
    """May these variables be copied?"""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        copy = self.button("Copy", lambda: self.answer("copy"), hint="Copy to the agent's kernel", style="primary")
        leave = self.button("Do not copy", lambda: self.answer("leave"), hint="Run the task without")
        stop = self.button("Stop", lambda: self.answer(None), hint="Do not run the task")
        self.show(widget_parts.head(chat_html.question(what)), widget_parts.row(copy, leave, stop))
