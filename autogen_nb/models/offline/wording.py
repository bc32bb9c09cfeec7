"""Words for a person: counts, lists, and names from data that stay harmless in Markdown."""

from collections.abc import Iterable, Sequence

_LONGEST = 60


def span(value: object) -> str:
    """The value as a code span: one line, without backticks, at most 60 characters.

    Inside a code span Markdown reads nothing else, so a name from data cannot become a fence or a picture.
    """
    text = " ".join(str(value).split()).replace("`", "'")
    text = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
    text = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "\N{HORIZONTAL ELLIPSIS}"
    return f"`{text}`" if text else "(no name)"


def spans(values: Iterable[object], *, most: int = 6) -> str:
    """The values as code spans in a sentence, at most that many of them."""
    every = [span(value) for value in values]
    return listed(every if len(every) <= most else [*every[:most], f"{len(every) - most} more"])


def listed(items: Sequence[str]) -> str:
    """The items with commas, and "and" before the last."""
    return " and ".join([", ".join(items[:-1]), items[-1]]) if len(items) > 1 else "".join(items)


def count(number: int, noun: str) -> str:
    """The number with its noun: "1 row", "1,461 rows"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
