"""A person whose words and decisions are written down beforehand; a test double."""

from collections.abc import Sequence

from autogen_nb.events import ApprovalAsked, ApprovalGiven, Decision, HumanInputAsked, HumanInputGiven


class ScriptedHuman:
    """A person with scripted inputs and approvals, each kind in its own order; a test double.

    Parameters
    ----------
    inputs
        What is typed when input is asked for.
    approvals
        What is decided about each block of code: "run", "skip", "stop", or a whole `ApprovalGiven`.

    Attributes
    ----------
    asked : list of HumanInputAsked or ApprovalAsked
        The questions so far, in order.
    """

    def __init__(self, inputs: Sequence[str] = (), approvals: Sequence[ApprovalGiven | Decision] = ()) -> None:
        self.asked: list[HumanInputAsked | ApprovalAsked] = []
        self._inputs = list(inputs)
        self._approvals = list(approvals)

    def __repr__(self) -> str:
        return f"<ScriptedHuman with {len(self._inputs)} inputs and {len(self._approvals)} approvals left>"

    def input(self, question: HumanInputAsked) -> HumanInputGiven:
        """The next scripted input; AssertionError when there is none."""
        self.asked.append(question)
        if not self._inputs:
            raise AssertionError(f"{self!r}: the script has no input for {question.prompt!r}")
        return HumanInputGiven(self._inputs.pop(0), by="scripted")

    def approve(self, question: ApprovalAsked) -> ApprovalGiven:
        """The next scripted decision; AssertionError when there is none."""
        self.asked.append(question)
        if not self._approvals:
            raise AssertionError(f"{self!r}: the script has no decision about {question.block.code!r}")
        decision = self._approvals.pop(0)
        return decision if isinstance(decision, ApprovalGiven) else ApprovalGiven(decision, by="scripted")
