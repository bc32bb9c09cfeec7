"""Programs for AG2 and AgentChat, which make here what they make there."""

from pathlib import Path

import pytest

from tests.parity.recorded import like, played, programs, record_of

FOLDERS = [Path(__file__).with_name("ag2"), Path(__file__).with_name("agentchat")]
CASES = [(folder, name) for folder in FOLDERS for name in programs(folder)]


@pytest.mark.parametrize(("folder", "name"), CASES, ids=lambda value: getattr(value, "stem", value))
def test_makes_what_the_original_makes(folder: Path, name: str) -> None:
    record = record_of(folder)[name]

    assert like(record, played(folder / f"{name}.py")) == record
