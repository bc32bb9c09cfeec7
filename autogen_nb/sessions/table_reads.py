"""Finds how the notebook read its tables from files; nothing runs but a reader of pandas with literal arguments."""

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autogen_nb.core.text import code_blocks

_READERS = frozenset({"read_csv", "read_excel", "read_parquet"})


@dataclass(frozen=True, slots=True)
class TableRead:
    """A call of a reader of pandas with a local file; `options` has the source of its literal options."""

    reader: str
    file: str
    options: Mapping[str, str]

    def gives(self, value: Any) -> bool:
        """True if the file still has the value."""
        if self.reader not in _READERS or not Path(self.file).is_file():
            return False
        try:
            import pandas as pd

            options = {name: ast.literal_eval(source) for name, source in self.options.items()}
            read = getattr(pd, self.reader)(self.file, **options)
            pd.testing.assert_frame_equal(read, value, check_exact=True)
        except Exception:  # noqa: BLE001 - a reader may raise any error for a file that has changed
            return False
        return True

    def code(self, file: str) -> str:
        """The call, with an expression for its file."""
        return f"pd.{self.reader}({', '.join([file, *(f'{name}={source}' for name, source in self.options.items())])})"


def table_reads(names: Iterable[str], namespace: Mapping[str, Any]) -> dict[str, TableRead]:
    """Maps names to the calls that the notebook's cells last set them to; other names are left out."""
    history = namespace.get("In")
    cells = [code for code in history if isinstance(code, str)] if isinstance(history, list) else []
    return {name: read for name in names if (read := _latest(name, cells, namespace))}


def _latest(name: str, cells: list[str], namespace: Mapping[str, Any]) -> TableRead | None:
    cell = next((code for code in reversed(cells) if name in code_blocks.defined_names(code)), "")
    tree = code_blocks.parse_python(cell)
    match [each for each in tree.body if name in code_blocks.defined_names(ast.unparse(each))] if tree else []:
        case [
            ast.Assign(
                [ast.Name()],
                ast.Call(ast.Attribute(ast.Name(module), reader), [ast.Constant(str(file))], keywords),
            )
        ] if getattr(namespace.get(module), "__name__", "") == "pandas" and reader in _READERS:
            options = {option.arg: ast.unparse(option.value) for option in keywords if option.arg}
            path = Path(file).expanduser().absolute()
            if path.is_file() and len(options) == len(keywords):
                return TableRead(reader, str(path), options)
    return None
