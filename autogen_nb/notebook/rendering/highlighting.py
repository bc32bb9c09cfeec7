"""Highlights code as HTML that shows every character of the source."""

import re
from collections.abc import Iterable
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any, ClassVar

from autogen_nb.core.text.visible_text import visible
from autogen_nb.notebook.rendering import styles
from autogen_nb.notebook.rendering.escaping import escape_plain

_LONGEST = 20_000
"""The maximum length of highlighted code; lexing longer code would cause a delay."""

# Models can only choose these languages, because some of Pygments' lexers never end on crafted text.
_LEXERS = frozenset(
    "sh bash shell console powershell json yaml toml ini sql r julia javascript js typescript ts html xml css "
    "c cpp c++ java go rust diff docker dockerfile make pycon tex python".split()
)
_PYTHON = frozenset({"py", "python3", "ipython", "ipython3", "jupyter"})
# The time of Pygments' Python lexer grows with the square of the length of white space.
_GAP = re.compile(r"\s{1000}")
_STYLES: dict[str, str] = {
    "Token.Keyword.Type": "builtin",
    "Token.Keyword": "keyword",
    "Token.Operator.Word": "keyword",
    "Token.Operator": "operator",
    "Token.Literal.String": "string",
    "Token.Literal.Number": "number",
    "Token.Comment.Preproc": "meta",
    "Token.Comment": "comment",
    "Token.Name.Function": "def",
    "Token.Name.Class": "def",
    "Token.Name.Builtin": "builtin",
    "Token.Name.Exception": "builtin",
    "Token.Name.Decorator": "meta",
    "Token.Name.Tag": "keyword",
    "Token.Name.Attribute": "property",
}
_MARKED = re.compile(r"(\[U\+[0-9A-F]{4,6}\])")


def code_html(source: str, language: str) -> str:
    """Returns code as HTML; deceptive characters appear as codes such as ``[U+202E]``."""
    shown = visible(source.replace("\r\n", "\n"))
    inner = ""
    for name, text in _pieces(shown, language):
        html = escape_plain(text)
        if shown != source:
            html = _MARKED.sub(rf'<span style="{styles.DISGUISED}">\1</span>', html)
        inner += f'<span style="{styles.CODE_STYLES[name]}">{html}</span>' if name else html
    return f'<pre style="{styles.PRE}"><code style="{styles.PRE_CODE}">{inner}</code></pre>'


def _pieces(source: str, language: str) -> Iterable[tuple[str, str]]:
    """Splits the source into pairs of a style's name ("" for none) and text."""
    language = "python" if language.lower() in _PYTHON else language.lower()
    if language not in _LEXERS or len(source) > _LONGEST or _GAP.search(source):
        return [("", source)]
    pieces = [(_style(kind), text) for _, kind, text in _lexer(language).get_tokens_unprocessed(source)]
    runs = [(name, "".join([text for _, text in run])) for name, run in groupby(pieces, key=itemgetter(0))]
    return runs if "".join([text for _, text in runs]) == source else [("", source)]


@cache
def _style(kind: Any) -> str:
    names = (_STYLES.get(str(ancestor)) for ancestor in reversed(kind.split()))
    return next((name for name in names if name), "")


@cache
def _lexer(language: str) -> Any:
    from pygments.lexer import inherit
    from pygments.lexers import get_lexer_by_name

    # A lookup by name in `pygments.lexers` may fail while another thread imports the module.
    from pygments.lexers.python import PythonLexer
    from pygments.token import Comment

    # Pygments has no types.
    class NotebookLexer(PythonLexer):  # type: ignore[misc]
        tokens: ClassVar = {"root": [(r"^[ \t]*[%!]{1,2}[A-Za-z].*", Comment.Preproc), inherit]}

    return NotebookLexer() if language == "python" else get_lexer_by_name(language)
