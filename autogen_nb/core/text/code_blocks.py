"""Finds the runnable code blocks in Markdown text.

1. Fences follow CommonMark; the first word of the info string is the language. Indented blocks are prose.
2. An unclosed fence is no code block, because the reply may be incomplete.
3. A fence without a language is shell code if it begins with pip or python, or looks like one command and uses no known
   Python name. Other code that parses as Python is Python; the rest is no code block.
4. A fence with a language in `SHOWN`, such as ``json`` or ``mermaid``, is no code block.
"""

import ast
import re
import warnings
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from typing import Any

from autogen_nb.messages import CodeBlock

PYTHON = frozenset({"python", "py", "python3", "ipython", "ipython3"})
SHELL = frozenset({"sh", "shell", "dash", "shellscript"})
BASH = frozenset({"bash", "zsh", "ksh"})
SHOWN = frozenset(
    "text txt plain plaintext none markdown md mermaid json jsonl yaml yml toml ini cfg xml html css csv "
    "tsv output out stdout stderr console pycon traceback error diff patch latex tex bibtex log dot "
    "graphviz http".split()
)

COMMANDS = frozenset(
    "awk basename cat cd chmod chown cp curl cut date df diff dirname du echo env export file find free "
    "git grep gunzip gzip head hostname id jq kill ls make mkdir mv nproc pip pip3 ps pwd rm rmdir rsync "
    "sed sort ssh stat sum tail tar tee touch tr uname uniq unzip wc wget which whoami xargs zip".split()
)
"""Programs that begin a shell block without a language. The list is fixed, so that a replay finds the same blocks."""

_LINE_END = re.compile(r"\r\n?|\n")
_LANGUAGE = re.compile(r"[\w.+#-]+")
_TAG_END = re.compile(r"[\s{},:]")
_ARGUMENT = re.compile(r"-{1,2}[A-Za-z]|[~.]{0,2}/|\.{1,2}$|[\w.-]+/|[\w-]+\.[A-Za-z]\w*$")


@dataclass(frozen=True, slots=True)
class CodeReading:
    blocks: tuple[CodeBlock, ...] = ()
    unclosed: bool = False
    prose: str = ""


def read(text: str, known: AbstractSet[str] = frozenset()) -> CodeReading:
    if "```" not in text and "~~~" not in text:
        return CodeReading(prose=text)
    lines = _LINE_END.split(text)
    blocks: list[CodeBlock] = []
    prose: list[str] = []
    unclosed = False
    names = set(known)
    at = 0
    # The added newline ends the last line, so that the content of a fence has a newline for each line.
    for token in _parser().parse(text + "\n"):
        if token.type != "fence":
            continue
        begin, end = token.map
        prose += lines[at:begin]
        at = end
        tag = _tag(token.info)
        closed = token.content.count("\n") == end - begin - 2
        unclosed |= not closed and tag not in SHOWN
        code = _dedent(token.content.removesuffix("\n"))
        language = _language(tag, code, names) if closed else ""
        if language and code.strip():
            blocks.append(CodeBlock(language, code))
            names |= defined_names(code)
    prose += lines[at:]
    return CodeReading(tuple(blocks), unclosed, "\n".join(prose))


def defined_names(code: str) -> set[str]:
    tree = parse_python(code)
    if tree is None:
        return set()
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.alias(name=name, asname=alias):
                names.add(alias or name.partition(".")[0])
            case _:
                pass
    return names


def parse_python(code: str) -> ast.Module | None:
    with warnings.catch_warnings():
        # The parser warns about strings such as "\\d"; the person sees the warning when the code runs.
        warnings.simplefilter("ignore")
        try:
            return ast.parse(code)
        # NUL and surrogates raise ValueError; deep nesting raises RecursionError or MemoryError.
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


@cache
def _parser() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").disable("inline")


def _dedent(code: str) -> str:
    lines = code.split("\n")
    margins = [line[: len(line) - len(line.lstrip(" \t"))] for line in lines if line.strip(" \t")]
    margin = min(margins, key=len, default="")
    if not margin or not all(each.startswith(margin) for each in margins):
        return code
    return "\n".join(line.removeprefix(margin) for line in lines)


def _tag(info: str) -> str:
    """The language in an info string such as ``python``, ``{.python}`` or ``python:main.py``."""
    return _TAG_END.split(info.lstrip(" \t{."))[0].lower()


def _language(tag: str, code: str, known: AbstractSet[str]) -> str:
    """The language; "" if the block is not code."""
    if tag in PYTHON:
        return "python"
    if tag in BASH:
        return "bash"
    if tag in SHELL:
        return "sh"
    if tag:
        return tag if tag not in SHOWN and _LANGUAGE.fullmatch(tag) else ""
    return _guess_language(code, known)


def _guess_language(code: str, known: AbstractSet[str]) -> str:
    first = code.lstrip()
    if first.startswith(("pip ", "pip3 ", "python ", "python3 ")):
        return "sh"
    tree = parse_python(code)
    if tree is None:
        return "sh" if _is_command_line(first) else ""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return "sh" if _is_command_line(first) and not names & known else "python"


def _is_command_line(code: str) -> bool:
    words = code.split()
    if "\n" in code.strip() or len(words) < 2 or words[0] not in COMMANDS:  # noqa: PLR2004  # a command and an argument
        return False
    return bool(_ARGUMENT.match(words[1]))
