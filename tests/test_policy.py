import os
from collections.abc import Callable
from pathlib import Path

import pytest

from autogen_nb.agents.parts.agent_config import read_code_config
from autogen_nb.effects import Confirm
from autogen_nb.errors import ConfigError, NobodyThere
from autogen_nb.events import ApprovalAsked
from autogen_nb.human.rule_based_approver import NobodyToAsk
from autogen_nb.messages import CodeBlock
from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.notebook.extension import begin_first_kernel
from autogen_nb.settings import Settings
from autogen_nb.testing import FakeOpenAI, ScriptedExecutor
from autogen_nb.trusted import policy_file
from tests.models.asking import ask

ME = frozenset({os.geteuid()})
Lay = Callable[[str], None]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    tmp_path.chmod(0o700)
    return tmp_path / "policy.toml"


@pytest.fixture
def lay(file: Path, monkeypatch: pytest.MonkeyPatch) -> Lay:
    monkeypatch.setattr(policy_file, "PATH", file)
    monkeypatch.setattr(policy_file, "OWNERS", ME)

    def laid(text: str) -> None:
        file.write_text(text)
        file.chmod(0o644)

    return laid


def test_policy_file_of_another_owner_stops_everything(file: Path, lay: Lay, monkeypatch: pytest.MonkeyPatch) -> None:
    lay("[code]\nconfirm = 'always'")

    file.chmod(0o664)
    with pytest.raises(ConfigError, match=r"nothing runs, .*others may write it"):
        policy_file.policy()
    monkeypatch.setattr(policy_file, "OWNERS", frozenset({os.geteuid() + 1}))
    with pytest.raises(
        ConfigError,
        match=r"nothing runs, since your organisation's policy cannot be used: .* is not used: it belongs to",
    ):
        policy_file.policy()


def test_file_that_is_not_understood_stops_everything(file: Path, lay: Lay) -> None:
    lay("[code]\nconfrim = 'always'")

    with pytest.raises(ConfigError, match=r"nothing runs, .*policy.toml': \[code\] has the unknown key 'confrim'"):
        policy_file.policy()
    with pytest.raises(ConfigError, match=r"nothing runs"):
        read_code_config({"executor": ScriptedExecutor({})})
    with pytest.raises(ConfigError, match=r"nothing runs"):
        _ = Settings().default_place


def test_model_elsewhere_is_not_asked(lay: Lay) -> None:
    with FakeOpenAI() as server:
        server.add("Hi.")
        model = OpenAIModel(model="gpt-x", base_url=server.base_url, api_key="sk-test-key-1234567890")
        lay("[models]\nhosts = ['api.openai.com']")
        with pytest.raises(ConfigError, match=r"does not allow models at '127.0.0.1:"):
            ask(model)
        sent = len(server.requests)
        lay("[models]\nhosts = ['127.0.0.1']")
        answered = ask(model)

    assert sent == 0
    assert answered.completion.message.text == "Hi."


def test_code_of_agents_has_a_sandbox(lay: Lay, tmp_path: Path) -> None:
    lay("[code]\nsandbox = 'docker'")

    with pytest.raises(ConfigError, match=r"at least the sandbox 'docker', and the executor has 'none'"):
        read_code_config({"executor": ScriptedExecutor({})})
    for weaker in ({"use_docker": False}, {"sandbox": "none"}, {"kernel": "python3"}):
        with pytest.raises(ConfigError, match=r"at least the sandbox 'docker', and the code has 'none'"):
            read_code_config({"work_dir": str(tmp_path), **weaker})


def test_environment_that_never_asks_is_overruled(lay: Lay, monkeypatch: pytest.MonkeyPatch) -> None:
    lay("[code]\nconfirm = 'always'")
    monkeypatch.setenv("AUTOGEN_NB_CONFIRM", "never")

    bound = Settings().for_cell(Settings.from_options("go"), attended=True)

    assert (bound.confirm, bound.remark) == ("always", "your organisation's policy: confirm always")


@pytest.mark.parametrize("confirm", ["risky", "always"])
def test_advice_without_a_person_is_what_the_policy_allows(lay: Lay, confirm: Confirm) -> None:
    lay(f"[code]\nconfirm = '{confirm}'")
    question = ApprovalAsked("user", CodeBlock("python", "1"), reasons=("it deletes 'a'",))

    with pytest.raises(NobodyThere, match=r"policy: confirm .*where a person can answer") as one:
        NobodyToAsk().approve(question)
    with pytest.raises(ConfigError, match=r"policy: confirm") as two:
        Settings.from_options("go").unattended()

    assert "never" not in f"{one.value}{two.value}"
    assert ("--confirm risky" in str(one.value)) == (confirm == "risky")


def test_settings_have_the_sandbox_of_the_policy(lay: Lay) -> None:
    lay("[code]\nsandbox = 'bwrap'")

    assert Settings().default_place.sandbox == "bwrap"
    assert Settings(sandbox="docker").default_place.sandbox == "docker"
    assert Settings(kernel="bash").default_place.sandbox == "none"


def test_no_kernel_starts_ahead_outside_of_the_sandbox(lay: Lay, tmp_path: Path) -> None:
    lay("[code]\nsandbox = 'bwrap'")

    assert begin_first_kernel(tmp_path, Settings(kernel="python3")) is None


def test_invalid_budget_of_the_policy_is_refused(lay: Lay) -> None:
    lay("[cells]\nbudget = 'much'")
    with pytest.raises(ConfigError, match=r"your organisation's policy: the budget is 'much'"):
        Settings().for_cell(Settings.from_options("go"), attended=True)
