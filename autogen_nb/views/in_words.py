"""Describes decisions, calls, pictures, models, numbers and the status of a chat in one line or few, as text.

The caller must escape the text. Remote pictures are named but not loaded, because a request would tell their server who
reads the chat.
"""

import difflib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias, assert_never

from autogen_nb.core.chats.chat_flow import mentioned_names
from autogen_nb.core.chats.termination_checks import EXIT
from autogen_nb.core.policy.rules import parse
from autogen_nb.core.text.visible_text import visible, without_controls
from autogen_nb.effects import ENDED, Effect, EffectJudged
from autogen_nb.errors import ConfigError
from autogen_nb.events import (
    INCOMPLETE,
    ApprovalAsked,
    ApprovalGiven,
    ChatStarted,
    CodeInputAsked,
    CodeInputGiven,
    CodeRan,
    EffectAsked,
    Ended,
    Event,
    FunctionsReturned,
    HumanInputAsked,
    HumanInputGiven,
    ModelReplied,
    Said,
    SpeakerAsked,
    SpeakerGiven,
    completion_of,
)
from autogen_nb.messages import CodeBlock, Completion, FunctionCall, Reasoning, Usage

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


PersonAsked: TypeAlias = HumanInputAsked | ApprovalAsked | EffectAsked | CodeInputAsked
PersonGiven: TypeAlias = HumanInputGiven | ApprovalGiven | EffectJudged | CodeInputGiven
EffectDecision: TypeAlias = tuple[EffectJudged, EffectAsked | None]
_NAMED = 8


def effects_text(decisions: Sequence[EffectDecision], clock: str) -> str:
    verdicts: dict[tuple[str, str], dict[str, None]] = {}
    for answer, question in decisions:
        verdicts.setdefault((_verdict(answer), answer.by), {})[
            about(question.effect) if question is not None else ""
        ] = None
    parts = []
    last = ""
    for (verdict, by), abouts in reversed(verdicts.items()):
        # Names the author of consecutive parts only once.
        parts += [f"by {by}"] if by and by != last else []
        parts.append(f"{verdict}{_effect_list(list(filter(None, abouts)))}")
        last = by
    rules = dict.fromkeys(rule for answer, _ in decisions for rule in answer.rules)
    stopped = "the chat is stopped" if any(answer.stop for answer, _ in decisions) else ""
    first, rest = (parts[:1], parts[1:]) if parts and parts[0].startswith("by ") else ([], parts)
    return joined(*reversed(rest), *_rule_notes(tuple(rules)), stopped, *first, clock)


def _verdict(answer: EffectJudged) -> str:
    if answer == ENDED:
        return "Not decided, since the code has ended"
    return "Allowed" if answer.allowed else f"Denied{_why(answer.reason)}"


def _effect_list(abouts: Sequence[str]) -> str:
    more = len(abouts) - _NAMED
    named_effects = "; ".join([*abouts[:_NAMED], *([f"and {more} more"] if more > 0 else [])])
    return f": {named_effects}" if named_effects else ""


def now() -> str:
    return datetime.now().astimezone().strftime("%H:%M")


def decision_text(answer: PersonGiven, question: PersonAsked | None, clock: str = "") -> str:
    """Formats the decision; "" if a later line shows the decision."""
    match answer:
        case ApprovalGiven():
            line = block_decision(answer, question, clock)
            if isinstance(question, ApprovalAsked) and question.total > 1:
                return f"Block {question.index + 1} of {question.total}: {line}"
            return line[:1].upper() + line[1:]
        case HumanInputGiven(text=text):
            # The same click answered the approval question `then`, and a later line shows that answer.
            if not text and isinstance(question, HumanInputAsked) and question.then is not None:
                return ""
            is_plan = isinstance(question, HumanInputAsked) and question.draft
            what, empty = ("Plan edited", "Plan approved") if is_plan else ("Answered", "Continued without words")
            what = {"": empty, EXIT: "Ended the chat"}.get(text, what)
        case EffectJudged():
            return effects_text([(answer, question if isinstance(question, EffectAsked) else None)], clock)
        case CodeInputGiven():
            what = _input_text(answer, question if isinstance(question, CodeInputAsked) else None)
        case _:
            assert_never(answer)
    return joined(what, f"by {answer.by}" if answer.by else "", clock)


def edited(answer: PersonGiven, question: PersonAsked | None) -> CodeBlock | None:
    if not isinstance(answer, ApprovalGiven) or not isinstance(question, ApprovalAsked):
        return None
    if answer.code is None or answer.code == question.block.code:
        return None
    return CodeBlock(question.block.language, answer.code)


def block_decision(answer: ApprovalGiven, question: PersonAsked | None, clock: str) -> str:
    """Formats a decision for the end of the block's line."""
    if answer.decision == "stop":
        # The last line of the chat says who stopped the chat.
        return "not run"
    what = "skipped" if answer.decision == "skip" else "edited and run" if edited(answer, question) else "run"
    who_and_when = ", ".join(filter(None, (f"{what} by {answer.by}" if answer.by else what, clock)))
    onwards = ", together with all later code of this cell" if answer.onwards else ""
    return joined(f"{who_and_when}{_why(answer.reason)}{onwards}", *_rule_notes(answer.rules))


def _input_text(answer: CodeInputGiven, question: CodeInputAsked | None) -> str:
    prompt = shortened(question.prompt).rstrip(" :") if question is not None else ""
    what = f"Typed for the code{f' (`{prompt}`)' if prompt else ''}"
    if answer.text is None:
        return f"{what}: the end of the input"
    if question is not None and question.password:
        return f"{what}: a password"
    return f"{what}: `{shortened(answer.text)}`" if answer.text else f"{what}: an empty line"


def _why(reason: str) -> str:
    return f" ({shortened(reason)})" if reason else ""


def _rule_notes(rules: Sequence[str]) -> list[str]:
    return [f"from now on: {_rule_in_words(rule)}" for rule in rules]


def _rule_in_words(rule: str) -> str:
    try:
        return parse(rule).words
    except ConfigError:
        return shortened(rule)


_SILENT = 30.0
"""After this many seconds without a piece of a reply, the status line mentions the silence."""

_HOW_TO_STOP = "the notebook's stop button (■) stops it"

MARK: Mapping[str, str] = {"muted": "", "good": "", "warning": "warning: ", "bad": "error: "}
"""The prefixes of lines in plain text, by their tone."""


@dataclass(slots=True)
class Totals:
    """The sums over a chat's events; cached replies add no tokens and no cost.

    `window_share` is the share of the context window that the last request and its reply have filled; None if unknown.
    `incomplete` means that the last answer lacks a part; only the offline model reports this.
    """

    replies: int = 0
    cached: int = 0
    blocks: int = 0
    calls: int = 0
    tokens: int = 0
    cached_tokens: int = 0
    dollars: float = 0.0
    unpriced: bool = False
    window_share: float | None = None
    incomplete: bool = False

    @classmethod
    def of(cls, events: Iterable[Event]) -> "Totals":
        totals = cls()
        for event in events:
            totals.count(event)
        return totals

    def count(self, event: Event) -> None:
        if (reply := completion_of(event)) is not None:
            self.add(reply)
        match event:
            case ModelReplied(completion=completion):
                self.incomplete = completion.finish_reason == INCOMPLETE
                usage, window = completion.usage, completion.window
                self.window_share = usage.total_tokens / window if usage and window else None
                self.replies += 1
                self.cached += completion.cached
            case CodeRan(ran=ran):
                self.blocks += ran
            case FunctionsReturned(contents=contents):
                self.calls += len(contents)
            case _:
                pass

    def add(self, reply: Completion) -> None:
        """Adds the tokens and the cost of a reply."""
        if not reply.cached:
            usage = reply.usage or Usage()
            self.tokens += usage.total_tokens
            self.cached_tokens += usage.cached_tokens
            self.dollars += reply.cost or 0.0
            self.unpriced = self.unpriced or reply.cost is None

    def text(self) -> str:
        cached = f" ({self.cached} from the cache)" if self.cached else ""
        cached_tokens = f" ({self.cached_tokens:,} from the server's cache)" if self.cached_tokens else ""
        return joined(
            counted(self.replies, "reply", "replies") + cached,
            counted(self.blocks, "block run", "blocks run"),
            counted(self.calls, "call", "calls"),
            f"{self.tokens:,} tokens{cached_tokens}" if self.tokens else "",
            "" if self.window_share is None else f"context {max(0.01, self.window_share):.0%} full",
            f"cost {self.cost}" if self.cost == "unknown" and self.tokens else "",
            self.cost if self.dollars else "",
        )

    @property
    def cost(self) -> str:
        if self.unpriced:
            return f"at least {dollars(self.dollars)}" if self.dollars else "unknown"
        return dollars(self.dollars)


def status_line(what: str, seconds: float, *remarks: str, has_text: bool = False) -> str:
    """Formats the status, its duration, and how to stop; `has_text` means that a reply has begun."""
    silent = not has_text and seconds >= _SILENT and what.endswith(THINKING.removeprefix("{}"))
    elapsed = f"no answer for {duration(seconds)}" if silent else duration(seconds)
    return joined(f"{what} …", elapsed, _HOW_TO_STOP, *remarks)


def countdown(reason: str, seconds: float, *remarks: str) -> str:
    return joined(reason, retry_in_words(seconds), _HOW_TO_STOP, *remarks)


THINKING = "{} is thinking"


def end_line(end: Ended, totals: Totals, seconds: float, *remarks: str) -> str:
    how = {
        "stopped": "Stopped by you",
        "exit": "Ended by you",
        "max_auto_replies": "Limit of turns reached",
        "max_turns": "Limit of turns reached",
    }
    done = "Incomplete" if totals.incomplete else "Done"
    return joined(how.get(end.reason, done), totals.text(), duration(seconds), *remarks)
