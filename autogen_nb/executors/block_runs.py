"""What every way to run code blocks has in common: one after the other, and files that a block names."""

import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from pathlib import Path

from autogen_nb.core.ports import RunEnded
from autogen_nb.errors import ExecutionError
from autogen_nb.kernels.kernel import BlockOutcome
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Output, Stream

_FILENAME = re.compile(r"# filename: (.+)")


class BlockRefused(Exception):
    """A block that must not run; the message is for model and person."""


async def run_in_order(
    blocks: Sequence[CodeBlock], run: Callable[[CodeBlock], AsyncGenerator[Output | BlockOutcome]]
) -> AsyncGenerator[Output | RunEnded]:
    """Outputs of the blocks as they come, then exactly one `RunEnded`; blocks after a failed one do not run."""
    ran, code, notes = 0, 0, list[str]()
    for block in blocks:
        ran += 1
        async with aclosing(run(block)) as items:
            async for item in items:
                if isinstance(item, BlockOutcome):
                    code = item.exit_code
                    notes += [item.note] if item.note else []
                else:
                    yield item
        if code:
            break
    yield RunEnded(code, ran, " ".join(notes))


def block_file_name(code: str) -> str | None:
    """The file that the code's first line names, if it does."""
    first = code.lstrip("\n").partition("\n")[0]
    found = _FILENAME.fullmatch(first.rstrip())
    return None if found is None else found[1].strip()


def save_block(code: str, folder: Path, *, otherwise: str | None = None) -> Path | None:
    """The file in the folder that now holds the code: the one that its first line names, or `otherwise`.

    Raises
    ------
    BlockRefused
        When the name leads out of the folder, or the file cannot be written.
    """
    name = block_file_name(code) or otherwise
    if name is None:
        return None
    root = folder.resolve()
    try:
        path = (root / name).resolve()
        if root not in path.parents:
            raise BlockRefused(f"{name!r} is not inside the working directory; nothing was saved or run")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise BlockRefused(f"{name!r} cannot be saved ({error}); nothing was run") from error
    return path


async def refuse_block(reason: object) -> AsyncGenerator[Output | BlockOutcome]:
    """What comes of a block that does not run."""
    yield Stream("stderr", f"{reason}\n")
    yield BlockOutcome(1)


def unknown_language(language: str, known: str = "python, sh and bash") -> BlockRefused:
    """The refusal of a language."""
    return BlockRefused(f"{language!r} blocks cannot be run here; known languages are {known}")


def make_directory(folder: Path) -> None:
    """Makes the working directory, with its parents, where it is not there.

    Raises
    ------
    ExecutionError
        When it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ExecutionError(f"the working directory {str(folder)!r} cannot be made: {error}") from error
