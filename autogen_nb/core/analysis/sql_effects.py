"""Reads which files and addresses an SQL statement uses, in addition to its database."""

import re

from autogen_nb.core.analysis.effect_collector import EffectCollector, is_url, local, one_line

_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r"'((?:[^']|'')*)'")
_READS = re.compile(
    r"(?is)[(\s]*+(select|with|values|explain|describe|desc|show|from|summarize|pivot|unpivot|"
    r"pragma\s+\w+\s*(\(|$)|set\s+(threads|memory_limit)|begin|commit|rollback|end|;|$)"
)
_CHANGES = re.compile(
    r"(?i)\b(insert\s+(into|or)|update\s+\S+\s+set|delete\s+from|replace\s+into|drop\s|alter\s|create\s|truncate\s|"
    r"merge\s+into|grant\s|vacuum|reindex)"
)
_OUTPUT = re.compile(r"(?i)\b(?:to|into|outfile|dumpfile|database|attach|exists)\s*'((?:[^']|'')*)'")
_OUTSIDE_ACCESS = re.compile(
    r"(?i)\b(load_extension|install|load\s+\w+|xp_cmdshell|sys_exec|pg_read_file|load_file|create\s+secret|"
    r"set\s+s3_|program|lo_import|lo_export|readfile|writefile|getenv|copy\s+\w+\s+to\s+\w+)\b"
)
_INPUT = re.compile(r"(?is)(?:\b(?:from|join)\s+|\b(?:read_\w+|glob|\w+_scan|sniff_csv)\s*\(\s*\[?\s*)'([^']*)'")
_FILE_NAME = re.compile(
    r"(?i)[^\s'%]+\.(csv|tsv|parquet|json|jsonl|ndjson|txt|xlsx|db|sqlite|duckdb|gz|zst|arrow|feather)|.*://.*"
)
_LONGEST = 10_000


def read_statement(text: str | None, effects: EffectCollector) -> None:
    """Adds a statement's effects outside its database; `text` is None if the statement is unknown."""
    if text is None or len(text) > _LONGEST:
        why = "not known before it runs" if text is None else f"too long to be read: {len(text):,} characters"
        effects.add("unknown", words=f"runs an SQL statement that is {why}")
        return
    text = _COMMENT.sub(" ", text)
    outputs = [match[1] for match in _OUTPUT.finditer(text) if match[1] != ":memory:"]
    inputs = [match[1] for match in _INPUT.finditer(text)]
    inputs += [match[1] for match in _STRING.finditer(text) if _FILE_NAME.fullmatch(match[1])]
    for output in outputs:
        effects.add_file("write", output)
    for path in inputs:
        if path not in outputs:
            effects.add_file("read", path)
    if access := _OUTSIDE_ACCESS.search(_STRING.sub("''", text)):
        effects.add("unknown", words=f"uses {one_line(access[0])} in an SQL statement")


def changes(text: str) -> bool:
    """True if a statement may change its database."""
    plain = _STRING.sub("''", _COMMENT.sub(" ", text[:_LONGEST]))
    return any(not _READS.match(statement) or _CHANGES.search(statement) is not None for statement in plain.split(";"))


def read_address(address: str | None, effects: EffectCollector, *, changing: bool) -> None:
    if address is None:
        effects.add("unknown", words="opens a database that is not known before the code runs")
    elif is_url(address):
        effects.add_connection(address)
    else:
        scheme, _, rest = address.partition("://")
        path = (rest.removeprefix("/") if rest and scheme != "file" else local(address)).partition("?")[0]
        if path not in ("", ":memory:") and not path.endswith("://"):
            effects.add_file("write" if changing else "read", path)
