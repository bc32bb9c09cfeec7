"""Wait for code that does not yield, or kill it?"""

from autogen_nb.notebook import rendering
from autogen_nb.notebook.panels import parts
from autogen_nb.notebook.panels.panel import Panel


class StoppingPanel(Panel):
    """Wait for code that does not yield, or kill it?"""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        wait = self.button("Wait", lambda: self.answer("wait"), hint="Leave the code alone; nothing is lost")
        kill = self.button("Kill", lambda: self.answer("kill"), hint="End the kernel with all it holds", style="danger")
        self.show(parts.head(rendering.question(what)), parts.row(wait, kill))
