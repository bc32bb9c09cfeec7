"""Compares the outputs of code with those of an earlier run."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

from autogen_nb.outputs import Display, Failure, Output, Result, Stream

Difference: TypeAlias = Literal["", "time", "outputs"]

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


def difference(expected: Iterable[Output], actual: Iterable[Output]) -> Difference:
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
            case _:
                pass
        stream = ""
    return [_ADDRESS.sub("0x", text) for text in texts]


def _bundle(data: Mapping[str, Any]) -> str:
    mime = next((mime for mime in _PLAIN if mime in data), "")
    if mime.endswith("json"):
        return json.dumps(data[mime], sort_keys=True)
    return str(data[mime]) if mime else _MARKUP.sub(" ", str(data.get("text/html", sorted(data))))
