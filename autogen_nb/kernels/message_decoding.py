"""Converts a kernel's messages, also malformed ones, to outputs.

Source: "Messages on the IOPub (PUB/SUB) channel" of the Jupyter messaging specification.
"""

import ast
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from autogen_nb.outputs import Cleared, Display, Failure, Output, Result, Stream

# `user_expressions` that call functions of `inside/service.py`; functions here read the results.
_SERVICE = "__import__('sys').modules['autogen_nb_service']"
CHANGES = {"changes": f"{_SERVICE}.changes()"}
LOST_VALUES = {"lost_values": f"{_SERVICE}.lost_values()"}
_MOST_NAMES = 12
_MOST_CHANGES = 2
_ROWS = " rows x "


def changes(reply: Mapping[str, Any]) -> str:
    """Describes the variables that a block changed; "" if there are none, or if they are unknown."""
    try:
        listed = [[str(word) for word in each] for each in json.loads(_text_of(reply, "changes"))]
        # Tables come first, because only the first changes are named.
        listed.sort(key=lambda each: _ROWS not in each[-1])
        words = [f"{what} `{name:.40}`{_sizes(before, after)}" for what, name, before, after in listed[:_MOST_CHANGES]]
    # The agent's code can replace functions of `service`, so the reply may contain anything.
    except Exception:  # noqa: BLE001
        return ""
    rest = len(listed) - len(words)
    return ", ".join(words) + (f", {rest} more" if rest else "")


def not_carried(reply: Mapping[str, Any]) -> str:
    """Names the variables that are not as they were when the checkpoint was taken; "" if there are none."""
    try:
        found = json.loads(_text_of(reply, "lost_values"))
        lost, shared = (_listed([str(name) for name in names]) for names in found)
    except Exception:  # noqa: BLE001  # as above
        return ""
    kept = "These keep their present values, because they are shared memory or a file"
    sentences = (("These must be opened or started again", lost), (kept, shared))
    return " ".join(f"{what}: {names}." for what, names in sentences if names)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(f"`{name:.40}`" for name in names[:_MOST_NAMES]) + more


def _text_of(reply: Mapping[str, Any], name: str) -> str:
    return str(ast.literal_eval(reply["user_expressions"][name]["data"]["text/plain"]))


def _sizes(before: str, after: str) -> str:
    return f" ({before:.40} \u2192 {after:.40})" if _ROWS in before and _ROWS in after and before != after else ""


def output(kind: str, content: Mapping[str, Any]) -> Output | None:
    bundles: dict[str, dict[str, Any]] = {name: value for name, value in content.items() if isinstance(value, dict)}
    data, metadata = bundles.get("data", {}), bundles.get("metadata", {})
    match kind:
        case "stream":
            return Stream("stderr" if content.get("name") == "stderr" else "stdout", _text(content.get("text")))
        case "display_data" | "update_display_data":
            display_id = bundles.get("transient", {}).get("display_id")
            display_id = display_id if isinstance(display_id, str) else None
            return Display(data, metadata, display_id, update=kind == "update_display_data")
        case "execute_result":
            return Result(data, metadata)
        case "error":
            lines = content.get("traceback")
            traceback = tuple(map(_text, lines)) if isinstance(lines, list) else ()
            return Failure(_text(content.get("ename")), _text(content.get("evalue")), traceback)
        case "clear_output":
            return Cleared(wait=bool(content.get("wait")))
    return None


def exit_code(evalue: str) -> int | None:
    """The exit code of a SystemExit with this text; None if the text is a message (Python then exits with 1)."""
    if evalue in ("", "None", "False"):
        return 0
    if evalue == "True":
        return 1
    with suppress(ValueError):
        return int(evalue) & 0xFF
    return None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
