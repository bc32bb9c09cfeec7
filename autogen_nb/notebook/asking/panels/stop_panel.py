"""Wait for code that does not yield, or kill it?"""

from autogen_nb.notebook.asking.panels import widget_parts
from autogen_nb.notebook.asking.panels.panel import Panel
from autogen_nb.notebook.rendering import chat_html


class StopPanel(Panel):
    """Wait for code that does not yield, or kill it?"""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        wait = self.button("Wait", lambda: self.answer("wait"), hint="Leave the code alone; nothing is lost")
        kill = self.button("Kill", lambda: self.answer("kill"), hint="End the kernel with all it holds", style="danger")
        self.show(widget_parts.head(chat_html.question(what)), widget_parts.row(wait, kill))
