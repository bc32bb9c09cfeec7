"""A notebook's file: written as a whole or not at all, and over nothing that was not meant."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from autogen_nb.errors import ConfigError, ExecutionError


def check_place(path: Path, *, force: bool) -> None:
    """Makes sure that a notebook may be written there."""
    if path.is_dir():
        raise ConfigError(f"{path} is a folder; --out names the notebook's file, such as report.ipynb")
    if path.exists() and not force:
        raise ConfigError(f"{path} is there already; --force writes over it, or --out names another file")
    if not path.parent.is_dir():
        raise ConfigError(f"there is no folder {path.parent} for {path.name}; make it first")
    if not os.access(path.parent, os.W_OK):
        raise ConfigError(f"nothing can be written in the folder {path.parent}; --out names another place")


def save(notebook: Any, path: Path, *, force: bool) -> Path:
    """The file that the notebook was written to: where another one has come meanwhile, one with a number."""
    import nbformat

    # No other process has this name, whichever machine or container it is in.
    draft = path.with_name(f".{path.name}-{uuid4().hex}")
    try:
        with draft.open("x", encoding="utf-8") as file:
            file.write(nbformat.writes(notebook) + "\n")
            file.flush()
            os.fsync(file.fileno())
        return draft.replace(path) if force else _linked(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def save_somewhere(notebook: Any, path: Path, *, force: bool) -> tuple[Path, str]:
    """The file that the notebook was written to, and why it is a temporary one; "" where it is not."""
    try:
        return save(notebook, path, force=force), ""
    except OSError as error:
        why = f"{path} cannot be written ({error.strerror or error})"
    try:
        return save(notebook, Path(tempfile.mkdtemp(prefix="autogen-nb-")) / path.name, force=False), why
    except OSError as error:
        raise ExecutionError(f"{why}, and no temporary file either ({error.strerror or error}); make room") from error


def sign(path: Path) -> None:
    """Has Jupyter trust the notebook, as one that was run in it: its outputs are shown as they were made.

    The signature goes into Jupyter's own data folder. Where none can be written the notebook is shown without colours,
    and nothing else is lost.
    """
    import nbformat
    from nbformat.sign import NotebookNotary

    # A database of Jupyter's own, which may be locked, damaged or out of reach in ways of its own.
    with suppress(Exception), NotebookNotary() as notary:
        notary.sign(nbformat.read(path, as_version=4))


def _linked(draft: Path, path: Path) -> Path:
    number, place = 1, path
    while True:
        try:
            place.hardlink_to(draft)
        except FileExistsError:
            number += 1
            place = path.with_stem(f"{path.stem}-{number}")
        except OSError:
            # A file system without links.
            with place.open("x", encoding="utf-8") as file:
                file.write(draft.read_text(encoding="utf-8"))
            return place
        else:
            return place
