"""Describes calls, pictures, models and numbers in one line or few, as text, which the caller must escape.

Remote pictures are named but not loaded, because a request would tell their server who reads the chat.
"""

import difflib
import json
import math
import re
from collections.abc import Iterable

from autogen_nb.core.chats.speaker_selection import mentioned_names
from autogen_nb.core.text.visible_text import visible, without_controls
from autogen_nb.effects import Effect
from autogen_nb.events import ChatStarted, FunctionsReturned, ModelReplied, Said, SpeakerAsked, SpeakerGiven
from autogen_nb.messages import FunctionCall, Reasoning

SHORT = 100  # the maximum length of arguments on one line

LONGEST = 100_000  # the maximum length of a text on screen; the model receives the whole text

_LONG_LINE = 300
_SMALLEST = 0.0001
_FAILED = "Error: "
_EMBEDDED = re.compile(r"data:(?P<mime>image/(?:png|jpeg|gif|webp));base64,(?P<text>.*)", re.DOTALL | re.IGNORECASE)
_LONGEST_URL = 200


def arguments_of(call: FunctionCall) -> str:
    """Formats the arguments as JSON, on one line if they are short; arguments that are not JSON stay unchanged."""
    try:
        decoded = json.loads(call.arguments or "{}", strict=False)
        line = json.dumps(decoded, ensure_ascii=False)
        text = line if len(line) <= SHORT else json.dumps(decoded, ensure_ascii=False, indent=2)
    # JSON may be nested deeper than Python's recursion limit.
    except (ValueError, RecursionError):
        text = call.arguments
    return bounded(visible("" if text == "{}" else text))


def name_of(call: FunctionCall) -> str:
    """Returns the function's name on one line, because a model may invent any name."""
    return visible(" ".join(call.name.split())[:SHORT]) or "a function without a name"


def marked_results(returned: FunctionsReturned) -> list[str]:
    """The results, each failure with the mark for `failed`."""
    return [
        f"{_FAILED}{content}" if index in returned.failed and not failed(content) else content
        for index, content in enumerate(returned.contents)
    ]


def failed(content: str) -> bool:
    return content.startswith(_FAILED)


def bounded(text: str, limit: int = LONGEST) -> str:
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n\u2026 [{len(text) - limit:,} more characters are not shown]"


def retry_in_words(seconds: float) -> str:
    return f"trying again in {math.ceil(seconds)} s"


def call_in_words(call: FunctionCall) -> str:
    return f"calls {name_of(call)}({arguments_of(call)})"


def result_in_words(call: FunctionCall, content: str) -> str:
    if not content:
        return f"{name_of(call)} returned nothing"
    gap = " " if len(content) <= SHORT and "\n" not in content else "\n"
    return f"{name_of(call)} returned:{gap}{bounded(content)}"


def embedded_picture(url: str) -> tuple[str, str] | None:
    """Returns the media type and the base64 text of a picture in a data URL; None for other URLs."""
    match = _EMBEDDED.fullmatch(url)
    return None if match is None else (match["mime"].lower(), match["text"])


def picture_in_words(url: str) -> str:
    picture = embedded_picture(url)
    if picture is not None:
        return f"[picture, {picture[0]}, {len(picture[1]) * 3 // 4:,} bytes]"
    short = url if len(url) <= _LONGEST_URL else f"{url[:_LONGEST_URL]}\u2026"
    return f"[picture at {visible(' '.join(short.split()))}]"


def origin(statement: Said, reply: ModelReplied | None, pair: ChatStarted | None) -> str:
    """Formats the recipient of a message of a nested chat, and the reply's model and duration."""
    is_nested = pair is not None and statement.recipient not in (pair.initiator, pair.recipient)
    to = f"to {statement.recipient}" if is_nested else ""
    if reply is None:
        return to
    completion = reply.completion
    return joined(to, completion.model, "from the cache" if completion.cached else duration(reply.seconds))


def reasoning_text(reasoning: Reasoning) -> str:
    tokens = "" if reasoning.tokens is None else f"{reasoning.tokens:,} tokens"
    return joined(f"thought for {duration(reasoning.seconds)}", tokens)


def speaker_choice(question: SpeakerAsked | None, answer: SpeakerGiven) -> str:
    """Describes the model's choice of a speaker; "" if the model did not name exactly one."""
    if question is None or question.method != "auto" or not answer.said:
        return ""
    named = mentioned_names(answer.said, question.candidates)
    if len(named) != 1:
        return ""
    return f"next: {named[0]}" + (f" (named at attempt {len(question.tried) + 1})" if question.tried else "")


def about(effect: Effect) -> str:
    return shortened(effect.words or effect.kind.replace("_", " "))


def duration(seconds: float) -> str:
    if seconds < 0.1:  # noqa: PLR2004  # never "0.0 s"
        return "< 0.1 s"
    if seconds < 0.95:  # noqa: PLR2004  # would round to 1.0 s
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def shortened(text: str, limit: int = _LONG_LINE) -> str:
    """Shortens untrusted text to one line without backticks, with invisible characters made visible."""
    line = visible(" ".join(without_controls(text).replace("`", "'").split()))
    return line if len(line) <= limit else f"{line[:limit]}…"


def did_you_mean(word: str, known: Iterable[str], otherwise: str) -> str:
    """Asks about the known word that is most similar; returns `otherwise` if none is similar."""
    near = difflib.get_close_matches(word, [each for each in known if each != word], n=1)
    return f"did you mean {near[0]!r}?" if near else otherwise


def joined(*parts: str) -> str:
    return " · ".join(filter(None, parts))


def dollars(amount: float) -> str:
    if 0 < amount < _SMALLEST:
        return f"< ${_SMALLEST}"
    return f"${amount:,.2f}" if amount >= 1 or not amount else f"${amount:.4f}"


def counted(number: int, singular: str, plural: str) -> str:
    return "" if not number else f"{number} {singular if number == 1 else plural}"
