import io
import sys
from pathlib import Path

import pytest

from autogen_nb.effects import Effect, EffectJudged
from autogen_nb.errors import NobodyThere
from autogen_nb.events import ApprovalAsked, ApprovalGiven, CodeInputAsked, CodeInputGiven, EffectAsked, HumanInputAsked
from autogen_nb.human.terminal_human import TerminalHuman
from autogen_nb.messages import CodeBlock

BLOCK = CodeBlock("python", "x = 1\nprint(x)")


def typing(monkeypatch: pytest.MonkeyPatch, *lines: str) -> TerminalHuman:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    return TerminalHuman()


@pytest.mark.parametrize(
    ("lines", "given"),
    [
        (["r"], ApprovalGiven("run", by="terminal")),
        (["Run"], ApprovalGiven("run", by="terminal")),
        (["y"], ApprovalGiven("run", by="terminal")),
        (["s", "why not"], ApprovalGiven("skip", reason="why not", by="terminal")),
        (["n", ""], ApprovalGiven("skip", by="terminal")),
        (["t"], ApprovalGiven("stop", by="terminal")),
        (["stop"], ApprovalGiven("stop", by="terminal")),
        (["e", "x = 2", "", "print(x)", "."], ApprovalGiven("run", code="x = 2\n\nprint(x)", by="terminal")),
        (["", "what?", "r"], ApprovalGiven("run", by="terminal")),
        (["a"], ApprovalGiven("run", by="terminal", onwards=True)),
        (["w", "r"], ApprovalGiven("run", by="terminal")),
    ],
)
def test_answers_to_an_approval_question(
    monkeypatch: pytest.MonkeyPatch, lines: list[str], given: ApprovalGiven
) -> None:
    assert typing(monkeypatch, *lines).approve(ApprovalAsked("user", BLOCK)) == given


def test_an_input_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NobodyThere):
        typing(monkeypatch).approve(ApprovalAsked("user", BLOCK))
    with pytest.raises(NobodyThere):
        typing(monkeypatch).input(HumanInputAsked("user", "assistant", "Your words: "))


@pytest.mark.parametrize(
    ("lines", "text"),
    [(["y"], ""), (["x", "e", "1. Tell.", "2. End.", "."], "1. Tell.\n2. End."), (["t"], "exit")],
    ids=["yes", "edit", "stop"],
)
def test_plan_is_approved_or_written_anew(monkeypatch: pytest.MonkeyPatch, lines: list[str], text: str) -> None:
    question = HumanInputAsked("user", "assistant", "Carry out this plan?", draft="1. Look.")

    assert typing(monkeypatch, *lines).input(question).text == text


class _Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_code_is_edited_in_the_persons_editor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    editor = tmp_path / "editor.py"
    editor.write_text(
        "import sys, pathlib\nfile = pathlib.Path(sys.argv[-1])\n"
        "file.write_text(file.suffix + ' ' + file.read_text().replace('x = 1', 'x = 7'))\n"
    )
    monkeypatch.setenv("VISUAL", f"{sys.executable} {editor}")
    monkeypatch.setattr(sys, "stdin", _Tty("e\n"))

    given = TerminalHuman().approve(ApprovalAsked("user", BLOCK))

    assert given.code == ".py x = 7\nprint(x)"


ACT = EffectAsked("user", Effect("network", "api.example.org", "connects to api.example.org"), "requests.get(url)")


@pytest.mark.parametrize(
    ("lines", "given"),
    [
        (["y"], EffectJudged(allowed=True, by="terminal")),
        (["Allow"], EffectJudged(allowed=True, by="terminal")),
        (["n", "not there"], EffectJudged(allowed=False, reason="not there", by="terminal")),
        (["t"], EffectJudged(allowed=False, by="terminal", stop=True)),
        (["hm", "", "yes"], EffectJudged(allowed=True, by="terminal")),
        ([], EffectJudged(allowed=False, reason="nobody answered")),
        (["n"], EffectJudged(allowed=False, reason="nobody answered")),
    ],
)
def test_answers_to_an_effect_question(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], lines: list[str], given: EffectJudged
) -> None:
    judged = typing(monkeypatch, *lines).allow(ACT)

    shown = capsys.readouterr().out
    assert judged == given
    assert shown.index("connects to api.example.org") < shown.index("requests.get(url)") < shown.index("[y]es")


def test_code_reads_what_is_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    person = typing(monkeypatch, "Ada")

    assert person.typed(CodeInputAsked("user", "Name? ")) == CodeInputGiven("Ada", by="terminal")
    assert person.typed(CodeInputAsked("user", "Name? ")) == CodeInputGiven(None)


def test_password_is_typed_unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getpass", lambda prompt: f"hidden {prompt}")

    given = TerminalHuman().typed(CodeInputAsked("user", "Code?", password=True))

    assert given == CodeInputGiven("hidden Code?", by="terminal")


WRITES = ApprovalAsked("user", BLOCK, effects=(Effect("write", "/home/ann/out/x.csv", "writes /home/ann/out/x.csv"),))


@pytest.mark.parametrize(
    ("lines", "rules"),
    [
        (["w", "1"], ("write /home/ann/out/x.csv",)),
        (["w", "2"], ("write /home/ann/out/",)),
        (["w", "", "r"], ()),
        (["w", "3", "w", "0", "r"], ()),
    ],
)
def test_rule_is_read_in_words_before_it_is_accepted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], lines: list[str], rules: tuple[str, ...]
) -> None:
    given = typing(monkeypatch, *lines).approve(WRITES)

    shown = capsys.readouterr().out
    assert given == ApprovalGiven("run", by="terminal", rules=rules)
    assert "1. always allow writing /home/ann/out/x.csv" in shown
    assert "2. always allow writing anything below /home/ann/out/" in shown


def test_rule_for_what_running_code_does(monkeypatch: pytest.MonkeyPatch) -> None:
    net = EffectAsked("user", Effect("network", "api.example.org", "connects to api.example.org"))

    assert typing(monkeypatch, "w", "1").allow(net) == EffectJudged(
        allowed=True, by="terminal", rules=("network api.example.org",)
    )
    assert typing(monkeypatch, "w", "y").allow(EffectAsked("user", Effect("unknown"))) == EffectJudged(
        allowed=True, by="terminal"
    )
