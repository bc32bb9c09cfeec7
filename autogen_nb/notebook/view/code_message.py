"""A message whose code blocks fold to one line each, with the decision about the block and its result."""

from collections.abc import Sequence
from dataclasses import dataclass

from autogen_nb.events import ApprovalAsked, ApprovalGiven, CodeRan
from autogen_nb.messages import CodeBlock
from autogen_nb.notebook.rendering import chat_html
from autogen_nb.notebook.rendering.styles import Tone
from autogen_nb.notebook.view import decision_line, status_line
from autogen_nb.notebook.view.slots import Slot


@dataclass(slots=True)
class _BlockLine:
    block: CodeBlock
    edited: CodeBlock | None = None
    decision: str = ""
    seconds: str = ""
    tone: Tone = "muted"
    runs: bool = False


class CodeMessage:
    def __init__(self, slot: Slot, html: str, plain: str, *, unfolded: bool) -> None:
        self.slot = slot
        self._unfolded = unfolded
        self._html = html
        self._plain = plain
        self._lines: list[_BlockLine] = []

    def limit_height(self, blocks: int) -> None:
        """Limits the height of the code, so that the question below it stays in sight."""
        html, plain = self._rendered()
        self._show(chat_html.limited(html, blocks) + chat_html.follow(), plain)

    def decide(self, answer: ApprovalGiven, question: ApprovalAsked, clock: str) -> bool:
        """Shows the decision in the block's line; returns False if the message lacks the block."""
        line = _BlockLine(
            question.block,
            decision_line.edited(answer, question),
            decision_line.block_text(answer, question, clock),
            runs=answer.decision == "run",
        )
        before = self._rendered()
        self._lines.append(line)
        html, plain = self._rendered()
        if html == before[0]:
            self._lines.remove(line)
            return False
        self._show(chat_html.limited(html, question.total), plain)
        return True

    def end(self, ran: CodeRan, blocks: Sequence[CodeBlock]) -> None:
        """Folds the blocks that ran."""
        for block in blocks:
            line = next((line for line in self._lines if line.runs and block == (line.edited or line.block)), None)
            if line is None:
                line = _BlockLine(block)
                self._lines.append(line)
            line.runs = False
            line.tone = "bad" if ran.exit_code != 0 and block is blocks[-1] else "good"
            line.seconds = status_line.duration(ran.seconds) if len(blocks) == 1 else ""
        self._show(*self._rendered())

    def _rendered(self) -> tuple[str, str]:
        html, rest, plain = "", self._html, [self._plain]
        for line in self._lines:
            details = (line.seconds, line.decision)
            folded, rest = chat_html.fold(
                rest, line.block, *details, tone=line.tone, edited=line.edited, opened=line.runs or self._unfolded
            )
            html += folded
            plain.append(chat_html.block_text(line.edited or line.block, *details))
        return html + rest, "\n".join(plain)

    def _show(self, html: str, plain: str) -> None:
        self.slot.show(*chat_html.bundle(html, plain, kind="message"))
