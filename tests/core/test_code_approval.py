"""When a block may run unasked."""

import pytest

from autogen_nb.core.analysis import asks, reasons
from autogen_nb.effects import CONFIRMS, Confirm, Effect
from autogen_nb.messages import CodeBlock

PLAIN = CodeBlock("python", "x = 1")
RISKY = CodeBlock("python", "open(x, 'w')")


@pytest.mark.parametrize(
    ("confirm", "block", "asked"),
    [
        ("always", PLAIN, True),
        ("always", RISKY, True),
        ("risky", PLAIN, False),
        ("risky", RISKY, True),
        ("risky", CodeBlock("sh", "rm x"), True),
        ("never", PLAIN, False),
        ("never", RISKY, False),
    ],
)
def test_policy_decides(confirm: Confirm, block: CodeBlock, asked: bool) -> None:
    assert (asks(confirm, block) is not None) is asked
    assert confirm in CONFIRMS


@pytest.mark.parametrize("confirm", ["always", "risky"])
def test_person_is_told_what_the_block_does(confirm: Confirm) -> None:
    read = asks(confirm, RISKY)

    assert read
    assert not all(effect.harmless for effect in read)


def test_reasons_are_the_words_of_what_is_not_harmless() -> None:
    read = (Effect("read", "a", "reads a"), Effect("write", "b", "writes b"), Effect("delete", "b", "writes b"))

    assert reasons(read) == ("writes b",)
