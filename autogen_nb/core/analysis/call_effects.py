"""What a call does, by what is called and what with."""

import ast
from collections.abc import Iterator

from autogen_nb.core.analysis import found_effects, library_effects, method_effects, sql_effects
from autogen_nb.core.analysis.abstract_values import (
    HOLE,
    UNKNOWN,
    LocalName,
    OpenedFile,
    PathText,
    Ref,
    path_of,
    raw,
    text_of,
)
from autogen_nb.core.analysis.evaluator import Evaluator
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.effects import Effect

_PATHS = frozenset(
    "path filepath_or_buffer path_or_buf io filename fname file source excel_writer buf path_or_buffer filepath fp "
    "root directory src where sink target output base_dir path_or_stream outpath file_path name out".split()
)
_SECOND = frozenset("dst target dest filename sink where file fp f extract_dir base_dir".split())
_OPENS = frozenset(
    "open io.open gzip.open bz2.open lzma.open codecs.open zipfile.ZipFile tarfile.open "
    "os.fdopen h5py.File netCDF4.Dataset tables.open_file".split()
)
_DATABASES = frozenset(
    {"sqlite3.connect", "duckdb.connect", "sqlalchemy.create_engine", "sqlalchemy.create_async_engine"}
)
_CONNECTIONS = ("memory", "sqlite3.connect()", "duckdb.connect()", "sqlalchemy.create_engine()", "duckdb")
_BY_HOST = frozenset(
    "connect SMTP SMTP_SSL FTP FTP_TLS create_connection Telnet gethostbyname getaddrinfo HTTPConnection "
    "HTTPSConnection "
    "IMAP4 IMAP4_SSL POP3 Redis MongoClient".split()
)
_MAKING = frozenset(
    "Session Client AsyncClient ClientSession SSHClient socket S3FileSystem GCSFileSystem client resource Pool Process "
    "PoolManager AutoAddPolicy Queue Lock Manager Event Value Array".split()
)
_ASKING = frozenset(
    "get post put patch delete head options request send stream connect open fetch map submit apply starmap imap start "
    "download upload urlopen".split()
)
_ITS_OWN = frozenset(
    "write writelines writerow writerows write_text write_bytes read_text read_bytes unlink rmdir touch mkdir "
    "chmod truncate symlink_to hardlink_to".split()
)
"""Methods that are about the file that they are called on."""

_OF_PATHS = frozenset({"with_name", "with_suffix", "with_stem"})
"""Methods that only a path has, and that make another path."""

_QUIET = frozenset(
    """startswith endswith split rsplit replace strip lstrip rstrip removeprefix removesuffix join contains match
    fullmatch search findall finditer sub compile append add print extract count find index format warn info debug
    error warning     exception critical log set_title title
    xlabel ylabel set_xlabel set_ylabel text annotate suptitle HTML Markdown
    urlparse urlsplit urljoin quote unquote parse_qs isin eq insert setdefault display Series DataFrame dict list set
    tuple
    str len sorted hash exists isfile isdir islink basename dirname splitext join abspath relpath expanduser normpath
    realpath
    commonpath Path PurePath PosixPath joinpath relative_to is_relative_to match with_name with_suffix getsize Ref
    legend
    is_file is_dir pprint repr fnmatch""".split()
)
"""What a text with a path or an address in it may be handed to."""


class Calls:
    """Judges the calls of a block.

    Parameters
    ----------
    changing
        Whether some statement of SQL in the block changes a database, as far as can be told.
    """

    def __init__(self, values: Evaluator, scope: PathScope, own: frozenset[str], *, changing: bool) -> None:
        self._values = values
        self._ground = scope
        self._own = own
        self._changing = changing
        self.vague: list[Effect] = []
        """What says little beside what else is found of its kind."""

    def effects(self, call: ast.Call) -> Iterator[Effect]:
        """What the call itself does, beyond what its arguments do."""
        names = self._values.refs(call.func)
        for name in names:
            yield from self._library(library_effects.plain(name), call, made="()" in name)
        if isinstance(call.func, ast.Attribute):
            yield from self._methods(call.func, call)
        elif isinstance(call.func, ast.Name):
            yield from self._function(call.func, call)
        if not any(map(self._known, names)):
            yield from self._handed(call)

    def _function(self, func: ast.Name, call: ast.Call) -> Iterator[Effect]:
        for value in self._values.of(func):
            if isinstance(value, Ref):
                if not self._known(value.name):
                    yield from self._by_name(value.name.rpartition(".")[2], call, value.name)
            elif value is UNKNOWN:
                yield from self._by_name(func.id, call, func.id)

    def _library(  # noqa: C901  # one row for each kind of library
        self, name: str, call: ast.Call, *, made: bool
    ) -> Iterator[Effect]:
        if name in _OPENS:
            yield from self._opened(name, call)
        elif name in _DATABASES:
            yield from self._database(call)
        elif name.startswith("IPython.display."):
            yield from self._displayed(call)
        elif name.startswith("tempfile.") and name != "tempfile.gettempdir":
            yield Effect("write", self._temporary(call), "writes a temporary file")
        elif name == "logging.basicConfig":
            for text in self._first(call, len(call.args), frozenset({"filename"})):
                yield from found_effects.writes(text, self._ground)
        elif name == "numpy.load" and any(each.arg in ("allow_pickle", None) for each in call.keywords):
            yield from found_effects.unknown("unpickles a file, which can run code")
        elif name in library_effects.FILES:
            yield from self._file(*library_effects.FILES[name], call)
            if name in library_effects.OTHER_FILES:
                yield from self._file(*library_effects.OTHER_FILES[name], call)
        elif (kind := library_effects.default(name)) in library_effects.KINDS:
            yield from self._told(kind, name, call, made=made)

    def _displayed(self, call: ast.Call) -> Iterator[Effect]:
        """What is shown may be a file, or be fetched."""
        for keyword in call.keywords:
            for text in self._values.texts(keyword.value) if keyword.arg in ("filename", "url") else ():
                yield from (
                    found_effects.reads(text, self._ground)
                    if keyword.arg == "filename"
                    else found_effects.connects(text)
                )
        for text in self._first(call, 0, frozenset()):
            if text is not None and method_effects.file_like(text):
                yield from found_effects.reads(text, self._ground)

    def _database(self, call: ast.Call) -> Iterator[Effect]:
        for text in self._first(call, 0, frozenset({"database", "url"})):
            read_only = any(each.arg == "read_only" for each in call.keywords) or "mode=ro" in (text or "")
            yield from sql_effects.database(text, self._ground, changing=self._changing and not read_only)

    def _told(self, kind: str, name: str, call: ast.Call, *, made: bool) -> Iterator[Effect]:
        effects = tuple(self._default(kind, name, call))
        last = name.rpartition(".")[2]
        if all(not effect.target for effect in effects) and ((made and last not in _ASKING) or last in _MAKING):
            self.vague += effects
        else:
            yield from effects

    def _default(self, kind: str, name: str, call: ast.Call) -> Iterator[Effect]:
        texts = [text for text in self._texts(call) if text]
        if kind == "network":
            hosts: list[str | None] = [address for address in self._addresses(call) if found_effects.is_url(address)]
            for address in hosts or self._hosts(name, call) or [None]:
                yield from found_effects.connects(address)
        elif kind == "process":
            yield from found_effects.runs(next(iter(texts), None))
        elif kind == "environment":
            yield from library_effects.effects(kind, name, texts[0] if name.startswith("os.") and texts else "")
        else:
            yield from library_effects.effects(kind, name)

    def _hosts(self, name: str, call: ast.Call) -> list[str | None]:
        """The host of a connection that is given by its name alone, or with its port."""
        if name.rpartition(".")[2] not in _BY_HOST:
            return []
        given = [*call.args[:1], *(each.value for each in call.keywords if each.arg in ("host", "hostname"))]
        values = [value for node in given for value in self._values.of(node)]
        firsts = [value[0] if isinstance(value, tuple) and value else value for value in values]
        return [value for value in firsts if text_of(value)]

    def _methods(self, func: ast.Attribute, call: ast.Call) -> Iterator[Effect]:
        for value in self._values.of(func.value):
            if isinstance(value, PathText):
                yield from self._path(value.text, func.attr, call)
            elif isinstance(value, OpenedFile):
                yield from self._stream(func.attr, call)
            elif isinstance(value, Ref) and not self._known(f"{value.name}.{func.attr}"):
                yield from self._by_name(func.attr, call, value.name)
            elif value is UNKNOWN or (isinstance(value, LocalName) and func.attr not in self._own):
                yield from self._by_name(func.attr, call)

    @staticmethod
    def _known(name: str) -> bool:
        """Whether the tables of libraries have judged it already."""
        plain = library_effects.plain(name)
        return (
            library_effects.exact(plain)
            or plain in _OPENS
            or plain in _DATABASES
            or library_effects.default(plain) != "compute"
        )

    def _path(self, path: str, method: str, call: ast.Call) -> Iterator[Effect]:
        if method in ("read_text", "read_bytes", "iterdir", "readlink", "glob", "rglob", "walk"):
            yield from found_effects.reads(path, self._ground)
        elif method in ("write_text", "write_bytes", "touch", "mkdir", "symlink_to", "hardlink_to", "chmod"):
            yield from found_effects.writes(path, self._ground)
        elif method in ("unlink", "rmdir", "rename", "replace"):
            yield from found_effects.deletes(path, self._ground)
            if method in ("rename", "replace"):
                yield from self._file("write", 0, call)
        elif method == "open":
            yield from self._by_mode(path, self._mode(call, 0))

    def _stream(self, method: str, call: ast.Call) -> Iterator[Effect]:
        if method in ("extractall", "extract"):
            place = 0 if method == "extractall" else 1
            for text in self._first(call, place) or (".",):
                yield from found_effects.writes(text, self._ground)

    def _by_name(self, name: str, call: ast.Call, owner: str = "") -> Iterator[Effect]:  # one row for each kind
        kind = method_effects.effect(name)
        if name in ("dump", "safe_dump"):
            yield from self._dumped(call)
        elif name in ("rename", "replace") and owner == "":
            yield from self._renamed(name, call)
        elif kind == "sql":
            yield from self._statement(name, call, owner)
        elif name == "to_sql":
            yield from self._to_sql(call)
        elif kind == "network":
            yield from self._default("network", name, call)
        elif kind == "process":
            yield from found_effects.runs(next((text for text in self._texts(call) if text), None))
        elif kind == "unknown":
            yield from found_effects.unknown(f"may run code: .{name}")
        elif name in _ITS_OWN:
            yield from library_effects.handed_on(kind, self._ground, name)
        elif kind in ("read", "write", "delete") and not (method_effects.textual(name) and self._first(call, 0) == ()):
            yield from self._file(kind, 0, call)

    def _dumped(self, call: ast.Call) -> Iterator[Effect]:
        for text in self._first(call, 1, _SECOND | {"stream"}) or ():
            yield from found_effects.writes(text, self._ground)

    def _renamed(self, name: str, call: ast.Call) -> Iterator[Effect]:
        """A path's method, told from a table's or a text's of the same name by what it is given."""
        if len(call.args) == 1 and not call.keywords:
            func = call.args[0].func if isinstance(call.args[0], ast.Call) else None
            path = isinstance(func, ast.Attribute) and func.attr in _OF_PATHS
            for value in self._values.of(call.args[0]):
                text = text_of(value)
                if path or isinstance(value, PathText) or (text is not None and method_effects.file_like(text)):
                    yield Effect("delete", text or "", f"moves a file: .{name}")
                    yield from found_effects.writes(text, self._ground)

    def _statement(self, name: str, call: ast.Call, owner: str) -> Iterator[Effect]:
        if not call.args or name == "from_query":
            return
        given = self._values.texts(call.args[0])
        known = owner.startswith(_CONNECTIONS) or name in ("sql", "read_sql_table")
        for node in call.args[1:2] if name.startswith(("read_sql", "read_database")) else ():
            for value in self._values.of(node):
                known = known or (isinstance(value, Ref) and value.name.startswith(_CONNECTIONS))
                if text_of(value) is not None:
                    known = True
                    yield from sql_effects.database(value, self._ground, changing=self._changing)
        for text in given:
            plain = text is not None and text.isidentifier()
            if not plain:
                yield from sql_effects.statement(text, self._ground)
            if not known and not plain and sql_effects.changes(text):
                yield Effect("write", "", "changes a database")

    def _to_sql(self, call: ast.Call) -> Iterator[Effect]:
        nodes = [*call.args[1:2], *(each.value for each in call.keywords if each.arg == "con")]
        for value in [value for node in nodes for value in self._values.of(node)] or [UNKNOWN]:
            if isinstance(value, str):
                yield from sql_effects.database(text_of(value), self._ground, changing=True)
            elif not (isinstance(value, Ref) and value.name.startswith(_CONNECTIONS)):
                yield Effect("write", "", "changes a database")

    def _opened(self, name: str, call: ast.Call) -> Iterator[Effect]:
        for text in self._first(call, 0) or (None,):
            yield from self._by_mode(text, self._mode(call, 1, "t" if name in ("open", "io.open") else "b"))

    def _mode(self, call: ast.Call, place: int, otherwise: str = "r") -> str:
        """The mode in which a file is opened; "w" where it cannot be told."""
        if any(each.arg is None for each in call.keywords) or any(isinstance(each, ast.Starred) for each in call.args):
            return "w"
        given = [*call.args[place : place + 1], *(each.value for each in call.keywords if each.arg == "mode")]
        return "".join(text or "w" for node in given for text in self._values.texts(node)) or otherwise

    def _by_mode(self, path: str | None, mode: str) -> Iterator[Effect]:
        if set(mode) & set("wax+"):
            yield from found_effects.writes(path, self._ground)
        if not set(mode) & set("wax"):
            yield from found_effects.reads(path, self._ground)

    def _file(self, kind: str, place: int, call: ast.Call) -> Iterator[Effect]:
        given = self._first(call, place, _SECOND if place else _PATHS)
        for text in (None,) if given == () else given:
            if kind == "read":
                yield from found_effects.reads(text, self._ground)
            elif kind == "write":
                yield from found_effects.writes(text, self._ground)
            elif kind == "delete":
                yield from found_effects.deletes(text, self._ground)
            else:
                yield from found_effects.runs(text)

    def _first(self, call: ast.Call, place: int, keywords: frozenset[str] = _PATHS) -> tuple[str | None, ...]:
        """The texts of the argument that names a file; empty where there is none, None for what cannot be told.

        A stream is no file to be named, and neither is no file at all.
        """
        nodes = [*call.args[place : place + 1], *(each.value for each in call.keywords if each.arg in keywords)]
        if not nodes:
            open_ended = any(each.arg is None for each in call.keywords)
            return (None,) if open_ended else ()
        found_: list[str | None] = []
        for value in self._values.of(nodes[0]):
            if isinstance(value, OpenedFile) or value is None or _standard(value):
                # The file has been judged where it was opened.
                found_.append("/dev/null")
            elif isinstance(value, tuple):
                found_ += [path_of(each) for each in value]
            else:
                found_.append(path_of(value))
        return tuple(found_)

    def _texts(self, call: ast.Call) -> list[str | None]:
        """The texts among the arguments; those of a list in one."""
        gathered: list[str | None] = []
        for node in [*call.args, *(each.value for each in call.keywords)]:
            for value in self._values.of(node):
                if isinstance(value, tuple):
                    parts = [text_of(each) for each in value]
                    gathered.append(" ".join(part or "..." for part in parts) if any(parts) else None)
                else:
                    gathered.append(text_of(value))
        return gathered

    def _addresses(self, call: ast.Call) -> list[str]:
        """The texts among the arguments, of which the end may not be known."""
        nodes = [*call.args, *(each.value for each in call.keywords)]
        texts = [raw(value) for node in nodes for value in self._values.of(node)]
        return [text.replace(HOLE, "*") for text in texts if text]

    def _temporary(self, call: ast.Call) -> str:
        for keyword in call.keywords:
            if keyword.arg == "dir":
                return next(iter(self._values.texts(keyword.value))) or ""
        return "/tmp"  # noqa: S108  # where they usually are; elsewhere, running code is asked about

    def _handed(self, call: ast.Call) -> Iterator[Effect]:
        """Addresses and paths elsewhere that are handed to what is not known."""
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name in _QUIET or name in self._own or method_effects.effect(name):
            return
        for address in self._addresses(call):
            if found_effects.is_url(address):
                yield from found_effects.connects(address)


def _standard(value: object) -> bool:
    return isinstance(value, Ref) and value.name in ("sys.stdout", "sys.stderr", "sys.stdin")
