"""A person at a terminal: a pseudo-terminal in which IPython asks, and what is typed into it."""

import re
import sys
import time
from pathlib import Path

import pexpect  # type: ignore[import-untyped]  # pexpect has no annotations

CHOICES = r"\[r\]un, \[e\]dit, \[s\]kip, \[a\]ll from here,( al\[w\]ays allow,)? s\[t\]op\? "


class Terminal:
    def __init__(self, folder: Path, environ: dict[str, str]) -> None:
        arguments = ["-m", "IPython", "--simple-prompt", "--no-banner", "--colors=NoColor"]
        environ |= {"TERM": "dumb", "COLUMNS": "200"}
        self._child = pexpect.spawn(
            sys.executable, arguments, cwd=str(folder), env=environ, encoding="utf-8", timeout=60, dimensions=(60, 200)
        )
        self._prompts = 1
        self.prompt()

    def prompt(self) -> str:
        return self.until(rf"In \[{self._prompts}\]: ")

    def until(self, pattern: str) -> str:
        self._child.expect(pattern)
        text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", str(self._child.before))
        return text.replace("\r\n", "\n").strip()

    def question(self, pattern: str) -> str:
        """Waits until a question is also read, because `input()` can lose a Ctrl-C that comes before that."""
        text = self.until(pattern)
        system_call, deadline = Path(f"/proc/{self._child.pid}/syscall"), time.monotonic() + 60
        # The first argument of `read` is the standard input.
        while "0x0" not in system_call.read_text().split()[1:2]:
            assert time.monotonic() < deadline, "the question is not read"
        return text

    def type(self, line: str) -> None:
        self._child.sendline(line)

    def run(self, line: str) -> str:
        self.start(line)
        return self.prompt()

    def start(self, line: str) -> None:
        self._prompts += 1
        # IPython waits for more lines of a cell magic.
        for each in [line, "", ""] if line.startswith("%%") else [line]:
            self.type(each)

    def interrupt(self) -> None:
        self._child.sendintr()

    def close(self) -> None:
        self._child.close(force=True)
