from autogen_nb.core.analysis import effects, effects_to_confirm
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.effects import EffectKind
from autogen_nb.messages import CodeBlock
from tests.corpus import OWN, SNIPPETS, Snippet

GROUND = PathScope("/home/ann/work", f"/home/ann/work/{OWN}", "/home/ann", private_temporary=True)
MISSED: frozenset[str] = frozenset()
"""Risky snippets that are not asked about; docs/safety.md names them."""


def asked(snippet: Snippet) -> bool:
    return effects_to_confirm("risky", CodeBlock(snippet.language, snippet.code), GROUND) is not None


def kinds(snippet: Snippet) -> set[EffectKind]:
    return {effect.kind for effect in effects(CodeBlock(snippet.language, snippet.code), GROUND)}


def test_nearly_all_of_the_risky_is_asked_about() -> None:
    missed = {each.name for each in SNIPPETS if each.risky and not asked(each)}

    assert missed == MISSED
    assert len(missed) <= 0.02 * sum(each.risky for each in SNIPPETS)


def test_none_of_the_harmless_is_asked_about() -> None:
    assert [each.name for each in SNIPPETS if not each.risky and asked(each)] == []


def test_risky_code_is_asked_about_for_the_right_reason() -> None:
    assert [each.name for each in SNIPPETS if each.risky and not kinds(each) & set(each.kinds)] == []


def test_harmless_effects_are_seen_too() -> None:
    assert [each.name for each in SNIPPETS if not each.risky and not kinds(each) >= set(each.kinds)] == []
