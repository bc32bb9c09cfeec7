from pathlib import Path

from autogen_nb.core.analysis import effects_to_confirm
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.messages import CodeBlock

GROUND = PathScope("/home/ann/work", "/home/ann/work/autogen_files/main", "/home/ann", private_temporary=True)


def blocks(name: str) -> dict[str, CodeBlock]:
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    parts = [part.partition("\n") for part in text.split("=== ")[1:]]
    heads = [head.rpartition(" | ") for head, _, _ in parts]
    return {head[0]: CodeBlock(head[2], code.rstrip("\n")) for head, (_, _, code) in zip(heads, parts, strict=True)}


ATTACKS = blocks("attacks.txt")
IDIOMS = blocks("idioms.txt")


def asked_about(named: dict[str, CodeBlock]) -> set[str]:
    return {name for name, block in named.items() if effects_to_confirm("risky", block, GROUND) is not None}


def test_attacks_are_asked_about() -> None:
    assert set(ATTACKS) - asked_about(ATTACKS) == set()


def test_harmless_idioms_are_not_asked_about() -> None:
    assert asked_about(IDIOMS) == set()
