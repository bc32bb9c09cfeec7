"""Words for a person: numbers, lists, and names from data that stay harmless in Markdown."""

import math
import re
from collections.abc import Iterable, Sequence

LONGEST = 60
LARGE, TINY = 1e12, 1e-4
"""Sizes from which a number is written with an exponent."""
DIGITS = ((1_000, 0), (100, 1), (1, 2))
"""Digits after the point, by the size from which they hold."""
SMALL_SHARE = 0.1
_SPACE = re.compile(r"\s+")


def span(value: object) -> str:
    """The value as a code span: one line, without backticks, at most 60 characters.

    Inside a code span Markdown reads nothing else, so a name from data cannot become a fence or a picture.
    """
    text = _SPACE.sub(" ", str(value)).strip().replace("`", "'")
    text = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
    if len(text) > LONGEST:
        text = text[: LONGEST - 1] + "\N{HORIZONTAL ELLIPSIS}"
    return f"`{text}`" if text else "(no name)"


def spans(values: Iterable[object], *, most: int = 6) -> str:
    """The values as code spans in a sentence, at most that many of them."""
    every = list(values)
    shown = [span(value) for value in every[:most]]
    if len(every) > most:
        shown.append(f"{len(every) - most} more")
    return listed(shown)


def listed(items: Sequence[str]) -> str:
    """The items with commas, and "and" before the last."""
    return " and ".join([", ".join(items[:-1]), items[-1]]) if len(items) > 1 else "".join(items)


def count(number: int, noun: str) -> str:
    """The number with its noun: "1 row", "1,461 rows"."""
    plural = noun if number == 1 else f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {plural}"


def number(value: object) -> str:
    """The number in about four digits that matter; "unknown" for what is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return "unknown"
    size = abs(value)
    if size >= LARGE or 0 < size < TINY:
        return f"{value:.3g}"
    if isinstance(value, int):
        return f"{value:,}"
    digits = next((digits for least, digits in DIGITS if size >= least), 3)
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: object) -> str:
    """The share (0 to 1) as a percentage; a small one keeps a digit."""
    if isinstance(share, bool) or not isinstance(share, int | float) or not math.isfinite(share):
        return "an unknown share"
    return f"{share * 100:.1f} %" if 0 < abs(share) < SMALL_SHARE else f"{share * 100:.0f} %"
