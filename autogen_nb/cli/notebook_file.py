"""Writes notebooks atomically, without overwriting other files."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from autogen_nb.errors import ConfigError, ExecutionError


def check_place(path: Path, *, force: bool) -> None:
    """Raises an error if the notebook must not be written to this path."""
    if path.is_dir():
        raise ConfigError(f"{path} is a folder; --out names the notebook's file, such as report.ipynb")
    if path.exists() and not force:
        raise ConfigError(f"{path} already exists; --force overwrites it, or --out names another file")
    if not path.parent.is_dir():
        raise ConfigError(f"there is no folder {path.parent} for {path.name}; create it first")
    if not os.access(path.parent, os.W_OK):
        raise ConfigError(f"nothing can be written in the folder {path.parent}; --out names another place")


def save(notebook: Any, path: Path, *, force: bool) -> Path:
    """Writes the notebook and returns its path, which has a number if another file has taken the name meanwhile."""
    import nbformat

    # The name is unique across machines and containers.
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
    """Saves the notebook, if necessary in a temporary folder; returns its path and the reason for that folder."""
    try:
        return save(notebook, path, force=force), ""
    except OSError as error:
        why = f"{path} cannot be written ({error.strerror or error})"
    try:
        return save(notebook, Path(tempfile.mkdtemp(prefix="autogen-nb-")) / path.name, force=False), why
    except OSError as error:
        raise ExecutionError(
            f"{why}, and no temporary file either ({error.strerror or error}); free some space"
        ) from error


def sign(path: Path) -> None:
    """Signs the notebook, so that Jupyter shows its outputs as trusted.

    The signature is stored in Jupyter's data folder. A notebook without a signature only lacks the outputs' colours.
    """
    import nbformat
    from nbformat.sign import NotebookNotary

    # Jupyter's signature database may be locked, damaged or unreachable.
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
            # The file system has no hard links.
            with place.open("x", encoding="utf-8") as file:
                file.write(draft.read_text(encoding="utf-8"))
            return place
        else:
            return place
