from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.core.analysis import effects, effects_to_confirm
from autogen_nb.core.analysis.library_effects import COMPUTES
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.messages import CodeBlock
from tests.corpus import sections

GROUND = PathScope("/home/ann/work", "/home/ann/work/autogen_files/main", "/home/ann", private_temporary=True)


def blocks(name: str) -> dict[str, tuple[CodeBlock, str]]:
    """The snippets below the lines ``=== name | language kind``; the kind of effect may be left out."""
    heads = [(head.rpartition(" | "), code) for head, code in sections(Path(__file__).with_name(name))]
    return {name: (CodeBlock(about.split()[0], code), about.partition(" ")[2]) for (name, _, about), code in heads}


ATTACKS = blocks("attacks.txt")
IDIOMS = blocks("idioms.txt")


def asked_about(named: dict[str, tuple[CodeBlock, str]]) -> set[str]:
    return {name for name, (block, _) in named.items() if effects_to_confirm("risky", block, GROUND) is not None}


def risky(code: str) -> bool:
    return effects_to_confirm("risky", CodeBlock("python", code), GROUND) is not None


def test_attacks_are_asked_about() -> None:
    assert set(ATTACKS) - asked_about(ATTACKS) == set()


@pytest.mark.parametrize("name", [name for name, (_, kind) in ATTACKS.items() if kind])
def test_attack_is_asked_about_for_the_right_reason(name: str) -> None:
    block, kind = ATTACKS[name]

    assert kind in {effect.kind for effect in effects(block, GROUND)}


def test_harmless_idioms_are_not_asked_about() -> None:
    assert asked_about(IDIOMS) == set()


def test_code_that_is_nested_too_deeply_is_asked_about() -> None:
    assert risky("-" * 50_000 + "1")


def test_many_assignments_of_one_name_hide_nothing() -> None:
    lines = [f"df = df.assign(a{number}=df['b'] + {number})" for number in range(20)]

    assert not risky("\n".join(lines))
    assert risky("\n".join([*lines, "open('/x', 'w')"]))


@pytest.mark.parametrize("name", ["d0", "(d0,)[0]", "[(d0,)[0]][0]"])
def test_a_long_chain_of_texts_can_be_read(name: str) -> None:
    chain = "\n".join(f"d{number} = f'{{d{number + 1}}}'" for number in range(40))

    assert risky(f"{chain}\nopen({name}, 'w')")


@given(st.sampled_from(sorted(COMPUTES)), st.sampled_from(["sys", "subprocess", "_os", "__loader__", "builtins"]))
def test_no_package_leads_to_internals(package: str, inner: str) -> None:
    assert risky(f"import {package}\n{package}.{inner}")
    assert risky(f"from {package} import {inner}")


@given(st.text())
def test_any_code_can_be_read(code: str) -> None:
    assert isinstance(effects(CodeBlock("python", code), GROUND), tuple)
