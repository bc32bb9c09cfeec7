"""What code does beyond computing, read from its text before it runs."""

from autogen_nb.acts import Act
from autogen_nb.core.ground import Ground
from autogen_nb.core.harmless import doubts
from autogen_nb.messages import CodeBlock


def acts(block: CodeBlock, ground: Ground | None) -> tuple[Act, ...]:  # noqa: ARG001  # paths are not told apart yet
    """What the block does that reaches beyond the kernel, each once; empty for code that only computes."""
    return tuple(Act("unknown", "", doubt) for doubt in doubts(block))
