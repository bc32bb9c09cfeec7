"""Plain tables for a terminal."""

from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """The rows below their header; every column but the first is right-aligned."""
    lines = [tuple(header), *(tuple(str(value) for value in row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    texts = ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in lines]
    return "\n".join([texts[0], "-" * len(texts[0]), *texts[1:]])
