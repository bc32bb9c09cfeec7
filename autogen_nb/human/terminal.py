"""A person at a terminal, or at any front end that answers ``input()``."""

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from autogen_nb.core.visible import visible
from autogen_nb.errors import NobodyThere
from autogen_nb.events import ApprovalAsked, ApprovalGiven, HumanInputAsked, HumanInputGiven
from autogen_nb.messages import CodeBlock

_WHY = "Why (for the assistant, may be empty)? "
_CHOICES = "[r]un, [e]dit, [s]kip, s[t]op? "
_END = "."


class TerminalHuman:
    """The human who reads the terminal and types."""

    def input(self, question: HumanInputAsked) -> HumanInputGiven:
        """What the person types."""
        return HumanInputGiven(_typed(question.prompt), by="terminal")

    def approve(self, question: ApprovalAsked) -> ApprovalGiven:
        """What the person decides about the code, which is shown as it is; an unclear answer is asked again."""
        print(_shown(question))  # noqa: T201  # this is the person's terminal
        while True:
            match _typed(_CHOICES).strip().lower():
                case "r" | "run" | "y" | "yes":
                    return ApprovalGiven("run", by="terminal")
                case "e" | "edit":
                    code = _edited(question.block)
                    if code is not None:
                        return ApprovalGiven("run", code=code, by="terminal")
                case "s" | "skip" | "n" | "no":
                    return ApprovalGiven("skip", reason=_typed(_WHY), by="terminal")
                case "t" | "stop":
                    return ApprovalGiven("stop", by="terminal")
                case _:
                    continue


def _typed(prompt: str) -> str:
    try:
        return input(prompt)
    # A Jupyter front end that takes no input raises an error of its own, which is a NotImplementedError.
    except (EOFError, NotImplementedError) as error:
        raise NobodyThere(
            "a person was asked and nobody is there to answer: set human_input_mode to 'NEVER', "
            "give initiate_chat its message=, and leave 'confirm' out of code_execution_config"
        ) from error


def _shown(question: ApprovalAsked) -> str:
    why = f" ({'; '.join(question.reasons)})" if question.reasons else ""
    which = "this code" if question.total == 1 else f"block {question.index + 1} of {question.total}"
    # What a message looked like while it streamed by is not what is approved: this is.
    code = "\n".join(f"    {line}" for line in visible(question.block.code).split("\n"))
    return f"\n{visible(f'{question.agent} is to run {which}{why}')}:\n\n{code}\n"


def _edited(block: CodeBlock) -> str | None:
    """The code as the person leaves it in the editor; None where the editor failed, which runs nothing."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor or not sys.stdin.isatty():
        return _retyped()
    suffix = ".py" if block.language == "python" else ".sh"
    with tempfile.TemporaryDirectory(prefix="autogen_nb-") as folder:
        file = Path(folder, f"block{suffix}")
        file.write_text(block.code + "\n", encoding="utf-8")
        try:
            subprocess.run([*shlex.split(editor), str(file)], check=True)  # noqa: S603  # the person's own editor
        except (OSError, subprocess.CalledProcessError, ValueError) as error:
            print(f"The editor {editor!r} did not end well, and nothing was run: {error}")  # noqa: T201  # as above
            return None
        return file.read_text(encoding="utf-8").removesuffix("\n")


def _retyped() -> str:
    lines = []
    line = _typed(f"The new code, ended by a line with {_END!r} alone:\n")
    while line != _END:
        lines.append(line)
        line = _typed("")
    return "\n".join(lines)
