"""AutoGen 0.2's functions that find the text and the code of a message.

Agents use `code_blocks` instead, because AutoGen's pattern also finds code that should not run.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from autogen_nb.core.text.code_blocks import parse_python
from autogen_nb.messages import CodeBlock

UserMessageTextContentPart: TypeAlias = dict[str, str]
UserMessageImageContentPart: TypeAlias = dict[str, Any]
MessageContentType: TypeAlias = str | list[dict[str, Any] | str] | None

UNKNOWN = "unknown"  # the language of text without code

CODE_BLOCK_PATTERN = r"```[ \t]*(\w+)?[ \t]*\r?\n(.*?)\r?\n[ \t]*```"


def content_str(content: str | Sequence[Mapping[str, Any]] | None) -> str:
    """The text of a message's content, with ``<image>`` for each image."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list) or not all(isinstance(part, Mapping) for part in content):
        raise TypeError(f"content is {content!r}; it must be a string, a list of dicts, or None")
    if any(part.get("type") not in ("text", "image_url") for part in content):
        raise ValueError(f"content is {content!r}; the type of each part must be 'text' or 'image_url'")
    return "".join(part["text"] if part["type"] == "text" else "<image>" for part in content)


def infer_lang(code: str) -> str:
    """Returns "sh" for code that begins with pip or python, "python" for other valid Python, otherwise `UNKNOWN`."""
    if code.startswith(("python ", "pip", "python3 ")):
        return "sh"
    return UNKNOWN if parse_python(code) is None else "python"


def extract_code(
    text: str | list[Any], pattern: str = CODE_BLOCK_PATTERN, detect_single_line_code: bool = False
) -> list[tuple[str, str]]:
    """The (language, code) pairs of a text; without code, one `UNKNOWN` pair, or [] if single-line code counts, too."""
    text = content_str(text)
    if not detect_single_line_code:
        return re.findall(pattern, text, re.DOTALL) or [(UNKNOWN, text)]
    matches = re.findall(f"{CODE_BLOCK_PATTERN}|`([^`]+)`", text)
    return [(language, (block or inline).strip()) for language, block, inline in matches if block or inline]


class CodeExtractor(Protocol):
    def extract_code_blocks(self, message: Any) -> list[CodeBlock]: ...


class MarkdownCodeExtractor(CodeExtractor):
    """Finds fenced blocks in Markdown, and infers a missing language."""

    def extract_code_blocks(self, message: Any) -> list[CodeBlock]:
        blocks = re.findall(CODE_BLOCK_PATTERN, content_str(message), re.DOTALL)
        inferred = [(language or infer_lang(code), code) for language, code in blocks]
        return [CodeBlock("" if language == UNKNOWN else language, code) for language, code in inferred]
