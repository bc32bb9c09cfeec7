"""Writes a chat as a notebook, a script, Markdown or HTML, from the messages and the code that ran in its log.

The chat's code runs without this package. The outputs of another run can be compared with those of the log.
"""

import ast
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from autogen_nb.core.chats.termination_checks import END_WORD, without
from autogen_nb.core.text import code_blocks
from autogen_nb.core.text.visible_text import without_controls
from autogen_nb.errors import ConfigError
from autogen_nb.events import CodeAsked, CodeRan, Recorded, Said
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import BACK, Bundle, Display, Failure, Output, Result, Stream

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


def parts_of_run(task: str, log: Sequence[Recorded]) -> list[Words | Code]:
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


FORMATS = (".ipynb", ".py", ".md", ".html")

_VERSIONS = """\
from importlib.metadata import packages_distributions as _names, version as _version
from sys import version as _python
print("Python " + _python.split()[0], *(f"{{name}} {{_version(name)}}" for name in sorted(
    {{_names()[module][0] for module in {modules!r} if module in _names()}})), sep=", ")"""


def versions_code(parts: Iterable[Code]) -> str:
    """Code that prints the versions of Python and of the packages that the parts import."""
    modules = set[str]()
    for part in parts:
        tree = code_blocks.parse_python(code_of(part.asked.blocks))
        for node in () if tree is None else ast.walk(tree):
            if isinstance(node, ast.Import):
                modules |= {name.name.partition(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                modules.add(node.module.partition(".")[0])
    return _VERSIONS.format(modules=sorted(modules))


_NO_NETWORK = """
{%- extends 'lab/index.html.j2' -%}
{%- block html_head_js_requirejs -%}{%- endblock -%}
{%- block html_head_js_mathjax -%}{%- endblock -%}
{%- block html_head_js_mermaidjs -%}{%- endblock -%}
"""
"""nbconvert's template without the three scripts that it loads from the web."""


def html_page(notebook: Any, title: str) -> str:
    """The notebook as a page that loads nothing from the web; raises ImportError if nbconvert is missing."""
    from nbconvert import HTMLExporter

    exporter = HTMLExporter(raw_template=_NO_NETWORK, embed_images=True)
    return str(exporter.from_notebook_node(notebook, {"metadata": {"name": title}})[0])


def pictures_folder(path: Path) -> str:
    """The name of the folder for the pictures of a Markdown file, beside the file."""
    return f"{path.stem}_files"


class Document:
    """The cells of a document; `shown` gives the form of a MIME bundle in it, which is empty if it shows nothing."""

    def __init__(self, shown: Callable[[Bundle], dict[str, Any]] = dict) -> None:
        from nbformat import v4

        self._v4 = v4
        self._shown = shown
        self._cells: list[Any] = []

    def add_words(self, text: str, *, first: bool = False) -> None:
        self._cells.insert(0 if first else len(self._cells), self._v4.new_markdown_cell(text))

    def add_code(self, code: str, outputs: Iterable[Output] = ()) -> None:
        shown = [output for each in outputs if (output := self._output(each))]
        self._cells.append(self._v4.new_code_cell(code, outputs=shown))

    def files(self, path: Path) -> dict[str, bytes]:
        """Maps file names in the path's folder to contents: the document in the format of the suffix, and its pictures.

        Raises ConfigError if the format needs nbconvert, and nbconvert is missing.
        """
        kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
        # Markdown names the language of each block.
        metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
        notebook = self._v4.new_notebook(cells=self._cells, metadata=metadata)
        if path.suffix == ".ipynb":
            from nbformat import writes

            return {path.name: writes(notebook).encode("utf-8", "replace")}
        if path.suffix == ".py":
            return {path.name: self._script().encode("utf-8", "replace")}
        try:
            if path.suffix == ".html":
                return {path.name: html_page(notebook, path.stem).encode("utf-8", "replace")}
            from nbconvert import MarkdownExporter
        except ImportError as error:
            raise ConfigError(f"{path.suffix} files need nbconvert: pip install nbconvert") from error
        text, resources = MarkdownExporter().from_notebook_node(notebook, {"output_files_dir": pictures_folder(path)})
        return {path.name: text.encode("utf-8", "replace"), **resources["outputs"]}

    def _script(self) -> str:
        parts, code = list[str](), ""
        for cell in self._cells:
            if cell.cell_type == "code":
                parts.append(f"# %%\n{_as_python(cell.source)}")
                code += parts[-1]
            else:
                lines = (f"# {line}".rstrip() for line in cell.source.splitlines())
                parts.append("\n".join(["# %% [markdown]", *lines]))
        if "display(" in code:
            parts.insert(0, "# %%\nfrom IPython.display import display")
        if "get_ipython()" in code:
            parts.insert(0, "# Run this file with ipython, because it uses IPython's functions.")
        return "\n\n".join(parts) + "\n"

    def _output(self, output: Output) -> Any:
        match output:
            case Stream(name=name, text=text):
                return self._v4.new_output("stream", name=name, text=text)
            case Display(metadata=metadata, update=False) if data := self._shown(output.data):
                return self._v4.new_output("display_data", data, metadata=dict(metadata))
            case Result(metadata=metadata) if data := self._shown(output.data):
                return self._v4.new_output("execute_result", data, metadata=dict(metadata))
            case Failure(ename=ename, evalue=evalue, traceback=traceback):
                return self._v4.new_output("error", ename=ename, evalue=evalue, traceback=list(traceback))
        return None


def _as_python(code: str) -> str:
    """The code with calls in place of IPython's syntax, which IPython does not accept in a `.py` file."""
    if code_blocks.parse_python(code) is not None:
        return code
    try:
        from nbconvert.filters import ipython2python
    except ImportError as error:
        raise ConfigError("scripts with IPython's syntax need nbconvert: pip install nbconvert") from error
    return str(ipython2python(code)).rstrip("\n")


_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")
_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?|\d\d?:\d\d:\d\d(\.\d+)?|\d+(\.\d+)?(e-?\d+)? ?(ns|µs|us|ms|s|min)\b"
)
_PLAIN = (
    "application/vnd.plotly.v1+json",
    "application/vnd.vegalite.v5+json",
    "application/vnd.vegalite.v6+json",
    "application/json",
    "image/png",
    "image/jpeg",
    "image/svg+xml",
    "text/plain",
)
"""Media types, the most exact first; of each output, only its first type in this list is compared. Of HTML, only the
text is compared, because its markup may contain random ids."""
_MARKUP = re.compile(r"(?s)<(script|style)\b.*?</\1\s*>|<[^>]*>")


def difference(expected: Iterable[Output], actual: Iterable[Output]) -> Literal["", "time", "outputs"]:
    """Returns "" if the outputs are equal except for memory addresses, "time" if only times differ, else "outputs"."""
    before, after = _comparable(expected), _comparable(actual)
    if before == after:
        return ""
    return "time" if [_TIME.sub("", text) for text in before] == [_TIME.sub("", text) for text in after] else "outputs"


def _comparable(outputs: Iterable[Output]) -> list[str]:
    texts: list[str] = []
    stream = ""
    for output in outputs:
        match output:
            case Stream(name=name, text=text):
                if name != stream:
                    texts.append("")
                texts[-1] += text
                stream = name
                continue
            case Display(data=data) | Result(data=data):
                texts.append(_bundle(data))
            case Failure(ename=ename, evalue=evalue):
                texts.append(f"{ename}: {evalue}")
        stream = ""
    return [_ADDRESS.sub("0x", text) for text in texts]


def _bundle(data: Mapping[str, Any]) -> str:
    mime = next((mime for mime in _PLAIN if mime in data), "")
    if mime.endswith("json"):
        return json.dumps(data[mime], sort_keys=True)
    return str(data[mime]) if mime else _MARKUP.sub(" ", str(data.get("text/html", sorted(data))))
