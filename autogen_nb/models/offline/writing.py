"""Python source from templates, with every name and value embedded as a literal.

Text that comes from data must never reach a template unquoted: `render` quotes whatever is not `Source`.
"""

import json
import keyword
from string import Template
from textwrap import dedent

WIDTH = 88


class Source(str):
    """Text that is Python source already."""

    __slots__ = ()


def name(text: str) -> Source:
    """The text as a variable's name.

    Raises
    ------
    ValueError
        When it is none.
    """
    if not text.isidentifier() or keyword.iskeyword(text):
        raise ValueError(f"{text!r} cannot name a variable")
    return Source(text)


def render(template: str, **values: object) -> Source:
    """The template without its margin, each ``$key`` replaced by the value's literal."""
    embedded = {key: str(value) if isinstance(value, Source) else literal(value) for key, value in values.items()}
    return Source(Template(dedent(template).strip("\n")).substitute(embedded))


def joined(*parts: str) -> Source:
    """The pieces of source, one empty line between them."""
    return Source("\n\n".join(part for part in parts if part))


def literal(value: object) -> str:
    """A Python expression for the value, in double quotes where that is possible, broken up where it is long."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return _bracketed("{", [f"{literal(key)}: {literal(item)}" for key, item in value.items()], "}")
    if isinstance(value, list | tuple):
        return _bracketed("[", [literal(item) for item in value], "]")
    return repr(value)


def _text(value: str) -> str:
    plain = value.isprintable() and not set(value) & set("\"'\\`")
    # A run of backticks in the source could be taken for the end of the block.
    return json.dumps(value, ensure_ascii=False) if plain else ascii(value).replace("`", "\\x60")


def _bracketed(left: str, items: list[str], right: str) -> str:
    line = f"{left}{', '.join(items)}{right}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([left, *(f"    {item}," for item in items), right])
