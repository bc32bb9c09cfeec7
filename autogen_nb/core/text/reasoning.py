"""Separates a model's reasoning from its answer if the server returns both in one text.

1. ``<think>`` at the start of the text begins a thought, which ends at ``</think>`` or at the end of the text. More
   thoughts may follow.
2. Some chat templates put ``<think>`` into the prompt. Then the text begins with the thought, and has only
   ``</think>``.
3. A tag in the answer, in inline code or inside a line of a fenced block belongs to the answer.
"""

import re
from collections.abc import Iterator

OPEN = "<think>"
CLOSE = "</think>"

_TAGS = re.compile(f"{OPEN}|{CLOSE}")
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)


class ReasoningSplitter:
    """Splits streamed text; holds back text that may be the beginning of a tag."""

    def __init__(self) -> None:
        self._thinking = False
        self._answering = False
        self._begun = False
        self._pending = ""

    def add(self, text: str) -> tuple[str, str]:
        thought: list[str] = []
        self._pending += text
        while not self._answering:
            if self._thinking:
                before, closed, after = self._pending.partition(CLOSE)
                if not closed:
                    # The text may end with the beginning of the tag.
                    cut = len(before) - max(size for size in range(len(CLOSE)) if before.endswith(CLOSE[:size]))
                    self._pending = before[cut:]
                    return "".join([*thought, before[:cut]]), ""
                thought.append(before)
                self._thinking, self._pending = False, after
            rest = self._pending.lstrip()
            if rest.startswith(OPEN):
                self._thinking = self._begun = True
                self._pending = rest[len(OPEN) :]
            elif OPEN.startswith(rest):
                return "".join(thought), ""
            else:
                self._answering = True
                self._pending = rest if self._begun else self._pending
        answer, self._pending = self._pending, ""
        return "".join(thought), answer

    def end(self) -> tuple[str, str]:
        rest, self._pending = self._pending, ""
        if self._thinking:
            return rest, ""
        return "", rest if rest.strip() or not self._begun else ""


def split_unopened(text: str) -> tuple[str, str]:
    """The thought and the answer in a complete text that may lack ``<think>``; without a thought, "" and the text."""
    depth = cut = 0
    for tag in _unquoted_tags(text):
        if tag[0] == OPEN:
            depth += 1
        elif depth:
            depth -= 1
        else:
            cut = tag.end()
    return (text[:cut].removesuffix(CLOSE), text[cut:].lstrip()) if cut else ("", text)


def _unquoted_tags(text: str) -> Iterator[re.Match[str]]:
    line = ""
    begin, end, read = 0, -1, 0
    fenced = in_code = False
    # Scans no text twice, because a model that repeats itself may write a million tags.
    for tag in _TAGS.finditer(text):
        if tag.start() > end:
            before, begin = begin, text.rfind("\n", 0, tag.start()) + 1
            fenced ^= bool(len(_FENCE.findall(text, before, begin)) % 2)
            end = text.find("\n", tag.end())
            end = len(text) if end < 0 else end
            line, in_code, read = text[begin:end].strip(), False, begin
        in_code ^= bool(text.count("`", read, tag.start()) % 2)
        read = tag.end()
        if not (line != tag[0] if fenced else in_code):
            yield tag
