"""What a message holds besides its text, and how its answer was got, in words: for a terminal, and for a cell.

Arguments, results and addresses are untrusted and are returned as text: whoever shows them escapes them. A picture that
a message holds may be shown; one that lies elsewhere is named and never loaded, since asking for it would tell its
server who reads the chat.
"""

import json
import re

from autogen_nb.core.chats.speaker_selection import mentioned
from autogen_nb.core.text.visible_text import visible
from autogen_nb.events import ModelReplied, SpeakerAsked, SpeakerGiven
from autogen_nb.messages import FunctionCall

SHORT = 100
"""Characters that stand in one line with the function's name."""

LONGEST = 100_000
"""Characters of arguments, or of a result, that are shown at most; the model gets all of them."""

_FAILED = "Error: "
_HELD = re.compile(r"data:(?P<mime>image/(?:png|jpeg|gif|webp));base64,(?P<text>.*)", re.DOTALL | re.IGNORECASE)
_LONGEST_URL = 200
"""Characters of an address that are shown."""


def arguments_of(call: FunctionCall) -> str:
    """The arguments as JSON that a person can read, in one line where they are short; as they are if not JSON."""
    try:
        given = json.loads(call.arguments or "{}")
        line = json.dumps(given, ensure_ascii=False)
        text = line if len(line) <= SHORT else json.dumps(given, ensure_ascii=False, indent=2)
    # Brackets may be nested deeper than Python reads.
    except (ValueError, RecursionError):
        text = call.arguments
    return bounded(visible("" if text == "{}" else text))


def name_of(call: FunctionCall) -> str:
    """The name that the model wrote, on one line; no function has to be called so."""
    return visible(" ".join(call.name.split())[:SHORT]) or "a function without a name"


def failed(content: str) -> bool:
    """Whether the text that was returned tells of a failure."""
    return content.startswith(_FAILED)


def bounded(text: str) -> str:
    """The text up to `LONGEST` characters, with a line that says how many are not shown."""
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}\n\u2026 [{len(text) - LONGEST:,} more characters are not shown]"


def asked_in_words(call: FunctionCall) -> str:
    """A call as plain text."""
    return f"calls {name_of(call)}({arguments_of(call)})"


def returned_in_words(call: FunctionCall, content: str) -> str:
    """What a call returned as plain text; a longer text stands below its line."""
    if not content:
        return f"{name_of(call)} returned nothing"
    gap = " " if len(content) <= SHORT and "\n" not in content else "\n"
    return f"{name_of(call)} returned:{gap}{bounded(content)}"


def held_picture(url: str) -> tuple[str, str] | None:
    """The media type and the base64 text of a picture that the address itself holds."""
    found = _HELD.fullmatch(url)
    return None if found is None else (found["mime"].lower(), found["text"])


def picture_in_words(url: str) -> str:
    picture = held_picture(url)
    if picture is not None:
        return f"[picture, {picture[0]}, {len(picture[1]) * 3 // 4:,} bytes]"
    short = url if len(url) <= _LONGEST_URL else f"{url[:_LONGEST_URL]}\u2026"
    return f"[picture at {visible(' '.join(short.split()))}]"


def answered_by(reply: ModelReplied) -> str:
    """Which model answered, and whether its answer was only looked up."""
    return ", ".join(part for part in (reply.model, "from the cache" if reply.cached else "") if part)


def thought(reply: ModelReplied) -> str:
    """How long the model thought, and in how many tokens; "" where it did not tell its thoughts."""
    if reply.reasoning is None:
        return ""
    tokens = "" if reply.reasoning.tokens is None else f", {reply.reasoning.tokens:,} tokens"
    return f"thought for {reply.reasoning.seconds:.1f} s{tokens}"


def chosen(asked: SpeakerAsked | None, given: SpeakerGiven) -> str:
    """Whom a model chose to speak next; "" where it did not choose, or named nobody or several."""
    if asked is None or asked.method != "auto" or not given.said:
        return ""
    named = mentioned(given.said, asked.candidates)
    if len(named) != 1:
        return ""
    return f"next: {named[0]}" + (f" (named at attempt {len(asked.tried) + 1})" if asked.tried else "")
