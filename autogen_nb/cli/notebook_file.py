"""Writes notebooks atomically, without overwriting other files."""

import os
import tempfile
from contextlib import suppress
from itertools import chain, count
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
    if not os.access(path.parent, os.W_OK):
        raise ConfigError(f"{path} cannot be written: its folder is missing or read-only; --out names another place")


def save(notebook: Any, path: Path, *, force: bool) -> Path:
    """Writes the notebook and returns its path, which has a number if another file has taken the name meanwhile."""
    import nbformat

    # The name is unique across machines and containers.
    draft = path.with_name(f".{path.name}-{uuid4().hex}")
    try:
        with draft.open("x", encoding="utf-8") as file:
            nbformat.write(notebook, file)
        places = chain([path], (path.with_stem(f"{path.stem}-{number}") for number in count(2)))
        return draft.replace(next(place for place in places if force or not place.exists()))
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
        raise ExecutionError(f"{why}, and no temporary file either ({error.strerror or error})") from error


def sign(path: Path) -> None:
    """Signs the notebook, so that Jupyter shows its outputs as trusted."""
    import nbformat
    from nbformat.sign import NotebookNotary

    # Jupyter's signature database may be locked, damaged or unreachable.
    with suppress(Exception), NotebookNotary() as notary:
        notary.sign(nbformat.read(path, as_version=4))
