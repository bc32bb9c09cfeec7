import pytest

from autogen_nb.core.policy.organisation_policy import NO_POLICY, parse
from autogen_nb.errors import ConfigError

WHOLE = """
[models]
hosts = ["api.openai.com", "*.example.org", "127.0.0.1:8000"]
[code]
sandbox = "bwrap"
confirm = "risky"
[cells]
budget = "0.50"
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = ", "it is not TOML"),
        ("sandbox = 'bwrap'", "its key 'sandbox' must be one of the tables models, code, cells"),
        ("[kode]\nsandbox = 'bwrap'", "its key 'kode'"),
        ("code = 1", "its key 'code'"),
        ("[code]\nsandbx = 'bwrap'", "[code] has the unknown key 'sandbx'; known keys: sandbox, confirm"),
        ("[code]\nsandbox = 'walls'", "sandbox is 'walls'; it must be one of none, bwrap, docker"),
        ("[code]\nconfirm = true", "confirm is True; it must be one of never, risky, always"),
        ("[models]\nhosts = 'x'", "hosts is 'x'; it must be a list"),
        ("[models]\nhosts = [1]", "hosts is [1]"),
        ("[models]\nhosts = ['https://x.org']", "it must be a list"),
        ("[models]\nhosts = ['*']", "it must be a list"),
        ("[models]\nhosts = ['']", "it must be a list"),
        ("[cells]\nbudget = true", "budget is True"),
        ("[cells]\nbudget = -1", "budget is -1"),
    ],
)
def test_policy_that_is_not_understood(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse(text)

    assert said in str(refused.value)


def test_budget_as_a_number() -> None:
    assert parse("[cells]\nbudget = 5").budget == "5"


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("api.openai.com", True),
        ("API.OPENAI.com:443", True),
        ("a.b.example.org", True),
        ("example.org", False),
        ("api.openai.com.evil.org", False),
        ("127.0.0.1:8000", True),
        ("127.0.0.1:8001", False),
        ("", False),
    ],
)
def test_hosts(host: str, allowed: bool) -> None:
    policy = parse(WHOLE)
    NO_POLICY.check_host(host)

    if allowed:
        policy.check_host(host)
    else:
        with pytest.raises(ConfigError, match=r"does not allow models at .*; allowed: api.openai.com, "):
            policy.check_host(host)


def test_no_host_at_all() -> None:
    with pytest.raises(ConfigError, match="allowed: none"):
        parse("[models]\nhosts = []").check_host("api.openai.com")
