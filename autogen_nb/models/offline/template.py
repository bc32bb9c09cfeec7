"""Python source from templates; names and values are embedded as literals."""

import json
from string import Template
from textwrap import dedent

_WIDTH = 88


class Source(str):
    """Python source that `render` inserts without quoting."""

    __slots__ = ()


def render(template: str, **values: object) -> Source:
    """Dedents the template and replaces each ``$key`` with the literal of its value."""
    embedded = {key: value if isinstance(value, Source) else literal(value) for key, value in values.items()}
    return Source(Template(dedent(template).strip("\n")).substitute(embedded))


def literal(value: object) -> str:
    """Formats a Python expression for the value; a long list has one item on each line."""
    if isinstance(value, str):
        plain = value.isprintable() and not set(value) & set("\"'\\`")
        # A parser of the Markdown could end the block at a run of backticks.
        return json.dumps(value, ensure_ascii=False) if plain else ascii(value).replace("`", "\\x60")
    if not isinstance(value, list | tuple):
        return repr(value)
    items = [literal(item) for item in value]
    line = f"[{', '.join(items)}]"
    return line if len(line) <= _WIDTH else "\n".join(["[", *(f"    {item}," for item in items), "]"])
