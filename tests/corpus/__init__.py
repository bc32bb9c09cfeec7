"""Labelled snippets of code: what a policy that asks about risky code must let pass, and what it must not.

They lie in two files as plain text, each below a line ``=== name | language | kinds``. Every third of a file, by its
place, is held out: no table of the reading was made with it in view, until its first figures had been written down.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from autogen_nb.effects import KINDS, EffectKind

OWN = "autogen_files/main"
"""The chat's own folder, as seen from the notebook's."""

PRELUDE = """
import numpy as np
import pandas as pd
import matplotlib.pyplot as plt
df = pd.read_csv("sales.csv")
"""
"""What an earlier block has run."""

FILES = {
    "sales.csv": "date,region,product,units,price,revenue,customer_id\n"
    + "".join(
        f"2024-{1 + n % 12:02}-01,{('North', 'South')[n % 2]},{'abc'[n % 3]},{n},{1.5 + n % 4},{n * 1.5},{100 + n}\n"
        for n in range(1, 41)
    ),
    "data/a.csv": "x,y\n1,2\n3,4\n",
    "data/b.csv": "x,y\n5,6\n",
    "data/values.txt": "1.0\n2.0\n",
    "data/lines.jsonl": '{"a": 1}\n{"a": 2}\n',
    "data/old.csv": "x\n1\n",
    "data/scratch/x.txt": "x\n",
    "notes.txt": "some notes of mine\n",
    "config.json": '{"a": 1}\n',
    "credentials.json": '{"key": "none"}\n',
    ".env": "KEY=none\n",
    "other.py": "print(1)\n",
    "script.py": "print(1)\n",
    f"{OWN}/x.csv": "a\n1\n",
}
"""The files that the snippets read, below the notebook's folder; those in binary forms are left out."""


@dataclass(frozen=True, slots=True)
class Snippet:
    name: str
    language: str
    code: str
    risky: bool
    kinds: tuple[EffectKind, ...]
    held_out: bool


def sections(file: Path) -> list[tuple[str, str]]:
    """The head of each line ``=== head``, with the text below it."""
    heads_and_texts = re.split(r"^=== (.+)\n", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return [(head, text.rstrip("\n")) for head, text in zip(heads_and_texts[::2], heads_and_texts[1::2], strict=True)]


def _read(name: str, *, risky: bool) -> tuple[Snippet, ...]:
    found = sections(Path(__file__).with_name(name))
    return tuple(_snippet(head, code, number, risky=risky) for number, (head, code) in enumerate(found))


def _snippet(head: str, code: str, number: int, *, risky: bool) -> Snippet:
    name, language, kinds = (each.strip() for each in head.split("|"))
    assert set(kinds.split()) <= set(KINDS), head
    effects = tuple(cast("EffectKind", kind) for kind in kinds.split())
    return Snippet(name, language, code, risky, effects, number % 3 == 2)


SNIPPETS: tuple[Snippet, ...] = (*_read("harmless.txt", risky=False), *_read("risky.txt", risky=True))
"""All snippets, the harmless ones first."""
