"""Finds the runnable code blocks in Markdown text.

1. Fences follow CommonMark; the first word of the info string is the language. Indented blocks are prose. As models
   mean it, fences also open at any indentation, within HTML, and after text if the next fence closes them.
2. An unclosed fence is no code block, because the reply may be incomplete. A fence in a string or here-document of the
   code, or in a nested block of Markdown, closes the block only if no other fence does.
3. A fence without a language is shell code if it begins with pip or python, or looks like one command and uses no known
   Python name. Other code that parses as Python is Python; the rest is no code block.
4. A fence with a language in `SHOWN`, such as ``json`` or ``mermaid``, is no code block.

`content_str` and what is below it are AutoGen 0.2's. Agents use `read` instead, because AutoGen's pattern also finds
code that should not run.
"""

import ast
import re
import warnings
from collections import deque
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, TypeAlias

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
_OPENING = re.compile(
    r"(?P<before>(?:(?!>).*[^`\s][ \t]*(?=`{3,}[\w+#-]+[ \t]*$))?)(?P<marker>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)"
)
_LINE_OF_CLOSING = re.compile(r"\n[\t >]*```(?!\w)")
# A tag, punctuation or a sentence may follow a closing fence, but no info string.
_AFTER = re.compile(r"[ \t]*(?P<text>$|[^\w\s{`~.].*|\.(?!\w).*|[A-Z][\w']*[ \t]+[^={]*$)")
_CELL_MAGIC = re.compile(r"%%(?:.*\.)?(\w+)")
_NESTED = re.compile(r"^\s*(`{3,}|~{3,})[ \t]*[\w{.].*")
_STRINGS = {
    "python": re.compile(
        r"""#.*|'{3}(?:\\.|[^\\])*?'{3}|"{3}(?:\\.|[^\\])*?"{3}|('{3}|"{3}).*"""
        r"""|'(?:\\.|[^'\\])*'?|"(?:\\.|[^"\\])*"?"""
    ),
    "sh": re.compile(
        r"""(?<!\S)#.*|\\.|'[^']*'|"(?:\\.|[^"\\])*"|(['"]).*|<<<|<<-?[ \t]*\\?(['"]?)([A-Za-z_][\w.-]*)\2"""
    ),
    "shown": _NESTED,
    "page": _NESTED,
    "": re.compile(r"(?!)"),
}
"""Comments, strings and the like in a line; the last group, if any, is the end of what continues in the next line."""

_ENDS = {quote: re.compile(rf"(?:\\.|[^\\])*?{quote}") for quote in ('"', '"""', "'''")} | {"'": re.compile("[^']*'")}
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
        if token.type not in ("fence", "inline"):
            continue
        begin, end = token.map
        prose += lines[at:begin]
        at = end
        if token.type == "inline":
            prose.append(token.content)
            continue
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

    parser = MarkdownIt("zero").enable(["blockquote", "list", "fence"]).disable("inline")
    # A paragraph of CommonMark takes in fences with an indentation of four or more spaces.
    parser.block.ruler.at("paragraph", _skip_line)
    return with_fences(parser)


def with_fences(parser: Any) -> Any:
    """Makes markdown-it find the same fences as `read`."""
    parser.block.ruler.at("fence", _fence, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    return parser


def _skip_line(state: Any, start: int, _end: int, _silent: object) -> bool:
    state.line = start + 1
    return True


def _fence(state: Any, start: int, end: int, silent: object) -> bool:
    opening = _OPENING.fullmatch(state.src, state.bMarks[start] + state.tShift[start], state.eMarks[start])
    if opening is None or (opening["before"] and not _is_closed_next(state.src, state.eMarks[start])):
        return False
    if silent:
        return True
    closing, after = _find_closing(state, start, end, opening)
    _push_text(state, opening["before"], start)
    token = state.push("fence", "code", 0)
    token.info, token.markup = opening["info"], opening["marker"]
    token.content = state.getLines(start + 1, closing, state.sCount[start], True)
    state.line = closing if after is None else closing + 1
    token.map = [start, state.line]
    _push_text(state, after, state.line)
    return True


def _push_text(state: Any, text: str | None, line: int) -> None:
    if text:
        token = state.push("inline", "", 0)
        token.content, token.map, token.children = text, [line, line], []


def _is_closed_next(text: str, at: int) -> bool:
    closing = text.find("```", at)
    return closing > 0 and bool(_LINE_OF_CLOSING.match(text, text.rfind("\n", 0, closing)))


def _find_closing(state: Any, start: int, end: int, opening: re.Match[str]) -> tuple[int, str | None]:
    """The line that closes a fence, and the text after it; (the line after the block, None) if nothing closes it."""
    fence = re.compile(rf" {{0,3}}{opening['marker']}{opening['marker'][0]}*")
    first = state.getLines(start + 1, start + 2, state.sCount[start], False) if start + 1 < end else ""
    kind, ends = _kind(_tag(opening["info"]), first), deque[str]()
    within: tuple[int, str] | None = None
    found: tuple[int, str] | None = None
    for line in range(start + 1, end):
        if state.sCount[line] < state.blkIndent and not state.isEmpty(line):
            end = line
            break
        text = state.getLines(line, line + 1, state.sCount[start], False)
        closing = fence.match(text)
        if closing and (after := _AFTER.match(text, closing.end())):
            if ends and "incomplete" not in state.env:
                within = within or (line, after["text"])
            else:
                found = line, after["text"]
                if kind != "page":
                    break
        elif found and _NESTED.match(text):
            break
        _advance(ends, text, _STRINGS[kind])
    if within and not found:
        # One search per message may reach the end in vain, so that the time stays linear.
        state.env["incomplete"] = True
    return found or within or (end, None)


def _kind(tag: str, line: str) -> str:
    """The kind of a block's code, from its tag and its first line; a "page" is a cell that writes Markdown."""
    magic = _CELL_MAGIC.match(line) if tag in {"", *PYTHON} else None
    tag = magic[1].lower() if magic else tag
    if tag in SHOWN:
        return "page" if magic and tag in {"markdown", "md"} else "shown"
    return "sh" if tag in BASH | SHELL else "python" if magic or tag in {"", *PYTHON} else ""


def _advance(ends: deque[str], line: str, tokens: re.Pattern[str]) -> None:
    """Follows a line of code; `ends` are the ends of its open strings, here-documents or nested blocks."""
    at = 0
    if ends:
        quote = _ENDS.get(ends[0])
        end = quote.match(line) if quote else None
        if end is None and line.strip() != ends[0]:
            return
        ends.popleft()
        at = end.end() if end else len(line)
    ends += [token[token.lastindex] for token in tokens.finditer(line, at) if token.lastindex]


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
