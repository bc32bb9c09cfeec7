"""The pages for readers: README, CONTRIBUTING and what lies in docs/."""

import re
from pathlib import Path

PROJECT = Path(__file__).parent.parent
README = PROJECT / "README.md"
PAGES = (README, PROJECT / "CONTRIBUTING.md", *sorted((PROJECT / "docs").rglob("*.md")))


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def code(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)\n```$", text(page), re.DOTALL | re.MULTILINE)


def has_magics(page: Path) -> bool:
    return any(re.search(r"^%", block, re.MULTILINE) for block in code(page))


def names(pages: tuple[Path, ...]) -> list[str]:
    return [str(page.relative_to(PROJECT).with_suffix("")) for page in pages]
