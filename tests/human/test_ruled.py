"""A person with rules: what rules answer, what is asked all the same, and what is kept of an answer."""

import asyncio
from collections.abc import Awaitable, Sequence
from pathlib import Path

import pytest

from autogen_nb.acts import Act, ActJudged
from autogen_nb.core.ground import Ground
from autogen_nb.core.rules import Rule
from autogen_nb.events import (
    ActAsked,
    ApprovalAsked,
    ApprovalGiven,
    CodeInputAsked,
    CodeInputGiven,
    HumanInputAsked,
    HumanInputGiven,
)
from autogen_nb.human.headless import UNATTENDED, Nobody
from autogen_nb.human.ruled import ONWARDS, Onwards, Ruled
from autogen_nb.human.rules_file import RulesFile
from autogen_nb.messages import CodeBlock
from autogen_nb.testing import ScriptedHuman

BLOCK = CodeBlock("python", "x")
NET, WRITE = Act("network", "api.example.org", "uses the network"), Act("write", "../out.csv", "writes ../out.csv")
GROUND = Ground("/home/ann/work", "", "/home/ann")


class Attentive(ScriptedHuman):
    """A person whose decisions are whole, and who is there while code runs, too."""

    def __init__(
        self, inputs: Sequence[str] = (), approvals: Sequence[ApprovalGiven] = (), judged: Sequence[ActJudged] = ()
    ) -> None:
        super().__init__(inputs)
        self.approvals, self.judged = approvals, judged
        self.seen: list[ActAsked | ApprovalAsked] = []

    def approve(self, question: ApprovalAsked) -> ApprovalGiven:
        """The next decision about a block."""
        self.seen.append(question)
        return self.approvals[len(self.seen) - 1]

    def allow(self, question: ActAsked) -> ActJudged:
        """The next decision about an act."""
        self.seen.append(question)
        return self.judged[len(self.seen) - 1]

    def typed(self, question: CodeInputAsked) -> CodeInputGiven:
        """What is typed."""
        return CodeInputGiven(question.prompt, by="you")


class Awaited(Attentive):
    """The same person, at the end of an awaitable."""

    def approve(self, question: ApprovalAsked) -> Awaitable[ApprovalGiven]:  # type: ignore[override]  # a Human may answer later
        """The next decision, later."""
        return self._later(super().approve(question))

    @staticmethod
    async def _later(given: ApprovalGiven) -> ApprovalGiven:
        return given


@pytest.fixture
def rules(tmp_path: Path) -> RulesFile:
    """A file with one rule."""
    file = RulesFile(tmp_path / "settings" / "rules.json")
    file.add(Rule("network", "api.example.org"))
    return file


def asked(*acts: Act, always: bool = False) -> ApprovalAsked:
    """A question about a block that does this."""
    return ApprovalAsked("user", BLOCK, acts=acts, always=always)


def test_rule_answers_where_all_is_covered(rules: RulesFile) -> None:
    """What a rule covers runs at once, by that rule; the person is not asked."""
    nobody = ScriptedHuman()
    ruled = Ruled(nobody, rules, tell=print)

    assert ruled.approve(asked(NET, Act("compute"))) == ApprovalGiven("run", by="your rule: network api.example.org")
    assert ruled.allow(ActAsked("user", NET)) == ActJudged(allowed=True, by="your rule: network api.example.org")
    assert nobody.asked == []


def test_person_is_asked_about_what_is_not_covered(rules: RulesFile) -> None:
    """One act without a rule is enough to be asked about all; paths are absolute by then."""
    person = Attentive(approvals=[ApprovalGiven("skip", by="you")])
    ruled = Ruled(person, rules, ground=GROUND, tell=print)

    given = ruled.approve(asked(NET, WRITE))

    assert given == ApprovalGiven("skip", by="you")
    assert person.seen == [asked(NET, Act("write", "/home/ann/out.csv", WRITE.words))]


def test_path_is_covered_from_where_the_code_stands(rules: RulesFile) -> None:
    """A relative path is covered by the absolute rule that it comes to, and by none where the folder is unknown."""
    rules.add(Rule("write", "/home/ann/out.csv"))

    there = Ruled(ScriptedHuman(), rules, ground=GROUND, tell=print).approve(asked(WRITE))
    nowhere = Ruled(ScriptedHuman(approvals=["stop"]), rules, tell=print).approve(asked(WRITE))

    assert there == ApprovalGiven("run", by="your rule: write /home/ann/out.csv")
    assert nowhere == ApprovalGiven("stop", by="scripted")


def test_who_wants_to_see_every_block_sees_it(rules: RulesFile) -> None:
    """Where every block is shown no rule answers about blocks; what running code does is still covered."""
    ruled = Ruled(ScriptedHuman(approvals=["skip"]), rules, tell=print)

    assert ruled.approve(asked(NET, always=True)) == ApprovalGiven("skip", by="scripted")
    assert ruled.allow(ActAsked("user", NET)) == ActJudged(allowed=True, by="your rule: network api.example.org")


@pytest.mark.parametrize("kind", [Attentive, Awaited])
def test_accepted_rule_is_kept(rules: RulesFile, kind: type[Attentive]) -> None:
    """A rule that the person accepts with the answer is on disk, and answers from then on."""
    person = kind(approvals=[ApprovalGiven("run", by="you", rules=("write /home/ann/out.csv",))])
    ruled = Ruled(person, rules, ground=GROUND, tell=print)

    given = ruled.approve(asked(WRITE))
    first = asyncio.run(_awaited(given)) if isinstance(given, Awaitable) else given
    second = ruled.approve(asked(WRITE))

    assert first.by == "you"
    assert second == ApprovalGiven("run", by="your rule: write /home/ann/out.csv")
    assert Rule("write", "/home/ann/out.csv") in rules.rules()


async def _awaited(given: Awaitable[ApprovalGiven]) -> ApprovalGiven:
    return await given


def test_rule_accepted_while_code_runs_is_kept(rules: RulesFile) -> None:
    """The same for an act; a rule that comes with a denial is none."""
    person = Attentive(
        judged=[
            ActJudged(allowed=False, by="you", rules=("delete",)),
            ActJudged(allowed=True, by="you", rules=("process git",)),
        ]
    )
    ruled = Ruled(person, rules, tell=print)

    ruled.allow(ActAsked("user", Act("process", "git status")))
    ruled.allow(ActAsked("user", Act("process", "git status")))

    assert rules.rules() == (Rule("network", "api.example.org"), Rule("process", "git"))


def test_run_all_from_here_is_for_one_chat(rules: RulesFile) -> None:
    """From then on nothing about code is asked in this chat, every block shown or not; nothing is stored."""
    person = Attentive(approvals=[ApprovalGiven("run", by="you", onwards=True)])
    here = Onwards()
    ruled = Ruled(person, rules, onwards=here, tell=print)

    ruled.approve(asked(WRITE, always=True))
    following = Ruled(person, rules, onwards=here, tell=print).approve(asked(WRITE, always=True))
    act = ruled.allow(ActAsked("user", Act("unknown")))
    elsewhere = Ruled(ScriptedHuman(approvals=["skip"]), rules, tell=print).approve(asked(WRITE))

    assert following == ApprovalGiven("run", by=ONWARDS)
    assert act == ActJudged(allowed=True, by=ONWARDS)
    assert elsewhere == ApprovalGiven("skip", by="scripted")
    assert rules.rules() == (Rule("network", "api.example.org"),)


def test_skip_is_no_run_all(rules: RulesFile) -> None:
    """Only Run lets what follows run."""
    person = Attentive(approvals=[ApprovalGiven("skip", onwards=True), ApprovalGiven("stop")])
    ruled = Ruled(person, rules, tell=print)

    ruled.approve(asked(WRITE))

    assert ruled.approve(asked(WRITE)) == ApprovalGiven("stop")


def test_rules_that_cannot_be_used_are_none(rules: RulesFile) -> None:
    """A file that is refused counts as no rules: the person is asked, and is told why, once."""
    rules.path.chmod(0o666)
    told: list[str] = []
    ruled = Ruled(ScriptedHuman(approvals=["run", "run"]), rules, tell=told.append)

    given = [ruled.approve(asked(NET)) for _ in range(2)]

    assert given == [ApprovalGiven("run", by="scripted")] * 2
    assert len(told) == 1
    assert told[0].startswith("Your rules are not used, so you are asked: ")
    assert "others may write it" in told[0]


def test_rule_that_cannot_be_kept_is_told(rules: RulesFile) -> None:
    """The decision holds although its rule cannot be stored, and the person reads why."""
    told: list[str] = []
    person = Attentive(approvals=[ApprovalGiven("run", by="you", rules=("nonsense",))])

    given = Ruled(person, rules, tell=told.append).approve(asked(WRITE))

    assert isinstance(given, ApprovalGiven)
    assert given.decision == "run"
    assert told[0].startswith("The rule was not kept: ")


def test_nobody_there_while_code_runs(rules: RulesFile) -> None:
    """Where the person cannot be asked meanwhile, rules still answer; the rest is denied, and no input comes."""
    ruled = Ruled(Nobody(), rules, tell=print)

    assert ruled.allow(ActAsked("user", NET)) == ActJudged(allowed=True, by="your rule: network api.example.org")
    assert ruled.allow(ActAsked("user", WRITE)) == ActJudged(allowed=False, reason=UNATTENDED)
    assert ruled.typed(CodeInputAsked("user")) == CodeInputGiven(None)


def test_words_are_the_persons(rules: RulesFile) -> None:
    """What is typed, for the agents or for running code, comes from the person alone."""
    ruled = Ruled(Attentive(inputs=["hello"]), rules, tell=print)

    assert ruled.input(HumanInputAsked("user", "peer", ">")) == HumanInputGiven("hello", by="scripted")
    assert ruled.typed(CodeInputAsked("user", "?")) == CodeInputGiven("?", by="you")


@pytest.mark.parametrize(
    ("then", "left"),
    [
        (asked(NET), None),
        (asked(NET, always=True), asked(NET, always=True)),
        (asked(WRITE), asked(Act("write", "/home/ann/out.csv", "writes ../out.csv"))),
    ],
    ids=["covered", "always asked", "not covered"],
)
def test_code_that_a_rule_lets_run_is_not_asked_about_with_the_words(
    rules: RulesFile, then: ApprovalAsked, left: ApprovalAsked | None
) -> None:
    """The turn's own panel asks only what would be asked after it."""
    person = Attentive(["words"])

    Ruled(person, rules, tell=print, ground=GROUND).input(HumanInputAsked("user", "assistant", "? ", then=then))

    assert person.asked == [HumanInputAsked("user", "assistant", "? ", then=left)]
