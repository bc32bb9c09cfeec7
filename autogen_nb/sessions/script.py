"""Extracts the messages and the code that ran from a chat's log, for example for an exported document."""

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from autogen_nb.core.chats.termination_checks import END_WORD, without
from autogen_nb.core.text import code_blocks
from autogen_nb.core.text.visible_text import without_controls
from autogen_nb.events import CodeAsked, CodeRan, Recorded, Said
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import BACK, Failure

_LINE = re.compile(r"Cell In\[\d+\], line (\d+)")
_NAME = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class Words:
    """A task or a message; `author` is "" for a task."""

    author: str
    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """Blocks that ran, and their result; `ran` is None if a block failed, so that no failure is exported.

    `is_part` is True for the statements of a failed block that ran before the error.
    """

    asked: CodeAsked
    ran: CodeRan | None
    is_part: bool = False


def parts(task: str, log: Sequence[Recorded]) -> list[Words | Code]:
    """The task, the blocks of each run (below their message if no block failed), and the last message.

    The part of a failed block that ran is included only if later blocks use a name that it sets or changes.
    """
    found: list[Words | Code] = [Words("", task)]
    first = next((event for event in log if isinstance(event, Said)), None)
    words: Words | None = None
    asked: CodeAsked | None = None
    for event in log:
        match event:
            case Said(sender=author, message=message) if event is not first:
                prose = without(END_WORD, code_blocks.read(message.text).prose)
                words = Words(author, prose) if prose else None
            case CodeAsked():
                asked = event
            case CodeRan() if asked is not None:
                ok = not event.exit_code
                blocks = blocks_that_ran(asked, event)
                found += [words] if words is not None and blocks and ok else []
                whole = event.ran - (not ok)
                for group, is_part in ((blocks[:whole], False), (blocks[whole:], True)):
                    if group:
                        found.append(Code(replace(asked, blocks=group), event if ok else None, is_part))
                words = None
            case _:
                pass
    found += [words] if words is not None else []
    return [part for number, part in enumerate(found) if not _is_unused(part, found[number + 1 :])]


def blocks_that_ran(asked: CodeAsked, ran: CodeRan) -> tuple[CodeBlock, ...]:
    """The blocks that ran without an error, and the statements of a failed block that ran before the error."""
    blocks = asked.blocks[: ran.ran]
    if not ran.exit_code or not blocks:
        return blocks
    *done, failed = blocks
    part = "" if BACK in ran.note else _statements_that_ran(failed, ran.outputs)
    return (*done, *([replace(failed, code=part)] if part else []))


def code_of(blocks: Iterable[CodeBlock]) -> str:
    """The blocks as the code of one cell."""
    return "\n\n".join(
        block.code.strip()
        if block.language == "python"
        else f"get_ipython().run_cell_magic({block.language!r}, '', {block.code!r})"
        for block in blocks
    )


def code_of_parts(found: Iterable[Words | Code]) -> str:
    return code_of(block for part in found if isinstance(part, Code) for block in part.asked.blocks)


def _statements_that_ran(block: CodeBlock, outputs: Iterable[object]) -> str:
    failure = next((output for output in outputs if isinstance(output, Failure)), None)
    tree = code_blocks.parse_python(block.code) if block.language == "python" else None
    line = failure and _LINE.search(without_controls("\n".join(failure.traceback)))
    if tree is None or not line:
        return ""
    ends = [statement.end_lineno or 0 for statement in tree.body if (statement.end_lineno or 0) < int(line[1])]
    return "\n".join(block.code.split("\n")[: max(ends, default=0)])


def _is_unused(part: Words | Code, later: Iterable[Words | Code]) -> bool:
    """True for the part of a failed block that ran, if later blocks use no name that it sets or changes."""
    if not isinstance(part, Code) or not part.is_part:
        return False
    used = {name for other in later if isinstance(other, Code) for name in _NAME.findall(code_of(other.asked.blocks))}
    return not used & {name for block in part.asked.blocks for name in _changed(block.code)}


def _changed(code: str) -> set[str]:
    """The names that the code binds, and the variables whose items, attributes or methods it uses."""
    tree = code_blocks.parse_python(code)
    nodes = () if tree is None else ast.walk(tree)
    owners = {
        node.value.id
        for node in nodes
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.value, ast.Name)
    }
    return code_blocks.defined_names(code) | owners
