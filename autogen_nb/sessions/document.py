"""Writes a chat as a notebook, a script, Markdown or HTML; the chat's code runs without this package."""

import ast
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from autogen_nb.core.text import code_blocks
from autogen_nb.errors import ConfigError
from autogen_nb.outputs import Bundle, Display, Failure, Output, Result, Stream
from autogen_nb.sessions.script import Code, Words, code_of

FORMATS = (".ipynb", ".py", ".md", ".html")

_VERSIONS = """\
from importlib.metadata import packages_distributions as _names, version as _version
from sys import version as _python
print("Python " + _python.split()[0], *(f"{{name}} {{_version(name)}}" for name in sorted(
    {{_names()[module][0] for module in {modules!r} if module in _names()}})), sep=", ")"""


def versions_code(parts: Iterable[Words | Code]) -> str:
    """Code that prints the versions of Python and of the packages that the parts import."""
    modules = set[str]()
    for part in parts:
        tree = code_blocks.parse_python(code_of(part.asked.blocks)) if isinstance(part, Code) else None
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
        cells = [
            (True, _as_python(cell.source)) if cell.cell_type == "code" else (False, cell.source)
            for cell in self._cells
        ]
        code = "\n".join(source for is_code, source in cells if is_code)
        parts = ["# %%\nfrom IPython.display import display"] if "display(" in code else []
        if "get_ipython()" in code:
            parts.insert(0, "# Run this file with ipython, because it uses IPython's functions.")
        for is_code, source in cells:
            if is_code:
                parts.append(f"# %%\n{source}")
            else:
                lines = (f"# {line}".rstrip() for line in source.splitlines())
                parts.append("\n".join(["# %% [markdown]", *lines]))
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
