"""Highlights code as HTML that contains every character of the source.

One regular expression tokenises Python, so that blocks appear without a delay. It takes a tenth of the time of
Pygments, which needs 2 to 3 ms for 1,000 characters, more than the rest of a message. The
expression only chooses colours, so it need not be exact.
"""

import builtins
import keyword
import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any

from autogen_nb.core.text.visible_text import visible
from autogen_nb.notebook.rendering import styles
from autogen_nb.notebook.rendering.escaping import escape_plain

LONGEST = 100_000
"""The maximum length of highlighted code; longer code is shown plain, because lexing would cause a delay."""

_LEXED_LONGEST = 20_000
# Some of Pygments' lexers never end on crafted text, so models can only choose these languages.
_LEXERS = frozenset(
    "sh bash shell console powershell json yaml toml ini sql r julia javascript js typescript ts html xml css "
    "c cpp c++ java go rust diff docker dockerfile make pycon tex".split()
)
_STRING = (
    r"\b[rRbBfFuU]{1,2}(?=[\"'])|"
    r"\"\"\"[^\\\"]*(?:(?:\\.|\"(?!\"\"))[^\\\"]*)*(?:\"\"\")?"
    r"|'''[^\\']*(?:(?:\\.|'(?!''))[^\\']*)*(?:''')?"
    r"|\"[^\"\\\n]*(?:\\.[^\"\\\n]*)*\"?"
    r"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'?"
)
_NUMBER = r"\b(?:0[xXoObB][\da-fA-F_]+|\d[\d_]*(?:\.[\d_]*)?(?:[eE][+-]?\d+)?[jJ]?)"
_KEYWORDS = "|".join((*keyword.kwlist, "match(?= [^=)]*:$)", "case(?= [^=)]*:$)"))
_BUILTINS = "|".join(name for name in dir(builtins) if not name.startswith("_"))

_PYTHON_TOKEN = re.compile(
    rf"(?P<comment>\#[^\n]*)|(?P<string>{_STRING})|(?P<meta>^[ \t]*(?:@[\w.]+|[%!]{{1,2}}[A-Za-z][^\n]*))"
    rf"|(?P<def>(?<=\bdef )\w+|(?<=\bclass )\w+)|(?P<keyword>\b(?:{_KEYWORDS})\b)"
    rf"|(?P<builtin>(?<![.\w])(?:{_BUILTINS})\b(?!\s*=[^=]))|(?P<number>{_NUMBER})"
    r"|(?P<operator>[-+*/%=<>!&|^~@]+)|\w+",
    re.MULTILINE | re.DOTALL,
)
_PYTHON = frozenset({"python", "py", "python3", "ipython", "ipython3", "jupyter"})
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
    "Token.Name.Decorator": "meta",
    "Token.Name.Tag": "keyword",
    "Token.Name.Attribute": "property",
}
_MARKED = re.compile(r"(\[U\+[0-9A-F]{4,6}\])")


def code_html(source: str, language: str) -> str:
    """Returns ``<pre><code>``; deceptive characters appear as codes such as ``[U+202E]``."""
    shown = visible(source.replace("\r\n", "\n"))
    marked = _mark if shown != source else str
    inner = "".join(_span(name, marked(escape_plain(text))) for name, text in _pieces(shown, language))
    return f'<pre style="{styles.PRE}"><code style="{styles.PRE_CODE}">{inner}</code></pre>'


def warm_up() -> None:
    code_html("import pandas as pd\n", "python")
    code_html("pip install pandas\n", "sh")


def _mark(escaped: str) -> str:
    return _MARKED.sub(rf'<span style="{styles.DISGUISED}">\1</span>', escaped)


def _span(name: str, inner: str) -> str:
    return f'<span style="{styles.CODE_STYLES[name]}">{inner}</span>' if name else inner


def _pieces(source: str, language: str) -> Iterable[tuple[str, str]]:
    """Yields pairs of a style's name ("" for none) and text, which together make up the source."""
    if len(source) > LONGEST:
        return [("", source)]
    if language.lower() in _PYTHON:
        return _python_pieces(source)
    return _lexed(source, language.lower()) or [("", source)]


def _python_pieces(source: str) -> Iterator[tuple[str, str]]:
    plain_from = 0
    for match in _PYTHON_TOKEN.finditer(source):
        if match.lastgroup and match[0]:
            yield "", source[plain_from : match.start()]
            yield match.lastgroup, match[0]
            plain_from = match.end()
    yield "", source[plain_from:]


def _lexed(source: str, language: str) -> list[tuple[str, str]]:
    if language not in _LEXERS or len(source) > _LEXED_LONGEST:
        return []
    match = [(_style(kind), text) for _, kind, text in _lexer(language).get_tokens_unprocessed(source)]
    runs = [(name, "".join(text for _, text in run)) for name, run in groupby(match, key=itemgetter(0))]
    return runs if "".join(text for _, text in runs) == source else []


@cache
def _style(kind: Any) -> str:
    names = (_STYLES.get(str(ancestor)) for ancestor in reversed(kind.split()))
    return next((name for name in names if name), "")


@cache
def _lexer(language: str) -> Any:
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(language)
