"""Python source from templates; every name and value from outside is embedded as a literal."""

import json
from string import Template
from textwrap import dedent

_WIDTH = 88


class Source(str):
    """Text that is Python source already; `render` quotes everything else."""

    __slots__ = ()


def render(template: str, **values: object) -> Source:
    """The template without its margin, each ``$key`` replaced by the literal of its value."""
    embedded = {key: value if isinstance(value, Source) else literal(value) for key, value in values.items()}
    return Source(Template(dedent(template).strip("\n")).substitute(embedded))


def literal(value: object) -> str:
    """A Python expression for the value; a long list has one item on each line."""
    if isinstance(value, str):
        plain = value.isprintable() and not set(value) & set("\"'\\`")
        # A run of backticks in the source could be taken for the end of the block.
        return json.dumps(value, ensure_ascii=False) if plain else ascii(value).replace("`", "\\x60")
    if not isinstance(value, list | tuple):
        return repr(value)
    items = [literal(item) for item in value]
    line = f"[{', '.join(items)}]"
    return line if len(line) <= _WIDTH else "\n".join(["[", *(f"    {item}," for item in items), "]"])
