"""Colours that can be read, light and dark."""

import math
import re
from itertools import product

import pytest

from autogen_nb.notebook.rendering.styles import CODE_STYLES

# The text and the code background of JupyterLab, and of a front end that has none of its variables.
LIGHT = ((0x21, 0x21, 0x21), (0xF5, 0xF5, 0xF5))
DARK = ((0xFF, 0xFF, 0xFF), (0x21, 0x21, 0x21))
THEIRS_LIGHT = {"keyword": "008000", "string": "ba2121", "comment": "408080", "number": "008800"}
THEIRS_LIGHT |= {"operator": "7800c2", "def": "0000ff", "builtin": "008000", "meta": "aa22ff", "property": "0055aa"}
# nbconvert's dark theme still has the older operator colour.
THEIRS_DARK = {"keyword": "4caf50", "string": "ff7070", "comment": "408080", "number": "66bb6a"}
THEIRS_DARK |= {"operator": "aa22ff", "def": "1e88e5", "builtin": "43a047", "meta": "aa22ff", "property": "42a5f5"}
_STYLE = re.compile(r"-color,#(?P<fallback>\w{6})\) (?P<share>\d+)%")


def _rgb(digits: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(digits))


def _luminance(colour: tuple[float, ...]) -> float:
    linear = [math.pow((value / 255 + 0.055) / 1.055, 2.4) for value in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(colour: str, share: int, text: tuple[int, ...], background: tuple[int, ...]) -> float:
    mixed = tuple((share * one + (100 - share) * two) / 100 for one, two in zip(_rgb(colour), text, strict=True))
    dark, light = sorted((_luminance(mixed), _luminance(background)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(
    ("name", "theme"), list(product(CODE_STYLES, ["light", "dark", "no variables, light", "no variables, dark"]))
)
def test_code_has_enough_contrast(name: str, theme: str) -> None:
    found = _STYLE.search(CODE_STYLES[name])
    assert found
    colours = {"light": THEIRS_LIGHT[name], "dark": THEIRS_DARK[name]}
    text, background = DARK if theme.endswith("dark") else LIGHT

    assert _contrast(colours.get(theme, found["fallback"]), int(found["share"]), text, background) >= 4.5
