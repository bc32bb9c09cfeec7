"""The first chat's kernel, which starts before the rest of what cells need is loaded."""

from contextlib import suppress
from pathlib import Path

from autogen_nb import run
from autogen_nb.errors import AutogenError
from autogen_nb.notebook.conversations import Conversations
from autogen_nb.notebook.settings import Defaults


def begun(cwd: Path, defaults: Defaults) -> Conversations:
    """A notebook's conversations; the first one's kernel is being started, where that costs nobody anything."""
    conversations = Conversations(cwd)
    first = conversations.named()
    # A place that cannot be had is told by the first cell.
    with suppress(AutogenError):
        first.settle(defaults.where, defaults.where)
        if first.where == defaults.where and not first.where.costly:
            start = run.engine.submit(first.executor.start())
            # A kernel that does not start is told when it is first needed, by the start that happens then.
            start.add_done_callback(lambda ended: None if ended.cancelled() else ended.exception() and None)
    return conversations
