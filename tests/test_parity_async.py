import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
RUN = ROOT / "tests" / "parity" / "measured" / "run.py"

pytestmark = [pytest.mark.slow, pytest.mark.kernel, pytest.mark.xdist_group("parity")]

GOLDEN = {
    name.partition("_")[0]: kept for name, kept in json.loads(RUN.with_name("golden.json").read_text("utf-8")).items()
}
"""What AutoGen made of the scenarios."""

PRIVATE = "_consecutive_auto_reply_counter"
"""AutoGen's own, read by one scenario when all else is recorded; the comparison with AutoGen leaves it out too."""


@pytest.fixture(scope="module")
def came_to(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-m", "tests.both_ways", str(RUN)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        cwd=tmp_path_factory.mktemp("parity"),
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", GOLDEN)
def test_same_both_ways(came_to: dict[str, dict[str, Any]], name: str) -> None:
    sync, awaited = came_to[name]["sync"], came_to[name]["async"]

    assert sync["error"] is None or PRIVATE in sync["error"]
    assert awaited["error"] == sync["error"]
    assert sync["started"]
    assert awaited["started"] == sync["started"]
    assert sync["kept"] == GOLDEN[name]
    assert awaited["recorded"] == sync["recorded"]
    assert awaited["logs"] == sync["logs"]
    assert sum(map(len, sync["logs"])) >= 3 * sync["started"].count("initiate_chat")


def test_every_scenario_is_named(came_to: dict[str, dict[str, Any]]) -> None:
    assert sorted(came_to) == sorted(GOLDEN)
