"""What a statement of SQL does beyond asking its own database: the files and addresses that it names."""

import re
from collections.abc import Iterator

from autogen_nb.core.analysis import found_effects
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.effects import Effect

_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_TEXT = re.compile(r"'((?:[^']|'')*)'")
_LOOKS = re.compile(
    r"(?is)\s*[(\s]*(select|with|values|explain|describe|desc|show|from|summarize|pivot|unpivot|"
    r"pragma\s+(table_info|table_list|index_list|database_list|show_tables|foreign_key_list|version|user_version\s*$|"
    r"integrity_check)|set\s+(threads|memory_limit)|begin|commit|rollback|end|;|$)"
)
_MUTATES = re.compile(
    r"(?i)\b(insert\s+(into|or)|update\s+\S+\s+set|delete\s+from|replace\s+into|drop\s|alter\s|create\s|truncate\s|"
    r"merge\s+into|grant\s|vacuum|reindex)"
)
_TO = re.compile(r"(?is)\b(?:copy\b.*?\bto|export\s+database|outfile|dumpfile|vacuum\b.*?\binto)\s*'((?:[^']|'')*)'")
_OPENED = re.compile(r"(?is)\battach\b[^']*'((?:[^']|'')*)'")
_BEYOND = re.compile(
    r"(?i)\b(load_extension|install|load\s+\w+|xp_cmdshell|sys_exec|pg_read_file|load_file|create\s+secret|"
    r"set\s+s3_|program|lo_import|lo_export|readfile|writefile|fts3_tokenizer|getenv|shellfs)\b"
)
_NAMED = re.compile(r"(?is)(?:\b(?:from|join)\s+|\b(?:read_\w+|glob|\w+_scan|sniff_csv)\s*\(\s*\[?\s*)'([^']*)'")
_FILE = re.compile(
    r"(?i)[^\s'%]+\.(csv|tsv|parquet|json|jsonl|ndjson|txt|xlsx|db|sqlite|duckdb|gz|zst|arrow|feather)|.*://.*"
)


def statement(text: str | None, scope: PathScope) -> tuple[Effect, ...]:
    """What a statement does; None stands for one that cannot be told. A database in memory may be changed freely."""
    if text is None:
        return found_effects.unknown("runs a statement of SQL that is not known before it runs")
    return tuple(_acts(_COMMENT.sub(" ", text), scope))


def _acts(text: str, scope: PathScope) -> Iterator[Effect]:
    outputs = [match[1] for match in (*_TO.finditer(text), *_OPENED.finditer(text)) if match[1] != ":memory:"]
    for output in outputs:
        yield from found_effects.writes(output, scope)
    inputs = [match[1] for match in _NAMED.finditer(text)]
    inputs += [match[1] for match in _TEXT.finditer(text) if _FILE.fullmatch(match[1])]
    for path in dict.fromkeys(inputs):
        if path not in outputs:
            yield from found_effects.reads(path, scope)
    if re.search(r"(?i)\bcopy\b.*?\bto\s+[^'\s]", _TEXT.sub("''", text)) and not outputs:
        yield from found_effects.writes(None, scope)
    if beyond := _BEYOND.search(_TEXT.sub("''", text)):
        yield from found_effects.unknown(f"uses {found_effects.one_line(beyond[0])} in a statement of SQL")


def changes(text: str | None) -> bool:
    """Whether a statement changes the database, as far as can be told."""
    if text is None:
        return True
    plain = _TEXT.sub("''", _COMMENT.sub(" ", text))
    return any(not _LOOKS.match(each) or _MUTATES.search(each) is not None for each in plain.split(";"))


def database(address: str | None, scope: PathScope, *, changing: bool) -> tuple[Effect, ...]:
    """What opening a database is, by its file's path or its URL."""
    if address is None:
        return found_effects.unknown("opens a database that is not known before it runs")
    scheme, separator, rest = address.partition("://")
    if separator and not scheme.startswith(("sqlite", "duckdb", "file")):
        return found_effects.connects(address)
    path = rest.removeprefix("/") if separator and scheme != "file" else found_effects.local(address)
    path = path.partition("?")[0]
    if path in ("", ":memory:"):
        return ()
    return found_effects.writes(path, scope) if changing else found_effects.reads(path, scope)
