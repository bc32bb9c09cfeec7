"""Predicts which files and addresses an SQL statement uses, in addition to its database."""

import re

from autogen_nb.core.analysis.effect_collector import EffectCollector, local, one_line

_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r"'((?:[^']|'')*)'")
_READS = re.compile(
    r"(?is)[(\s]*+(select|with|values|explain|describe|desc|show|from|summarize|pivot|unpivot|"
    r"pragma\s+(table_info|table_list|index_list|database_list|show_tables|foreign_key_list|version|user_version\s*$|"
    r"integrity_check)|set\s+(threads|memory_limit)|begin|commit|rollback|end|;|$)"
)
_QUERY = re.compile(r"(?i)\s*(select\s|pragma\s+(table_x?info|index_list|index_info|foreign_key_list)\s*\()")
_CHANGES = re.compile(
    r"(?i)\b(insert\s+(into|or)|update\s+\S+\s+set|delete\s+from|replace\s+into|drop\s|alter\s|create\s|truncate\s|"
    r"merge\s+into|grant\s|vacuum|reindex)"
)
_DUMP = re.compile(r"(?is)\b(?:copy\b.*?\bto|export\s+database|outfile|dumpfile|vacuum\b.*?\binto)\s*'((?:[^']|'')*)'")
_ATTACHED = re.compile(r"(?is)\battach\b[^']*'((?:[^']|'')*)'")
_OUTSIDE_ACCESS = re.compile(
    r"(?i)\b(load_extension|install|load\s+\w+|xp_cmdshell|sys_exec|pg_read_file|load_file|create\s+secret|"
    r"set\s+s3_|program|lo_import|lo_export|readfile|writefile|fts3_tokenizer|getenv|shellfs)\b"
)
_INPUT = re.compile(r"(?is)(?:\b(?:from|join)\s+|\b(?:read_\w+|glob|\w+_scan|sniff_csv)\s*\(\s*\[?\s*)'([^']*)'")
_FILE_NAME = re.compile(
    r"(?i)[^\s'%]+\.(csv|tsv|parquet|json|jsonl|ndjson|txt|xlsx|db|sqlite|duckdb|gz|zst|arrow|feather)|.*://.*"
)

_MAX_STATEMENT_LENGTH = 10_000


def read_statement(text: str | None, effects: EffectCollector) -> None:
    """Adds a statement's effects outside its database; `text` is None if the statement is unknown."""
    if text is None:
        effects.add_unknown("runs an SQL statement that is not known before it runs")
        return
    if len(text) > _MAX_STATEMENT_LENGTH:
        effects.add_unknown(f"runs an SQL statement of {len(text):,} characters, which is too long to be read")
        return
    text = _COMMENT.sub(" ", text)
    plain = _STRING.sub("''", text)
    outputs = [match[1] for match in (*_DUMP.finditer(text), *_ATTACHED.finditer(text)) if match[1] != ":memory:"]
    inputs = [match[1] for match in _INPUT.finditer(text)]
    inputs += [match[1] for match in _STRING.finditer(text) if _FILE_NAME.fullmatch(match[1])]
    for output in outputs:
        effects.add_file("write", output)
    for path in inputs:
        if path not in outputs:
            effects.add_file("read", path)
    if not outputs and re.search(r"(?i)\bcopy\b.*?\bto\s+[^'\s]", plain):
        effects.add_file("write", None)
    if access := _OUTSIDE_ACCESS.search(plain):
        effects.add_unknown(f"uses {one_line(access[0])} in an SQL statement")


def changes(text: str | None) -> bool:
    if text is None or len(text) > _MAX_STATEMENT_LENGTH:
        return True
    plain = _STRING.sub("''", _COMMENT.sub(" ", text))
    return any(not _READS.match(statement) or _CHANGES.search(statement) is not None for statement in plain.split(";"))


def is_query_prefix(beginning: str) -> bool:
    if len(beginning) > _MAX_STATEMENT_LENGTH:
        return False
    plain = _COMMENT.sub(" ", beginning)
    return _QUERY.match(plain) is not None and ";" not in plain


def read_address(address: str | None, effects: EffectCollector, *, changing: bool) -> None:
    if address is None:
        effects.add_unknown("opens a database that is not known before the code runs")
        return
    scheme, separator, rest = address.partition("://")
    if separator and not scheme.startswith(("sqlite", "duckdb", "file")):
        effects.add_connection(address)
        return
    path = rest.removeprefix("/") if separator and scheme != "file" else local(address)
    path = path.partition("?")[0]
    if path not in ("", ":memory:"):
        effects.add_file("write" if changing else "read", path)
