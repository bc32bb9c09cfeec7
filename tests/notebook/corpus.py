"""Markup that tries to act, one vector a line: what a hostile model or a hostile kernel would send."""

import re
from pathlib import Path

_LINES = Path(__file__).with_name("hostile.txt").read_text(encoding="utf-8").splitlines()

HOSTILE = [line.replace("\\x01", "\x01") for line in _LINES]
DANGEROUS_TEX = re.compile(r"\\(href|url|unicode|require|style|class|cssId|def|newcommand|ref|eqref|mmlToken|\\\s*\[)")
