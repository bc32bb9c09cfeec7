"""``%autogen export``: writes a chat to a file, after its code has run in a new kernel."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autogen_nb.agents.chats.export import Export, check_file
from autogen_nb.errors import ConfigError
from autogen_nb.notebook.chat_folders import writable
from autogen_nb.notebook.conversations import NotebookConversation
from autogen_nb.notebook.notebook import CellStage
from autogen_nb.notebook.resuming import agrees


@dataclass(frozen=True, slots=True)
class ExportOptions:
    path: Path
    yes: bool = False
    unchecked: bool = False

    @classmethod
    def parse(cls, words: Sequence[str]) -> "ExportOptions":
        files, flags = [word for word in words if word[0] != "-"], {word for word in words if word[0] == "-"}
        if len(files) != 1 or not flags <= {"--yes", "--unchecked", "--force"}:
            raise ConfigError(
                f"%autogen export takes a file, -c CHAT, --yes, --unchecked and --force, not {' '.join(words)!r}"
            )
        path = Path(files[0]).expanduser().absolute()
        check_file(path, force="--force" in flags)
        return cls(path, "--yes" in flags, "--unchecked" in flags)


async def export(stage: CellStage, chat: NotebookConversation, options: ExportOptions) -> None:
    """Writes the file; the person may decide not to run the code."""
    path, view = options.path, stage.view
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
    document.unchecked = options.unchecked or not (
        options.yes or await agrees(stage.person, chat.name, blocks, f"check {path.name!r}")
    )
    await document.write()
    for difference in (*document.differences, *document.times):
        view.note(difference, tone="warning")
    same = "marked as different" if document.differences else "checked: the same results"
    result = "not checked" if document.unchecked else same
    view.note(f"Written: `{path.name}` ({result}).")
