"""What may be doubted about a block before it runs.

A guard rail, not a wall: only Python that is made of plainly harmless parts passes without a doubt, and whatever
is not recognised is a doubt. The code can still do anything that a library does behind a harmless name.
"""

import ast
import re
from collections.abc import Iterator

from autogen_nb.core.code import parsed
from autogen_nb.messages import CodeBlock

IMPORTS = frozenset(
    "__future__ bisect calendar cmath collections copy dataclasses datetime decimal enum fractions "
    "functools heapq itertools json math matplotlib numbers numpy operator pandas polars random re scipy "
    "seaborn sklearn statistics statsmodels string textwrap time typing unicodedata warnings zoneinfo".split()
)
"""Packages whose use for computing and plotting is no doubt by itself."""

_CALLS = frozenset(
    "open exec eval compile __import__ getattr setattr delattr globals locals vars input breakpoint exit "
    "quit help get_ipython memoryview".split()
)
_MODULES = frozenset(
    "os sys subprocess shutil ctypes builtins importlib multiprocessing threading socket pickle pathlib tempfile "
    "glob urllib http requests httpx aiohttp ssl codecs inspect linecache runpy asyncio concurrent sqlite3 "
    "sqlalchemy duckdb joblib dill cloudpickle marshal shelve zipfile tarfile gzip bz2 lzma logging webbrowser "
    "ftplib smtplib posix nt IPython".split()
)
"""What an earlier block may have imported, and what modules let be reached through themselves."""

_INTERNALS = _MODULES | frozenset(
    "io ctypeslib common compat core util f2py distutils show_versions lib testing backends cbook exec getattr "
    "setattr delattr globals get_field get_type_hints ForwardRef Formatter attrgetter methodcaller "
    "Path PosixPath SQLContext sql webdoc from_custom_template singledispatch".split()
)
_WRITES = frozenset(
    "unlink rename_file rmdir mkdir makedirs remove_file rmtree touch symlink_to hardlink_to chmod system popen run "
    "Popen urlopen memmap open_memmap tofile imsave ExcelWriter HDFStore PdfPages DataSource serialize".split()
)
_WRITING = ("to_", "write", "save", "dump", "json_dump", "sink_", "print_", "export", "download")
_CONVERSIONS = frozenset(
    "to_numpy to_dict to_list to_datetime to_numeric to_timedelta to_period to_timestamp to_frame to_series "
    "to_pydatetime to_pytimedelta to_records to_dense to_coo to_flat_index to_julian_date to_pandas to_dummies "
    "to_physical to_lowercase to_uppercase to_titlecase to_date to_time to_integer to_decimal to_struct to_offset "
    "to_string to_rgb to_rgba to_rgba_array to_hex dumps".split()
)
_READING = ("read_", "scan_", "fetch", "load_", "deserialize")
_READS = frozenset("load loadtxt genfromtxt fromfile fromregex imread rc_file get_rdataset".split())
_TOYS = frozenset("load_iris load_wine load_digits load_diabetes load_breast_cancer load_linnerud".split())
"""Tables that come with scikit-learn."""

_FILES = frozenset(
    "read_csv read_table read_fwf read_excel read_parquet read_json read_feather read_orc read_stata read_sas "
    "read_spss read_ipc read_ndjson read_avro scan_csv scan_parquet scan_ndjson scan_ipc load loadtxt genfromtxt "
    "fromfile imread".split()
)
"""What reads the file that its first argument names, and does nothing else."""

_NAMING = frozenset({"apply", "agg", "aggregate", "transform"})
"""Methods that call the method that a text names."""

_ATTRIBUTES = frozenset({"_asdict", "_replace", "_fields", "_make"})
_TRICKY = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028-\u202e\u2066-\u2069]")
"""Line ends that only IPython takes for some, and what makes a line read otherwise than it runs."""

_DUNDER = re.compile(r"__(?!main__)\w+__")


def doubts(block: CodeBlock) -> tuple[str, ...]:
    """What a person should look at before the block runs, each named once; empty for plainly harmless code."""
    if block.language != "python":
        return (f"{block.language} code",)
    tree = parsed(block.code)
    if tree is None:
        return ("not plain Python: magics or a syntax error",)
    hidden = ("characters that hide what runs",) if _TRICKY.search(block.code) else ()
    return tuple(dict.fromkeys((*hidden, *_all_doubts(tree))))


def _all_doubts(tree: ast.AST) -> Iterator[str]:
    cleared = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call) and _harmless_call(node)}
    for node in ast.walk(tree):
        if id(node) not in cleared:
            yield from _doubts(node)


def _doubts(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (_import(each.name) for each in names if not _known(each.name))
        case ast.ImportFrom(module=module, names=names, level=level):
            paths = ["." * level + ".".join(filter(None, (module, each.name))) for each in names]
            yield from (_import(path) for path in paths if not _known(path))
        case ast.Name(id=name) if name in _CALLS | _MODULES or _dunder(name):
            yield f"uses {name}"
        case ast.Attribute(attr=name):
            yield from _attribute(name)
        case ast.MatchClass(kwd_attrs=names):
            yield from (doubt for name in names for doubt in _attribute(name))
        case ast.Call(func=ast.Attribute(attr=name)) as call:
            yield from _call(name, call)
        case ast.Constant(value=str(text)) if found := _DUNDER.search(text):
            yield f"names {found[0]} in a text"
        case _:
            return


def _dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name != "__name__"


def _attribute(name: str) -> Iterator[str]:
    if _writes(name):
        yield f"may write or start something: .{name}"
    elif name in _INTERNALS or (name.startswith("_") and name not in _ATTRIBUTES):
        yield f"reaches into .{name}"
    elif _reads(name):
        yield f"may read outside the notebook's folder: .{name}"


def _call(name: str, call: ast.Call) -> Iterator[str]:
    """The doubts about a method's call, beyond those about its name."""
    if name == "open":
        yield "may write or start something: .open"
    elif name in _NAMING:
        yield from (doubt for text in _texts(call) for doubt in _attribute(text))
    elif name == "to_string" and (call.args or any(each.arg in ("buf", None) for each in call.keywords)):
        yield "may write or start something: .to_string"
    elif name in ("use", "context") and not _names_a_style(call):
        yield f"may read outside the notebook's folder: .{name}"
    elif name in ("query", "eval"):
        yield from _expression(name, call)


def _expression(name: str, call: ast.Call) -> Iterator[str]:
    """The doubts about an expression that pandas evaluates: it can call methods too."""
    match call.args:
        case [ast.Constant(value=str(text))]:
            tree = parsed(re.sub(r"`[^`]*`", "column", text).replace("@", "").strip())
        case _:
            tree = None
    if tree is None:
        yield f"evaluates a text: .{name}"
    else:
        yield from _all_doubts(tree)


def _texts(call: ast.Call) -> Iterator[str]:
    for argument in (*call.args, *call.keywords):
        for node in ast.walk(argument):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def _names_a_style(call: ast.Call) -> bool:
    match call.args:
        case [ast.Constant(value=str(text))]:
            return bool(re.fullmatch(r"[\w-]+", text))
        case _:
            return False


def _import(path: str) -> str:
    return f"imports {path}"


def _known(path: str) -> bool:
    first, *rest = path.split(".")
    return first in IMPORTS and "*" not in rest and not any(doubt for part in rest for doubt in _attribute(part))


def _writes(name: str) -> bool:
    return name in _WRITES or (name.startswith(_WRITING) and name not in _CONVERSIONS)


def _reads(name: str) -> bool:
    return (name in _READS or name.startswith(_READING)) and name not in _TOYS


def _harmless_call(call: ast.Call) -> bool:
    """Whether the call reads from a literal path below the working folder that is not hidden."""
    match call:
        case ast.Call(func=ast.Attribute(attr=name), args=[ast.Constant(value=str(path)), *_]) if name in _FILES:
            parts = path.replace("\\", "/").split("/")
            unpickles = any(each.arg in ("allow_pickle", None) for each in call.keywords)
            below = not parts[0].startswith("~") and parts[0] and ":" not in path
            return bool(below) and not unpickles and not any(part.startswith(".") and part != "." for part in parts)
        case _:
            return False
