"""A streaming reply: its thoughts, which are unfolded until the answer begins, and the answer."""

from collections.abc import Callable

from autogen_nb.core.chats.termination_checks import END_WORD, WordFilter
from autogen_nb.core.text.reasoning import split_unopened
from autogen_nb.messages import Reasoning
from autogen_nb.notebook.rendering import chat_html, styles
from autogen_nb.notebook.rendering.markdown import markdown
from autogen_nb.notebook.rendering.styles import SpeakerTone
from autogen_nb.notebook.rendering.terminal_text import only_colours
from autogen_nb.notebook.view import status_line


class ReplyDraft:
    def __init__(self, writer: str, clock: Callable[[], float]) -> None:
        self.writer = writer
        self._clock = clock
        self._lines = WordFilter(END_WORD)
        self._pieces: list[str] = []
        self._thoughts: list[str] = []
        self._begun = clock()
        self._seconds = 0.0

    @property
    def empty(self) -> bool:
        return not self._pieces and not self._thoughts

    @property
    def answering(self) -> bool:
        return bool(self._pieces)

    def think(self, text: str) -> None:
        self._thoughts.append(text)

    def write(self, text: str) -> None:
        """Adds to the answer; the start of a possible termination word is held back."""
        if shown := self._lines.add(text):
            self._seconds = self._seconds if self._pieces else self._clock() - self._begun
            self._pieces.append(shown)

    def render(self, detail: str, tone: SpeakerTone) -> tuple[str, str]:
        if detail != "writing":
            self._pieces.append(self._lines.end())
        unopened, text = split_unopened("".join(self._pieces))
        thought = Reasoning("".join((*self._thoughts, unopened)).strip(), self._seconds or self._clock() - self._begun)
        above = ""
        if thought.text and not text and detail == "writing":
            above, detail = _inset(thought.text), "thinking"
        elif thought.text:
            above = folded_thought(thought)
        html = chat_html.card(self.writer, above + markdown(text), detail=detail, tone=tone)
        thought_line = status_line.thought(thought) if thought.text and detail != "thinking" else ""
        plain = "\n".join(filter(None, (f"{self.writer} ({detail}):", thought_line, only_colours(text))))
        return styles.PAGE + html, plain


def folded_thought(thought: Reasoning) -> str:
    """Renders thoughts folded below a line with their duration."""
    return chat_html.opened_by(status_line.thought(thought), _inset(thought.text), style=styles.MUTED_LINE)


def _inset(thought: str) -> str:
    return f'<div style="{styles.THOUGHT}">{markdown(thought)}</div>'
