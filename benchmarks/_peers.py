"""Our Jupyter executor and chats beside those of AutoGen 0.2.40 and AgentChat 0.7.5, each in its own environment.

`make bench-peers` runs it; the environments are made in the folder that is its argument, once.
"""

import json
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

from benchmarks._notebook import server
from benchmarks._table import table

HERE = Path(__file__).parent
PEERS = {
    "AutoGen 0.2.40": ("embedded", ["autogen-agentchat[jupyter-executor]==0.2.40"]),
    "AgentChat 0.7.5": ("agentchat", ["autogen-agentchat==0.7.5", "autogen-ext[jupyter-executor,openai]==0.7.5"]),
}

KISHU = ["kishu==0.3.4", "pandas"]
"""`checkpoints` compares with it."""


def environment(folder: Path, packages: list[str]) -> Path:
    """The interpreter of an environment that holds these packages."""
    python = folder / "bin" / "python"
    ready, wanted = folder / "ready", "\n".join(packages)
    if not ready.exists() or ready.read_text("utf-8") != wanted:
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
        ready.write_text(wanted, "utf-8")
    return python


def measured(python: Path, kind: str, cwd: Path) -> dict[str, Any]:
    command = [str(python), str(HERE / "_peer.py"), kind]
    found = found_by(command, kind, cwd)
    # AutoGen 0.2's chats block their thread, so they cannot run beside each other.
    if kind != "embedded":
        with server("```python\nx=1\n```") as url:
            found |= found_by([*command, url], kind, cwd)
    return found


def found_by(command: list[str], kind: str, cwd: Path) -> dict[str, Any]:
    ran = subprocess.run(command, cwd=cwd, check=False, capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(f"{kind} could not be measured:\n{ran.stderr}")
    (line,) = (line for line in ran.stdout.splitlines() if line.startswith("measured:"))
    found: dict[str, Any] = json.loads(line.removeprefix("measured:"))
    return found


def main(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    columns = {"autogen_nb": measured(Path(sys.executable), "ours", folder)}
    for name, (kind, packages) in PEERS.items():
        columns[name] = measured(environment((folder / kind).absolute(), packages), kind, folder)
    environment((folder / "kishu").absolute(), KISHU)
    rows = [[what, *(_cell(found.get(what, "")) for found in columns.values())] for what in columns["autogen_nb"]]
    print(table(["", *columns], rows))


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
