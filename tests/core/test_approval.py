"""When a block may run unasked."""

import pytest

from autogen_nb.core.approval import CONFIRMS, Confirm, asks
from autogen_nb.messages import CodeBlock

PLAIN = CodeBlock("python", "x = 1")
RISKY = CodeBlock("python", "open('x')")


@pytest.mark.parametrize(
    ("confirm", "block", "reasons"),
    [
        ("always", PLAIN, ()),
        ("always", RISKY, ()),
        ("risky", PLAIN, None),
        ("risky", RISKY, ("uses open",)),
        ("risky", CodeBlock("sh", "ls"), ("sh code",)),
        ("never", PLAIN, None),
        ("never", RISKY, None),
    ],
)
def test_policy_decides(confirm: Confirm, block: CodeBlock, reasons: tuple[str, ...] | None) -> None:
    """None lets the block run; reasons, even none, have the person asked."""
    assert asks(confirm, block) == reasons
    assert confirm in CONFIRMS
