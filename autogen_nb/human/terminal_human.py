"""A person at a terminal, or at any front end that supports ``input()``."""

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path

from autogen_nb.core.chats.termination_checks import EXIT
from autogen_nb.core.policy.rules import Rule, proposed_rules
from autogen_nb.core.text.visible_text import visible
from autogen_nb.effects import EffectJudged
from autogen_nb.errors import NobodyThere
from autogen_nb.events import (
    ApprovalAsked,
    ApprovalGiven,
    CodeInputAsked,
    CodeInputGiven,
    EffectAsked,
    HumanInputAsked,
    HumanInputGiven,
)
from autogen_nb.messages import CodeBlock
from autogen_nb.run.surfaces import IOStream

_WHY = "Why (for the assistant, may be empty)? "
_ALWAYS = " al[w]ays allow,"
_LAST_LINE = "."
_NOBODY = (
    "a person was asked and nobody is there to answer: set human_input_mode to 'NEVER', give initiate_chat its "
    "message=, and leave 'confirm' out of code_execution_config"
)


class TerminalHuman:
    def __init__(self, announce: Callable[[], None] = lambda: None, *, terminal: Path | None = None) -> None:
        self._announce = announce
        self._terminal = terminal

    def input(self, question: HumanInputAsked) -> HumanInputGiven:
        self._announce()
        if question.choices:
            IOStream.get_default().print(f"\n{_numbered(question.choices)}\n")
        if question.draft:
            return HumanInputGiven(self._reviewed(question), by="terminal")
        # A model's question may contain control characters.
        text = read_line(f"{visible(question.prompt)} " if question.by_tool else question.prompt)
        return HumanInputGiven(_choice(text, question.choices) or text, by="terminal")

    def _reviewed(self, question: HumanInputAsked) -> str:
        while True:
            match read_line(f"{question.prompt} [y]es, [e]dit, s[t]op: ").strip().lower():
                case "y" | "yes":
                    return ""
                case "e" | "edit" if (text := _edit(CodeBlock("text", question.draft), self._terminal)) is not None:
                    return text
                case "t" | "stop":
                    return EXIT

    def approve(self, question: ApprovalAsked) -> ApprovalGiven:
        self._announce()
        IOStream.get_default().print(_approval_text(question))
        offered = proposed_rules(question.effects_for_rules)
        more = (" [a]ll from here," if question.onwards else "") + (_ALWAYS if offered else "")
        while True:
            match read_line(f"[r]un, [e]dit, [s]kip,{more} s[t]op? ").strip().lower():
                case "r" | "run" | "y" | "yes":
                    return ApprovalGiven("run", by="terminal")
                case "a" | "all" if question.onwards:
                    return ApprovalGiven("run", by="terminal", onwards=True)
                case "w" | "always" if offered and (rule := _read_rule(offered)):
                    return ApprovalGiven("run", by="terminal", rules=(rule,))
                case "e" | "edit" if (code := _edit(question.block, self._terminal)) is not None:
                    return ApprovalGiven("run", code=code, by="terminal")
                case "s" | "skip" | "n" | "no":
                    return ApprovalGiven("skip", reason=read_line(_WHY), by="terminal")
                case "t" | "stop":
                    return ApprovalGiven("stop", by="terminal")

    def allow(self, question: EffectAsked) -> EffectJudged:
        self._announce()
        line = f", at the line\n\n    {visible(question.line)}\n" if question.line else "."
        IOStream.get_default().print(f"\n{question.who.capitalize()} {visible(question.effect.words)}{line}")
        try:
            return _read_judgement(proposed_rules((question.effect,)))
        except NobodyThere:
            return EffectJudged(allowed=False, reason="nobody answered")

    def typed(self, question: CodeInputAsked) -> CodeInputGiven:
        try:
            text = IOStream.get_default().input(visible(question.prompt), password=question.password)
            return CodeInputGiven(text, by="terminal")
        except _NO_INPUT:
            return CodeInputGiven(None)


def _read_judgement(offered: Sequence[Rule]) -> EffectJudged:
    while True:
        match read_line(f"Allow it: [y]es, [n]o,{_ALWAYS if offered else ''} s[t]op? ").strip().lower():
            case "y" | "yes" | "a" | "allow":
                return EffectJudged(allowed=True, by="terminal")
            case "w" | "always" if offered and (rule := _read_rule(offered)):
                return EffectJudged(allowed=True, by="terminal", rules=(rule,))
            case "n" | "no" | "d" | "deny":
                return EffectJudged(allowed=False, reason=read_line(_WHY), by="terminal")
            case "t" | "stop":
                return EffectJudged(allowed=False, by="terminal", stop=True)


def _read_rule(offered: Sequence[Rule]) -> str:
    IOStream.get_default().print(f"\n{_numbered([rule.words for rule in offered])}\n")
    number = read_line("The number of the rule (for all notebooks from now on; Enter goes back)? ")
    return _choice(number, list(map(str, offered)))


def _numbered(texts: Sequence[str]) -> str:
    return "\n".join(f"    {number}. {visible(text)}" for number, text in enumerate(texts, 1))


def _choice(text: str, choices: Sequence[str]) -> str:
    number = text.strip()
    return choices[int(number) - 1] if number.isdecimal() and 0 < int(number) <= len(choices) else ""


# In a Jupyter front end without input, `input()` raises a subclass of NotImplementedError.
_NO_INPUT = (EOFError, NotImplementedError)


def read_line(prompt: str, *, at_end: str = _NOBODY) -> str:
    try:
        return IOStream.get_default().input(prompt)
    except _NO_INPUT as error:
        raise NobodyThere(at_end) from error


def _approval_text(question: ApprovalAsked) -> str:
    why = f" ({'; '.join(question.reasons)})" if question.reasons else ""
    which = "this code" if question.total == 1 else f"block {question.index + 1} of {question.total}"
    # The terminal has already shown the code in the message, but possibly with deceptive characters.
    code = "\n".join(f"    {line}" for line in visible(question.block.code).split("\n"))
    return f"\n{visible(f'{question.agent} asks to run {which}{why}')}:\n\n{code}\n"


def _edit(block: CodeBlock, terminal: Path | None) -> str | None:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor or not (terminal or sys.stdin.isatty()):
        what = "text" if block.language == "text" else "code"
        first = read_line(f"The new {what}, ended by a line with only {_LAST_LINE!r}:\n")
        return "" if first == _LAST_LINE else "\n".join((first, *iter(lambda: read_line(""), _LAST_LINE)))
    suffix = {"python": ".py", "text": ".txt"}.get(block.language, ".sh")
    with tempfile.TemporaryDirectory(prefix="autogen_nb-") as folder:
        file = Path(folder, f"block{suffix}")
        file.write_text(block.code + "\n", encoding="utf-8")
        try:
            with terminal.open("r+b", buffering=0) if terminal else nullcontext() as terminal_file:
                command = [*shlex.split(editor), str(file)]
                subprocess.run(command, check=True, stdin=terminal_file, stdout=terminal_file, stderr=terminal_file)  # noqa: S603  # the person's own editor
        except (OSError, subprocess.CalledProcessError, ValueError) as error:
            IOStream.get_default().print(f"The editor {editor!r} failed, and nothing ran: {error}")
            return None
        return file.read_text(encoding="utf-8").removesuffix("\n")
