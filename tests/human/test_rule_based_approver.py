import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from autogen_nb.core.analysis import effects_to_confirm
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.core.policy.rules import RULE_KINDS, Rule, proposed_rules
from autogen_nb.effects import CONFIRMS, Confirm, Effect, EffectJudged, EffectKind
from autogen_nb.errors import ConfigError
from autogen_nb.events import ApprovalAsked, ApprovalGiven, CodeInputAsked, CodeInputGiven, EffectAsked, HumanInputAsked
from autogen_nb.human.rule_based_approver import RUN_ALL, UNATTENDED, NobodyToAsk, RuleBasedApprover, RulesFile
from autogen_nb.messages import CodeBlock
from autogen_nb.testing import ScriptedHuman
from autogen_nb.trusted import owned_files

BLOCK = CodeBlock("python", "x")
NET, WRITE = (
    Effect("network", "api.example.org", "uses the network"),
    Effect("write", "../out.csv", "writes ../out.csv"),
)
GROUND = PathScope("/home/ann/work", "", "/home/ann")


class Attentive(ScriptedHuman):
    def __init__(
        self, inputs: Sequence[str] = (), approvals: Sequence[ApprovalGiven] = (), judged: Sequence[EffectJudged] = ()
    ) -> None:
        super().__init__(inputs)
        self.approvals, self.judged = approvals, judged
        self.seen: list[EffectAsked | ApprovalAsked] = []

    def approve(self, question: ApprovalAsked) -> ApprovalGiven:
        self.seen.append(question)
        return self.approvals[len(self.seen) - 1]

    def allow(self, question: EffectAsked) -> EffectJudged:
        self.seen.append(question)
        return self.judged[len(self.seen) - 1]

    def typed(self, question: CodeInputAsked) -> CodeInputGiven:
        return CodeInputGiven(question.prompt, by="you")


@pytest.fixture
def file(tmp_path: Path) -> RulesFile:
    return RulesFile(tmp_path / "settings" / "rules.json")


@pytest.fixture
def rules(file: RulesFile) -> RulesFile:
    file.add(Rule("network", "api.example.org"))
    return file


def asked(*effects: Effect, always: bool = False) -> ApprovalAsked:
    return ApprovalAsked("user", BLOCK, effects=effects, always=always)


def test_rule_answers_where_all_is_covered_unless_every_block_is_to_be_seen(rules: RulesFile) -> None:
    person = ScriptedHuman(approvals=["skip"])
    ruled = RuleBasedApprover(person, rules, tell=print)

    assert ruled.approve(asked(NET, Effect("compute"))) == ApprovalGiven("run", by="your rule: network api.example.org")
    assert ruled.allow(EffectAsked("user", NET)) == EffectJudged(allowed=True, by="your rule: network api.example.org")
    assert person.asked == []
    assert ruled.approve(asked(NET, always=True)) == ApprovalGiven("skip", by="scripted")


CODE: dict[EffectKind, tuple[str, str]] = {
    "read_private": ("open('/data/in.csv').read()", "/data/in.csv"),
    "write": ("open('../out.csv', 'w')", "/home/ann/out.csv"),
    "delete": ("import os\nos.remove('/data/x/old.csv')", "/data/x/old.csv"),
    "network": ("import requests\nrequests.get('https://api.example.net/v1')", "api.example.net:443"),
    "process": ("import os\nos.system('git status')", "git status"),
    "install": ("%pip install polars", "polars"),
    "environment": ("import os\nos.environ['LANG']", "LANG"),
    # Code is asked about when it calls the tool, not before it runs.
    "mcp": ("calc_add(2)", "calc add 856eff034224"),
    "unknown": ("exec(input())", ""),
}
"""Of each class that is asked about: code that does it, and the target that the guard names."""


@pytest.mark.parametrize("kind", RULE_KINDS)
@pytest.mark.parametrize("confirm", CONFIRMS)
def test_each_rule_that_is_offered_holds(tmp_path: Path, confirm: Confirm, kind: EffectKind) -> None:
    code, target = CODE[kind]
    read = None if confirm == "never" else effects_to_confirm(confirm, CodeBlock("python", code), GROUND)
    questions: list[ApprovalAsked | EffectAsked] = [EffectAsked("user", Effect(kind, target, "does it"))]
    if read is not None:
        questions.append(asked(*(each for each in read if each.kind == kind), always=confirm == "always"))
    files = (RulesFile(tmp_path / str(number)) for number in count())

    for question in questions:
        _put(person := Attentive(approvals=[SKIP], judged=[NO]), next(files), question)
        (seen,) = person.seen
        offered = proposed_rules(seen.effects_for_rules if isinstance(seen, ApprovalAsked) else (seen.effect,))
        for text in map(str, offered):
            file = next(files)
            accepts = Attentive(approvals=[replace(RUN, rules=(text,))], judged=[replace(YES, rules=(text,))])
            _put(accepts, file, question)
            assert _put(Attentive(), file, question).by == f"your rule: {text}"
        if isinstance(seen, ApprovalAsked):
            assert bool(offered) == (confirm == "risky" and kind not in ("unknown", "mcp"))


SKIP, RUN = ApprovalGiven("skip"), ApprovalGiven("run")
NO, YES = EffectJudged(allowed=False), EffectJudged(allowed=True)


def _put(person: Attentive, rules: RulesFile, question: ApprovalAsked | EffectAsked) -> ApprovalGiven | EffectJudged:
    ruled = RuleBasedApprover(person, rules, tell=print, scope=GROUND)
    given = ruled.approve(question) if isinstance(question, ApprovalAsked) else ruled.allow(question)
    assert isinstance(given, ApprovalGiven | EffectJudged)
    return given


def test_path_is_covered_from_where_the_code_stands(rules: RulesFile) -> None:
    rules.add(Rule("write", "/home/ann/out.csv"))

    there = RuleBasedApprover(ScriptedHuman(), rules, scope=GROUND, tell=print).approve(asked(WRITE))
    nowhere = RuleBasedApprover(ScriptedHuman(approvals=["stop"]), rules, tell=print).approve(asked(WRITE))

    assert there == ApprovalGiven("run", by="your rule: write /home/ann/out.csv")
    assert nowhere == ApprovalGiven("stop", by="scripted")


def test_run_all_from_here_is_for_one_answer(rules: RulesFile) -> None:
    person = Attentive(approvals=[ApprovalGiven("run", by="you", onwards=True)])
    ruled = RuleBasedApprover(person, rules, agents_decide=False, tell=print)

    ruled.approve(asked(WRITE, always=True))
    following = ruled.approve(asked(WRITE, always=True))
    effect = ruled.allow(EffectAsked("user", Effect("unknown")))
    elsewhere = RuleBasedApprover(ScriptedHuman(approvals=["skip"]), rules, tell=print).approve(asked(WRITE))

    assert following == ApprovalGiven("run", by=RUN_ALL)
    assert effect == EffectJudged(allowed=True, by=RUN_ALL)
    assert elsewhere == ApprovalGiven("skip", by="scripted")
    assert rules.rules() == (Rule("network", "api.example.org"),)


def test_run_all_from_here_is_not_offered_if_every_block_is_to_be_seen(rules: RulesFile) -> None:
    person = Attentive(approvals=[ApprovalGiven("run", by="you", onwards=True), ApprovalGiven("skip")])
    ruled = RuleBasedApprover(person, rules, offers_all=False, tell=print)

    answers = [ruled.approve(asked(WRITE)), ruled.approve(asked(WRITE))]

    assert [each.onwards for each in person.seen if isinstance(each, ApprovalAsked)] == [False, False]
    assert answers == [ApprovalGiven("run", by="you"), ApprovalGiven("skip")]


def test_an_agent_that_says_always_is_asked_about_all_the_same(rules: RulesFile) -> None:
    click = ApprovalGiven("run", by="you", onwards=True)
    person = Attentive(
        approvals=[click, click, ApprovalGiven("stop")], judged=[EffectJudged(allowed=False, by="you")] * 4
    )
    ruled = RuleBasedApprover(person, rules, tell=print)

    ruled.approve(replace(asked(WRITE), agent="other"))
    ruled.approve(asked(WRITE, always=True))
    again = ruled.approve(asked(WRITE, always=True))
    effect = ruled.allow(EffectAsked(asked().agent, Effect("unknown")))
    other = ruled.approve(replace(asked(WRITE), agent="other"))

    assert [each.onwards for each in person.seen if isinstance(each, ApprovalAsked)] == [True, False, False]
    assert again == ApprovalGiven("stop")
    assert effect == EffectJudged(allowed=False, by="you")
    assert other == ApprovalGiven("run", by=RUN_ALL)


def test_rules_that_cannot_be_used_are_none(rules: RulesFile) -> None:
    rules.path.chmod(0o666)
    told: list[str] = []
    ruled = RuleBasedApprover(ScriptedHuman(approvals=["run", "run"]), rules, tell=told.append)

    given = [ruled.approve(asked(NET)) for _ in range(2)]

    assert given == [ApprovalGiven("run", by="scripted")] * 2
    assert len(told) == 1
    assert told[0].startswith("Your rules cannot be used (")
    assert told[0].endswith("), so you are asked")
    assert "others may write it" in told[0]


def test_rule_that_cannot_be_kept_is_reported(rules: RulesFile) -> None:
    told: list[str] = []
    person = Attentive(approvals=[ApprovalGiven("run", by="you", rules=("nonsense",))])

    given = RuleBasedApprover(person, rules, tell=told.append).approve(asked(WRITE))

    assert isinstance(given, ApprovalGiven)
    assert (given.decision, given.rules) == ("run", ())
    assert told[0].startswith("The rule was not saved: ")


def test_unattended_code_is_denied(rules: RulesFile) -> None:
    ruled = RuleBasedApprover(NobodyToAsk(), rules, tell=print)

    assert ruled.allow(EffectAsked("user", WRITE)) == EffectJudged(allowed=False, reason=UNATTENDED)
    assert ruled.typed(CodeInputAsked("user")) == CodeInputGiven(None)


@pytest.mark.parametrize(
    ("then", "left"),
    [
        (asked(NET), None),
        (asked(NET, always=True), replace(asked(NET, always=True), onwards=False)),
        (asked(WRITE), asked(Effect("write", "/home/ann/out.csv", "writes ../out.csv"))),
    ],
    ids=["covered", "always asked", "not covered"],
)
def test_code_that_a_rule_lets_run_is_not_asked_about_with_the_words(
    rules: RulesFile, then: ApprovalAsked, left: ApprovalAsked | None
) -> None:
    person = Attentive(["words"])

    RuleBasedApprover(person, rules, tell=print, scope=GROUND).input(
        HumanInputAsked("user", "assistant", "? ", then=then)
    )

    assert person.asked == [HumanInputAsked("user", "assistant", "? ", then=left)]


HOST, DISK = Rule("network", "api.example.org"), Rule("write", "/data/out/")


def test_notebooks_lose_nothing_of_each_other(file: RulesFile) -> None:
    rules = [Rule("network", f"host{number}") for number in range(24)]

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda rule: RulesFile(file.path).add(rule), rules))
        kept = set(file.rules())
        list(pool.map(lambda rule: RulesFile(file.path).remove(rule), rules[1:]))

    assert kept == set(rules)
    assert file.rules() == (rules[0],)


def _text(*rules: str, version: int = 1, made: str = "2026-01-02T03:04:05") -> str:
    return json.dumps({"version": version, "rules": [{"rule": rule, "made": made} for rule in rules]})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a valid list of rules"),
        ("{", "not a valid list of rules"),
        ("[]", "not a valid list of rules"),
        ("[" * 100_000, "not a valid list of rules"),
        ('{"version": 1}', "there is no 'rules'"),
        ('{"version": 1, "rules": [1]}', "not a valid list of rules"),
        (_text("network x", version=2), "version 2"),
        (_text("everything"), "'everything' is none of them"),
        (_text("host x"), "'host x' is not in the form of a saved rule"),
        (_text("network x", made="then"), "not a valid list of rules"),
    ],
    ids=range(10),
)
def test_broken_file_is_no_rules(file: RulesFile, text: str, said: str) -> None:
    file.path.parent.mkdir()
    file.path.write_text(text)

    with pytest.raises(ConfigError) as refused:
        file.rules()
    with pytest.raises(ConfigError):
        file.add(HOST)

    assert said in str(refused.value)
    assert "is not used" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert file.path.read_text() == text


PLACES: dict[str, tuple[Callable[[Path, Path], object], str]] = {
    "a hard link": (lambda path, real: path.hardlink_to(real), r"is not used: it has another name \(a hard link\)"),
    "a link": (lambda path, real: path.symlink_to(real), "a file, not a link"),
    "a pipe": (lambda path, real: os.mkfifo(path, 0o600), "it is not a file"),
    "a folder": (lambda path, real: path.mkdir(0o700), "it is not a file"),
}


@pytest.mark.parametrize("place", PLACES)
def test_place_of_no_file_of_its_own_is_refused(file: RulesFile, tmp_path: Path, place: str) -> None:
    real = RulesFile(tmp_path / "real" / "rules.json")
    real.add(HOST)
    file.path.parent.mkdir(mode=0o700)
    make, said = PLACES[place]
    make(file.path, real.path)

    with pytest.raises(ConfigError, match=said):
        file.rules()
    with pytest.raises(ConfigError, match=said):
        file.add(DISK)
    if place == "a hard link":
        file.path.unlink()

    assert real.rules() == (HOST,)


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(ConfigError, match="cannot be written"):
        RulesFile(tmp_path / "file" / "rules.json").add(HOST)


def test_text_that_is_none_is_refused(tmp_path: Path) -> None:
    path, owner = tmp_path / "file", frozenset({os.geteuid()})
    path.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="not text in UTF-8"):
        owned_files.read(path, owner)
    path.write_bytes(b"x" * (1 << 20))
    with pytest.raises(ConfigError, match="too large"):
        owned_files.read(path, owner)
