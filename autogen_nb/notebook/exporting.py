"""``%autogen export``: writes a chat to a file, by default after a run of its code in a new kernel."""

from collections.abc import Collection
from pathlib import Path

from autogen_nb.agents.chats.export import Export
from autogen_nb.notebook.chat_folders import writable
from autogen_nb.notebook.conversations import NotebookConversation
from autogen_nb.notebook.notebook import CellStage
from autogen_nb.notebook.resuming import agrees


async def export(stage: CellStage, chat: NotebookConversation, path: Path, options: Collection[str]) -> None:
    """Writes the file; the person may decide not to run the code."""
    view = stage.view
    document = Export(
        session=chat.session,
        path=path,
        executor=chat.where.executor(cwd=path.parent, writable=writable(path.parent, lambda: chat.folder)),
        human=stage.approver,
        show=view.show,
        progress=view.set_status,
        waits=stage.waits,
    )
    blocks = [block for code in document.code for block in code.asked.blocks]
    document.unchecked = "--unchecked" in options or not (
        "--yes" in options or await agrees(stage.person, chat.name, blocks, f"check {path.name!r}")
    )
    await document.write()
    for difference in (*document.differences, *document.times):
        view.note(difference, tone="warning")
    outcome = "marked as different" if document.differences else "checked: the same results"
    result = "not checked" if document.unchecked else outcome
    names = ", ".join(f"`{name}`" for name in (path.name, *document.data_files))
    view.note(f"Written: {names} ({result}).")
