"""How a model's answer was got, in words."""

from autogen_nb.core.chats.speaker_selection import mentioned
from autogen_nb.events import ModelReplied, SpeakerAsked, SpeakerGiven


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
