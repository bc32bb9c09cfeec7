"""A person at a terminal: a pseudo-terminal in which a program asks, and what is typed into it."""

import re
import sys
from pathlib import Path
from typing import Literal

import pexpect  # type: ignore[import-untyped]  # pexpect has no annotations

CHOICES = r"\[r\]un, \[e\]dit, \[s\]kip, \[a\]ll from here,( al\[w\]ays allow,)? s\[t\]op\? "


class Terminal:
    def __init__(self, program: Literal["IPython", "jupyter_console"], folder: Path, environ: dict[str, str]) -> None:
        more = ["--no-banner", "--colors=NoColor"] if program == "IPython" else []
        arguments = ["-m", program, "--simple-prompt", *more]
        # Only IPython waits for more lines of a cell magic.
        self._ending = [""] * 2 if program == "IPython" else []
        environ |= {"TERM": "dumb", "COLUMNS": "200"}
        self._child = pexpect.spawn(
            sys.executable, arguments, cwd=str(folder), env=environ, encoding="utf-8", timeout=60, dimensions=(60, 200)
        )
        self._prompts = 1
        self.prompt()

    def answers(self) -> bool:
        self.cell("6 * 7")
        found = self._child.expect([rf"42\s+In \[{self._prompts}\]: ", pexpect.TIMEOUT, pexpect.EOF], timeout=15)
        return bool(found == 0)

    def prompt(self) -> str:
        self._child.expect(rf"In \[{self._prompts}\]: ")
        return self._seen()

    def until(self, pattern: str) -> str:
        self._child.expect(pattern)
        return self._seen()

    def type(self, line: str) -> None:
        self._child.sendline(line)

    def cell(self, *lines: str) -> None:
        self._prompts += 1
        for line in lines:
            self.type(line)
        if lines[0].startswith("%%"):
            for line in self._ending:
                self.type(line)

    def interrupt(self) -> None:
        self._child.sendintr()

    def close(self) -> None:
        self._child.close(force=True)

    def _seen(self) -> str:
        text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", str(self._child.before))
        return text.replace("\r\n", "\n").strip()


def editor(folder: Path) -> str:
    program = folder / "editor"
    program.write_text(
        f"#!{sys.executable}\n"
        "import pathlib, sys\n"
        "file = pathlib.Path(sys.argv[1])\n"
        "assert sys.stdin.isatty() and sys.stdout.isatty()\n"
        "file.write_text(file.read_text().replace(\"'abc'\", \"'abc, edited'\"))\n"
    )
    program.chmod(0o700)
    return str(program)
