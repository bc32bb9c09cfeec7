"""The first steps: finding a file, loading it, and looking at the columns."""

import re

from autogen_nb.models.offline.conversation import Ran, Tried
from autogen_nb.models.offline.state import State
from autogen_nb.models.offline.steps import Step
from autogen_nb.models.offline.task import reading
from autogen_nb.models.offline.wording import count, percent, span, spans
from autogen_nb.models.offline.writing import Source, joined, name, render

FIND = """
    # [find] Which tables lie in the working folder
    import json
    from pathlib import Path

    endings = {".csv", ".tsv", ".xlsx", ".xls", ".parquet", ".feather", ".json", ".jsonl", ".ndjson"}
    files = sorted(
        path for folder in (".", "data") for path in Path(folder).glob("*") if path.suffix.lower() in endings
    )[:30]
    for path in files:
        print(f"{path.stat().st_size / 1024:12,.1f} KB  {path}")
    print("facts files:", json.dumps([str(path) for path in files]))
"""

LOOK = r'''
    DATE = r"\d{4}[-/.]\d{1,2}([-/.]\d{1,2}|[T ]|$$)|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{1,2} [A-Za-z]{3,9} \d{4}"
    NUMBER = r"[-+]?[$$€£¥]?\s?\d[\d.,' ]*(e[-+]?\d+)?\s?[%$$€£]?"


    def kind(column):
        """What the values of a column are, whatever their type is."""
        types = pd.api.types
        values = column.dropna()
        if values.empty:
            return "empty"
        if types.is_bool_dtype(column):
            return "yes/no"
        if types.is_datetime64_any_dtype(column):
            return "date"
        if types.is_numeric_dtype(column) and not types.is_complex_dtype(column):
            return "number (some infinite)" if values.abs().max() == float("inf") else "number"
        if not (types.is_string_dtype(values.dtype) or values.dtype in (object, "category")):
            return "other"
        texts = values.head(1_000).map(str).astype(object).str.strip()
        if texts.str.match(DATE).mean() > 0.8:
            return "date in text"
        if texts.str.fullmatch(NUMBER).mean() > 0.8:
            return "number in text"
        return "mixed" if values.dtype == object and types.infer_dtype(values) != "string" else "text"


    columns = [
        (str(label)[:60], kind(column), int(column.isna().sum()), int(column$hashable.nunique()))
        for label, column in $df.items()
    ]

    overview = pd.DataFrame(columns, columns=["column", "kind", "missing", "distinct"])
    overview.insert(1, "type", [str(dtype) for dtype in $df.dtypes])
    print(f"{len($df):,} rows, {len(columns):,} columns\n")
    print(overview.to_string(index=False, max_rows=30, max_colwidth=40))

    names = [label for label in $df.columns if isinstance(label, str) and len(label) <= 60]
    facts = {
        "rows": len($df),
        "width": len(columns),
        "odd_names": len(set(names)) < len(columns),
        "columns": columns[:$most],
    }
    while len(json.dumps(facts)) > 3_000:  # what is read back is short: of a very wide table, the first columns
        facts["columns"].pop()
    print("\nfacts look:", json.dumps(facts))
    $head
'''

MOST = 200
"""As many columns as are looked at; their facts must be short enough, too."""


def find() -> Step:
    """Looks for files when nothing was handed over."""
    return Step(
        "find",
        lambda state: state.subject is None and state.files is None,
        lambda _: render(FIND),
        lambda _: (
            "No table was handed over and the task names no file, so I look which tables lie in the working folder."
        ),
        _found,
    )


def look() -> Step:
    """Loads the table if it is a file, and tells the columns' kinds."""
    return Step("look", _needed, _write, _intent, _findings)


def load(state: State) -> Source:
    """The lines that bring the raw table into the kernel; empty for one that is there."""
    source = reading(state.about, options(state.known.looks))
    return render("$raw = $load", raw=name(state.about.raw), load=source) if source else source


def options(looks: tuple[Tried, ...]) -> dict[str, object]:
    """How to read the file, learned from the looks so far."""
    found: dict[str, object] = {}
    for tried in looks:
        if not isinstance(tried.outcome, Ran):
            continue
        if tried.outcome.error is not None:
            found |= _from_error(tried.outcome.error.name, tried.outcome.error.message)
        else:
            found |= _from_facts(tried.outcome.facts.get("look"))
    return found


def separator(facts: object) -> str | None:
    """The separator that the only column's name holds; None where the table has come apart well."""
    columns = facts.get("columns") if isinstance(facts, dict) else None
    if not isinstance(columns, list) or len(columns) != 1 or not columns[0]:
        return None
    only = str(columns[0][0])
    return next((mark for mark in (";", "\t", "|") if mark in only), None)


def _from_facts(facts: object) -> dict[str, object]:
    mark = separator(facts)
    return {"sep": mark} if mark else {}


def _from_error(error: str, message: str) -> dict[str, object]:
    if error == "UnicodeDecodeError" or "codec can't decode" in message:
        if re.search(r"byte 0xf[ef] in position 0", message):
            return {"encoding": "utf-16"}
        return {"encoding": "cp1252", "encoding_errors": "replace"}
    if error == "ParserError":
        return {"sep": None, "engine": "python", "on_bad_lines": "skip"}
    if error == "ValueError" and ("Trailing data" in message or "lines" in message):
        return {"lines": True}
    return {}


def _needed(state: State) -> bool:
    if state.subject is None:
        return False
    return state.original is None or bool(state.tries("look"))


def _write(state: State) -> Source | None:
    failed = [each.outcome.error for each in state.known.looks if isinstance(each.outcome, Ran)]
    unhashable = any(error is not None and "unhashable" in error.message for error in failed)
    most = _most(state)
    body = render(
        LOOK,
        df=name(state.about.raw),
        hashable=Source(".dropna().map(str)" if unhashable else ""),
        most=most,
        head=Source(f"\n{state.about.raw}.iloc[:5, :10]" if most == MOST else ""),
    )
    polars = any(error is not None and error.name == "AttributeError" for error in failed)
    if polars and state.about.kind == "variable":
        body = joined(render("$df = $df.to_pandas()", df=name(state.about.raw)), body)
    head = (
        "# [look] What the table holds: its columns, their kinds, what is missing\nimport json\n\nimport pandas as pd\n"
    )
    return joined(head, load(state), body)


def _most(state: State) -> int:
    """As many columns as are asked back; fewer when the output told nothing, so that a second look differs."""
    silent = [each for each in state.tries("look") if isinstance(each.outcome, Ran) and each.outcome.succeeded]
    told_nothing = [each for each in silent if isinstance(each.outcome, Ran) and "look" not in each.outcome.facts]
    return MOST // 2 if told_nothing else MOST


def _intent(state: State) -> str:
    title = span(state.about.title)
    tries = state.tries("look")
    if not tries:
        verb = "look at" if state.about.kind == "variable" else "load"
        then = "" if state.about.kind == "variable" else " and look at it"
        return f"I {verb} {title}{then}: which columns there are, what kind of values they hold, and what is missing."
    outcome = tries[-1].outcome
    given = options(state.known.looks)
    if isinstance(outcome, Ran) and outcome.succeeded:
        if separator(outcome.facts.get("look")):
            mark = span({"\t": "tab"}.get(str(given.get("sep")), given.get("sep")))
            return f"All of {title} came out as one column; its name holds {mark}, so I read it with that separator."
        return "I do not find the facts in that output that I look for, so I print them again."
    if given.get("encoding"):
        return f"I read the file again as {span(given['encoding'])}."
    if given.get("engine"):
        return "I read the file again and let pandas find the separator; lines that do not fit are left out."
    return "I look again, in a way that allows for it."


def _found(state: State) -> list[str]:
    if not state.files:
        return []
    if state.subject is None:
        return [f"There are {count(len(state.files), 'file')}: {spans(state.files, most=12)}."]
    return [f"I take {span(state.subject.title)}."]


def _findings(state: State) -> list[str]:
    table = state.original
    if table is None or not state.known.looks:
        return []
    text = f"{span(state.about.title)} has {count(table.rows, 'row')} and {count(table.width, 'column')}"
    parts = [
        (len(table.of_kind("number", "number (some infinite)", "number in text")), "of numbers"),
        (len(table.of_kind("date", "date in text")), "of dates"),
        (len(table.of_kind("text", "yes/no", "mixed")), "of text or categories"),
        (len(table.of_kind("empty")), "without any value"),
    ]
    told = [f"{number} {what}" for number, what in parts if number]
    text += f" ({', '.join(told)})." if told else "."
    found = [text]
    if len(table.columns) < table.width:
        found.append(f"Of so many columns I look at the first {len(table.columns)}.")
    missing = sorted((c for c in table.columns if c.missing and c.kind != "empty"), key=lambda c: -c.missing)
    if missing and table.rows:
        worst = missing[0]
        found.append(
            f"{count(len(missing), 'column')} {'has' if len(missing) == 1 else 'have'} missing values, most of all "
            f"{span(worst.name)} with {worst.missing:,} ({percent(worst.missing / table.rows)})."
        )
    elif table.rows and not table.of_kind("empty") and state.facts("overview") is None:
        found.append("No value is missing.")
    return found
