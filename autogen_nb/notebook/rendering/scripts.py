"""Scripts that run in the notebook's page or in a frame."""

from functools import cache
from pathlib import Path


@cache
def script(name: str) -> str:
    """Returns a script of this folder without its comments and indentation."""
    lines = (text.strip() for text in (Path(__file__).parent / name).read_text("utf-8").splitlines())
    return "\n".join(text for text in lines if text and not text.startswith("//"))
