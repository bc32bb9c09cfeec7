from autogen_nb.core.analysis import effects, effects_to_confirm
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.effects import EffectKind
from autogen_nb.messages import CodeBlock
from tests.corpus import OWN, SNIPPETS, Snippet

GROUND = PathScope("/home/ann/work", f"/home/ann/work/{OWN}", "/home/ann", private_temporary=True)
MISSED = {
    *("array dumped", "backend from a module", "clipboard", "memory by an address", "method handed on"),
    *("table by name of a method", "text hidden in an attribute", "trials kept"),
}
"""Risky snippets that are not asked about before they run."""
ASKED_NEEDLESSLY = {
    *("attribute of a fixed name", "documentation", "files of a dictionary", "help on what would do much"),
    *("is it there", "jobs in threads", "jobs one by one", "loaded already", "path in a function"),
    *("paths of a configuration", "paths put together", "temporary file by its number"),
}
OTHER_REASON = {"attribute of a fixed name of a module", "link from an open folder", "method replaced"}
"""Risky snippets that are asked about for another reason than that of their label."""


def asked(snippet: Snippet) -> bool:
    return effects_to_confirm("risky", CodeBlock(snippet.language, snippet.code), GROUND) is not None


def kinds(snippet: Snippet) -> set[EffectKind]:
    return {effect.kind for effect in effects(CodeBlock(snippet.language, snippet.code), GROUND)}


def test_nearly_all_of_the_risky_is_asked_about() -> None:
    missed = {each.name for each in SNIPPETS if each.risky and not asked(each)}

    assert missed == MISSED
    assert len(missed) <= 0.05 * sum(each.risky for each in SNIPPETS)


def test_little_of_the_harmless_is_asked_about() -> None:
    assert {each.name for each in SNIPPETS if not each.risky and asked(each)} == ASKED_NEEDLESSLY


def test_none_of_the_harmless_is_asked_about_before_it_runs_behind_the_guard() -> None:
    blocks = {each.name: CodeBlock(each.language, each.code) for each in SNIPPETS if not each.risky}

    assert [name for name, each in blocks.items() if effects_to_confirm("risky", each, GROUND, guarded=True)] == []


def test_risky_code_is_asked_about_for_the_right_reason() -> None:
    others = {each.name for each in SNIPPETS if each.risky and not kinds(each) & set(each.kinds)}

    assert others - MISSED == OTHER_REASON
