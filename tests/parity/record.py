"""Writes down what AutoGen 0.2 makes of the scenarios.

In an environment of its own with ``autogen-agentchat==0.2.40`` and ``markdown-it-py``, from the project's folder::

    python -m tests.parity.record
"""

import json
import re
from pathlib import Path

RECORD = Path(__file__).with_name("autogen_0_2_40.json")


def main() -> None:
    import autogen  # type: ignore[import-not-found]  # it is not installed where this project is

    from tests.parity.playing import played
    from tests.parity.scenarios import SCENARIOS

    record = {name: played(autogen, name) for name in SCENARIOS}
    text = json.dumps(record, indent=1, sort_keys=True, default=str)
    # One message a line.
    text = re.sub(r"[{\[][^{}\[\]]*[}\]]", lambda found: re.sub(r"\n\s*", " ", found[0]), text)
    RECORD.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
