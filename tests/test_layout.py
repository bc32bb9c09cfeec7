"""Where things live: no folder too full to be read at a glance, and no name that stands for two things."""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.test_imports import PACKAGE

MOST = 16
"""Modules that one folder holds at most."""

AUTOGEN = frozenset({"base", "conditions", "coding", "code_executors", "teams"})
"""The places whose paths AutoGen publishes: what lives there has the names that its readers import."""

EITHER_SIDE = frozenset({"FunctionCall"})
"""AutoGen's model clients have a class of the name that the package's own messages have."""


def crowded(package: Path) -> list[str]:
    """The folders with more modules than one holds at most."""
    held = Counter(path.parent for path in package.rglob("*.py") if path.name != "__init__.py")
    return [f"{folder.relative_to(package)}: {number}" for folder, number in sorted(held.items()) if number > MOST]


def doubled_modules(package: Path) -> list[str]:
    """The names that two modules have."""
    found = defaultdict(list)
    for path in sorted(package.rglob("*.py")):
        place = path.relative_to(package)
        if place.parts[0].removesuffix(".py") not in AUTOGEN and not path.name.startswith("__"):
            found[path.stem].append(place.as_posix())
    return [", ".join(places) for places in found.values() if len(places) > 1]


def doubled_classes(package: Path) -> list[str]:
    """The names that two public classes have."""
    found = defaultdict(list)
    for path in sorted(package.rglob("*.py")):
        for name in _classes(path):
            found[name].append(path.relative_to(package).as_posix())
    return [f"{name}: {', '.join(places)}" for name, places in found.items() if len(places) > 1]


def _classes(path: Path) -> Iterator[str]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and node.name not in EITHER_SIDE:
            yield node.name


def test_no_folder_is_crowded(project: Path) -> None:
    """A folder holds few enough modules to be read at a glance."""
    assert crowded(project / PACKAGE) == []


def test_no_two_modules_have_one_name(project: Path) -> None:
    """Who searches for a module finds one, and AutoGen's own paths lead to it."""
    assert doubled_modules(project / PACKAGE) == []


def test_no_two_classes_have_one_name(project: Path) -> None:
    """Who searches for a class finds one."""
    assert doubled_classes(project / PACKAGE) == []


def test_what_is_wrong_is_found(tmp_path: Path) -> None:
    """A folder that is too full, a module twice and a class twice are named with their places."""
    for number in range(MOST + 1):
        (tmp_path / f"module_{number}.py").write_text("")
    for room in ("core", "models"):
        (tmp_path / room).mkdir()
        (tmp_path / room / "price.py").write_text("class Price: ...\nclass _Own: ...\n")

    assert crowded(tmp_path) == [".: 17"]
    assert doubled_modules(tmp_path) == ["core/price.py, models/price.py"]
    assert doubled_classes(tmp_path) == ["Price: core/price.py, models/price.py"]
