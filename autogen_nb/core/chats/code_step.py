"""The step that runs the code of a message.

1. The agent runs the code of the newest message with code, if it has not yet run this message's code. `reach` is the
   number of messages to search; "auto" searches back to the agent's own last message.
2. Blocks run in order. The first failure ends the run, and the reply says how many blocks did not run.
3. If the user skips or edits a block, the reply contains the user's reason or the edited code.
"""

from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal, TypeAlias

from autogen_nb.core.analysis import effects, effects_to_confirm, permissions, reasons
from autogen_nb.core.chats.reply_steps import AgentSpec, Asking, ConversationState, Outcome, Reply, Stop, ask
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.core.text.code_blocks import CodeReading
from autogen_nb.core.text.outputs import MODEL_LIMIT, MOST_PICTURES, pictures_of, report, shorten, text_of
from autogen_nb.effects import Confirm, EffectJudged, Permissions
from autogen_nb.events import ApprovalAsked, ApprovalGiven, CodeAsked, CodeRan
from autogen_nb.messages import CodeBlock, Message

Reach: TypeAlias = int | Literal["auto"]

UNCLOSED = (
    "The last code block of your message has no closing fence, so it may be incomplete and was not run. "
    "Send the whole block again, with a closing fence."
)


@dataclass(frozen=True, slots=True)
class RunCode:
    """`guarded` is True if the code runs behind the guard."""

    reach: Reach = "auto"
    confirm: Confirm = "never"
    together: bool = False
    sources: frozenset[str] | None = None
    pictures: bool = False
    scope: PathScope | None = None
    guarded: bool = False

    def __call__(self, state: ConversationState, spec: AgentSpec, peer: str) -> Asking[Outcome]:
        newest = self._newest(state, spec, peer)
        if newest is None or not state.claim(spec.name, peer, newest[0]):
            return None
        reading = newest[1]
        if not reading.blocks:
            return Reply(Message(UNCLOSED))
        run = _Run(self.pictures)
        if (yield from self._run_blocks(spec, run, reading.blocks)) == "stop":
            return Stop("stopped")
        if reading.unclosed:
            run.notes.append(UNCLOSED)
        return Reply(run.reply())

    def foresee(self, state: ConversationState, spec: AgentSpec, peer: str) -> ApprovalAsked | None:
        """The first question of the step, without running the step; None if the step asks nothing."""
        newest = self._newest(state, spec, peer)
        if newest is None or not newest[1].blocks or state.is_claimed(spec.name, peer, newest[0]):
            return None
        blocks = newest[1].blocks
        return self._approval_question(spec, blocks[0], 0, len(blocks))

    def _newest(self, state: ConversationState, spec: AgentSpec, peer: str) -> tuple[int, CodeReading] | None:
        exchanged = state.exchanged(spec.name, peer)
        for back, index in enumerate(range(len(exchanged) - 1, -1, -1)):
            said = exchanged[index]
            if back == self.reach or (self.reach == "auto" and said.sender == spec.name):
                return None
            # No agent wrote the code in an output or in a tool's result, so it does not run.
            if said.kind in ("output", "tools") or (self.sources is not None and said.sender not in self.sources):
                continue
            reading = state.reading(spec.name, peer, index)
            if reading.blocks or reading.unclosed:
                return index, reading
        return None

    def _run_blocks(
        self, spec: AgentSpec, run: "_Run", blocks: tuple[CodeBlock, ...]
    ) -> Asking[Literal["done", "stop"]]:
        approved_blocks: list[CodeBlock] = []
        for index, block in enumerate(blocks):
            approved = yield from self._approved(spec, run, block, index, len(blocks))
            if approved == "stop":
                return "stop"
            if isinstance(approved, CodeBlock):
                approved_blocks.append(approved)
            following = len(blocks) - index - 1
            if not approved_blocks or (self.together and following):
                continue
            ran = yield from ask(self._question(spec, tuple(approved_blocks)), CodeRan)
            run.add(ran)
            for event in ran.inner:
                if isinstance(event, EffectJudged) and event.stop:
                    return "stop"
            if run.exit_code != 0:
                run.blocks_left = following + len(approved_blocks) - max(ran.ran, 1)
                break
            approved_blocks.clear()
        return "done"

    def _question(self, spec: AgentSpec, blocks: tuple[CodeBlock, ...]) -> CodeAsked:
        if self.confirm == "never":
            return CodeAsked(spec.name, blocks)
        allowed = (permissions(block, self.scope, guarded=self.guarded).effects for block in blocks)
        return CodeAsked(spec.name, blocks, Permissions(tuple(dict.fromkeys(chain.from_iterable(allowed)))))

    def _approval_question(self, spec: AgentSpec, block: CodeBlock, index: int, total: int) -> ApprovalAsked | None:
        if self.confirm == "never":
            return None
        asked = effects_to_confirm(self.confirm, block, self.scope, guarded=self.guarded)
        if asked is None:
            return None
        words = reasons(effects(block, self.scope))
        return ApprovalAsked(spec.name, block, index, total, words, asked, self.confirm == "always")

    def _approved(
        self, spec: AgentSpec, run: "_Run", block: CodeBlock, index: int, total: int
    ) -> Asking[CodeBlock | Literal["skip", "stop"]]:
        question = self._approval_question(spec, block, index, total)
        if question is None:
            return block
        approval = yield from ask(question, ApprovalGiven)
        if approval.decision != "run":
            run.notes.append(f"The user skipped a block. The reason: {approval.reason or 'none was given'}.")
            return approval.decision
        if approval.code is None or approval.code == block.code:
            return block
        run.notes.append(f"The user changed the code before it ran. This is what ran:\n{approval.code}")
        return CodeBlock(block.language, approval.code)


@dataclass(slots=True)
class _Run:
    pictures: bool
    exit_code: int = 0
    blocks_left: int = 0
    texts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    picture_parts: list[dict[str, Any]] = field(default_factory=list)

    def add(self, ran: CodeRan) -> None:
        self.exit_code = ran.exit_code
        self.texts.append(text_of(ran.outputs, limit=None))
        if self.pictures:
            self.picture_parts += pictures_of(ran.outputs)
        if ran.note:
            self.notes.append(ran.note)
        if ran.whole:
            self.notes.append(f"The output is long; all of it is in {ran.whole!r}.")

    def reply(self) -> Message:
        if self.blocks_left:
            self.notes.append(f"{self.blocks_left} later block(s) did not run, because the one before failed.")
        notes = "\n".join(["", *self.notes])
        if self.texts:
            text = report(self.exit_code, shorten("\n".join(filter(None, self.texts)), MODEL_LIMIT) + notes)
        else:
            text = f"The code was not run.{notes}"
        pictures = self.picture_parts[-MOST_PICTURES:]
        return Message([{"type": "text", "text": text}, *pictures] if pictures else text)
