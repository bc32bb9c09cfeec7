"""Writes down what AutoGen 0.2 makes of the scenarios.

In an environment of its own with ``autogen-agentchat==0.2.40`` and ``markdown-it-py``, from the project's folder::

    python -m tests.parity.record
"""

import json
from pathlib import Path
from typing import Any

RECORD = Path(__file__).with_name("autogen_0_2_40.json")


def main() -> None:
    import autogen  # type: ignore[import-not-found]  # it is not installed where this project is

    from tests.parity.playing import played
    from tests.parity.scenarios import SCENARIOS

    record = json.loads(json.dumps({name: played(autogen, name) for name in SCENARIOS}, default=str))
    RECORD.write_text(readable(record) + "\n", encoding="utf-8")


def readable(value: Any, indent: str = "") -> str:
    """Returns JSON with at most one message on each line."""
    line = json.dumps(value, sort_keys=True)
    if not isinstance(value, dict | list) or "content" in value or (len(line) < 110 and line.count('"content"') < 2):
        return line
    inner = indent + " "
    if isinstance(value, list):
        return "[\n" + ",\n".join(inner + readable(item, inner) for item in value) + f"\n{indent}]"
    rows = (f"{inner}{json.dumps(key)}: {readable(item, inner)}" for key, item in sorted(value.items()))
    return "{\n" + ",\n".join(rows) + f"\n{indent}}}"


if __name__ == "__main__":
    main()
