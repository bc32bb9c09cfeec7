"""``%autogen export``: writes a chat to a file, by default after a run of its code in a new kernel."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from autogen_nb.agents.chats.export import Export
from autogen_nb.core.text.output_images import MAGIC, is_preparation, static
from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.notebook.chat_folders import writable
from autogen_nb.notebook.conversations import NotebookConversation
from autogen_nb.notebook.notebook import CellStage
from autogen_nb.notebook.rendering.chat_html import first_picture
from autogen_nb.notebook.rendering.frames import LIBRARIES, document, frame_html, library_html
from autogen_nb.notebook.rendering.mime import safe
from autogen_nb.notebook.resuming import agrees
from autogen_nb.outputs import Bundle


def framed_charts() -> Callable[[Bundle], dict[str, Any]]:
    """A function that puts a page's charts into frames, and each library before its first chart."""
    published = set[str]()

    def framed(data: Bundle) -> dict[str, Any]:
        page = None if is_preparation(data) else document(data)
        if page is None:
            return static(data)
        new = [name for name in page.libraries if name not in published and LIBRARIES[name].version]
        published.update(new)
        checked, _ = safe({mime: data[mime] for mime in MAGIC.keys() & data.keys()})
        return {"text/html": "".join((*map(library_html, new), frame_html(page, first_picture(checked))))}

    return framed


async def export(
    stage: CellStage, chat: NotebookConversation, path: Path, *, yes: bool, unchecked: bool, force: bool
) -> None:
    """Writes the file; the person may decide not to run the code."""
    view = stage.view
    exported = Export(
        session=chat.session,
        path=path,
        executor=BlockExecutor(place=chat.place, cwd=path.parent, writable=writable(path.parent, lambda: chat.folder)),
        human=stage.approver,
        view=view,
        progress=view.set_status,
        waits=stage.waits,
        force=force,
        in_page=framed_charts(),
    )
    asked = [(code.asked, () if code.ran is None else code.ran.inner) for code in exported.code]
    exported.unchecked = unchecked or not (yes or await agrees(stage, chat.name, asked, f"check {path.name!r}"))
    await exported.write()
    for difference in (*exported.differences, *exported.times):
        view.note(difference, tone="warning")
    outcome = "marked as different" if exported.differences else "checked: the same results"
    result = "not checked" if exported.unchecked else outcome
    names = ", ".join(f"`{name}`" for name in (path.name, *exported.data_files))
    view.note(f"Written: {names} ({result}).")
