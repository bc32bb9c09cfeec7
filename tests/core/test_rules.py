from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.core.policy.organisation_policy import NO_POLICY
from autogen_nb.core.policy.organisation_policy import parse as parse_policy
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.core.policy.permissions import allows
from autogen_nb.core.policy.rules import Rule, covering_rules, parse, proposed_rules, with_absolute_path
from autogen_nb.effects import KINDS, Effect
from autogen_nb.errors import ConfigError
from tests.corpus import sections


def signed(name: str) -> list[tuple[str, str, bool]]:
    """Each head with each line below it, which begins with ``+`` or ``-``."""
    heads = sections(Path(__file__).with_name(name))
    return [(head, line[2:], line[0] == "+") for head, text in heads for line in text.splitlines()]


FOLDER, HOME = "/home/ann/work", "/home/ann"


@pytest.mark.parametrize(
    ("text", "rule", "words"),
    [
        ("network api.example.org", Rule("network", "api.example.org"), "connections to api.example.org"),
        ("network API.Example.org.", Rule("network", "api.example.org"), "connections to api.example.org"),
        (
            "network https://ann@api.example.org:8443/v1?x",
            Rule("network", "api.example.org:8443"),
            "connections to api.example.org:8443",
        ),
        ("network *.example.org", Rule("network", "*.example.org"), "connections to every host below example.org"),
        ("network 127.0.0.1:80", Rule("network", "127.0.0.1:80"), "connections to 127.0.0.1:80"),
        ("network [::1]:80", Rule("network", "[::1]:80"), "connections to [::1]:80"),
        ("network s3://bucket/key", Rule("network", "s3://bucket"), "connections to s3://bucket"),
        ("network", Rule("network"), "connections to any host"),
        ("host x", Rule("network", "x"), "connections to x"),
        ("write /data/out.csv", Rule("write", "/data/out.csv"), "writing /data/out.csv"),
        ("write /data//./out/", Rule("write", "/data/out/"), "writing anything below /data/out/"),
        ("write ../out", Rule("write", "/home/ann/out"), "writing /home/ann/out"),
        ("Read ~/data", Rule("read_private", "/home/ann/data"), "reading /home/ann/data"),
        ("delete ~", Rule("delete", "/home/ann"), "deleting, moving or renaming /home/ann"),
        ("run git", Rule("process", "git"), "running git with any arguments"),
        ("run git status", Rule("process", "git status"), "running git status"),
        ("install Scikit_Learn>=1.2", Rule("install", "scikit-learn"), "installing scikit-learn"),
        ("env LANG", Rule("environment", "LANG"), "reading and changing LANG in the environment"),
        ("mcp", Rule("mcp"), "calls of any tool of any MCP server"),
        ("mcp time", Rule("mcp", "time"), "calls of all tools of the MCP server time"),
        ("mcp time now", Rule("mcp", "time now"), "calls of now of the MCP server time"),
        ("mcp time now 1f", Rule("mcp", "time now 1f"), "calls of now of the MCP server time as it is now (1f)"),
        ("unknown", Rule("unknown"), "code that cannot be read"),
    ],
)
def test_text_is_read_as_a_rule(text: str, rule: Rule, words: str) -> None:
    read = parse(text, folder=FOLDER, home=HOME)

    assert read == rule
    assert read.words == f"always allow {words}"
    assert parse(str(read)) == read


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "'' is none of them"),
        ("everything", "'everything' is none of them; for example: network api.example.org"),
        ("compute", "'compute' needs no rule, because it never needs a question"),
        ("write ../x/../y", "give an absolute path without '..'"),
        ("write out.csv", "give an absolute path"),
        ("read ~/x", "give an absolute path"),
        ("network not a host", "name one host, as in: network api.example.org"),
        ("network *", "network *.example.org"),
        ("network a*.org", "network *.example.org"),
        (f"network {'a.' * 200}org", "name one"),
        ("network http://good.org\\@evil.org", "name one"),
        ("install a b", "name one package"),
        ("install x @ https://evil.org/x.whl", "name one package"),
        ("unknown x", "write only 'unknown'"),
        ("write /a\u202eb", "contains invisible characters"),
        ("run a\nb", "contains invisible characters"),
    ],
)
def test_text_that_is_no_rule_is_refused(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse(text)

    assert said in str(refused.value)


@pytest.mark.parametrize(("rule", "target", "covers"), signed("rule_targets.txt"))
def test_rule_covers_what_it_names_and_no_more(rule: str, target: str, covers: bool) -> None:
    read = parse(rule)

    assert read.covers(Effect(read.kind, target)) is covers
    assert not any(read.covers(Effect(kind, target)) for kind in KINDS if kind != read.kind)


def test_paths_become_absolute_and_other_targets_stay() -> None:
    found = [with_absolute_path(Effect(kind, "a"), folder=FOLDER, home=HOME).target for kind in ("write", "network")]

    assert found == [f"{FOLDER}/a", "a"]


def test_acts_are_covered_when_each_is() -> None:
    net, disk = Rule("network", "api.example.org"), Rule("write", "/data")
    effects = [
        Effect("compute"),
        Effect("network", "api.example.org"),
        Effect("network", "api.example.org"),
        Effect("write", "/data/x"),
    ]

    assert covering_rules([disk, net], effects) == (net, disk)
    assert covering_rules([disk], effects) is None
    assert covering_rules([disk], [Effect("compute")]) == ()
    assert covering_rules([], []) == ()


@pytest.mark.parametrize(
    ("effect", "texts"),
    [
        (Effect("network", "https://api.example.org/v1"), ["network api.example.org"]),
        (Effect("network"), []),
        (Effect("write", "/home/ann/out/a.csv"), ["write /home/ann/out/a.csv", "write /home/ann/out/"]),
        (Effect("write", "/home/ann/a.csv"), ["write /home/ann/a.csv"]),
        (Effect("write", "/data/a.csv"), ["write /data/a.csv"]),
        (Effect("write", "a.csv"), []),
        (Effect("write", "/"), []),
        (Effect("read_private", "/home/ann/work/.env"), ["read_private /home/ann/work/.env"]),
        (Effect("delete", "/home/ann/out/a.csv"), ["delete /home/ann/out/a.csv"]),
        (Effect("process", "git status"), ["process git status", "process git"]),
        (Effect("process", "git"), ["process git"]),
        (Effect("process", "ls | wc"), ["process ls | wc"]),
        (Effect("process", "python3.12 x.py"), ["process python3.12 x.py"]),
        (Effect("process", "bash"), []),
        (Effect("process", "a|b"), []),
        (Effect("process"), []),
        (Effect("process", "git\nrm x"), []),
        (Effect("install", "numpy>=2"), ["install numpy"]),
        (Effect("install", "./evil"), []),
        (Effect("environment", "LANG"), ["environment LANG"]),
        (Effect("environment", "L\u202eANG"), []),
        (Effect("environment", " "), []),
        (Effect("write", "/data/x "), []),
        (Effect("unknown", "eval"), []),
        (Effect("compute"), []),
        (Effect("read", "x.csv"), []),
    ],
)
def test_rules_are_offered_from_the_narrowest_on(effect: Effect, texts: list[str]) -> None:
    offered = proposed_rules([effect, effect])

    assert [str(rule) for rule in offered] == texts
    assert all(rule.covers(effect) for rule in offered)
    assert [parse(str(rule)) for rule in offered] == list(offered)


@given(st.text("ab./", max_size=12), st.text("ab./", max_size=12))
def test_path_rule_never_reaches_outside(top: str, path: str) -> None:
    rule, effect = Rule("write", f"/top/{top}".replace("..", "a")), Effect("write", path)

    if rule.covers(effect):
        assert path.startswith("/")
        assert ".." not in path.split("/")


GROUND = PathScope("/home/me/work", "/home/me/work/autogen_files/chat", "/home/me")


@pytest.mark.parametrize(("let", "effect", "allowed"), signed("permitted_effects.txt"))
def test_effect_is_allowed(let: str, effect: str, allowed: bool) -> None:
    pairs = [(kind, target) for kind, _, target in (each.partition(" ") for each in let.split(" | "))]
    kind, _, target = effect.partition(" ")

    assert allows([pair for pair in pairs if pair[0] != "nothing"], kind, target, GROUND) is allowed


def test_folders_are_made_above_a_permitted_path() -> None:
    assert allows([("write", "new/deep/out.csv")], "write", "/home/me/work/new", GROUND, above=True)


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
        ("[code]\nsandbox = 'jail'", "sandbox is 'jail'; it must be one of none, bwrap, docker"),
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
        parse_policy(text)

    assert said in str(refused.value)


def test_budget_as_a_number() -> None:
    assert parse_policy("[cells]\nbudget = 5").budget == "5"


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
    policy = parse_policy(WHOLE)
    NO_POLICY.check_host(host)

    if allowed:
        policy.check_host(host)
    else:
        with pytest.raises(ConfigError, match=r"does not allow models at .*; allowed: api.openai.com, "):
            policy.check_host(host)


def test_no_host_at_all() -> None:
    with pytest.raises(ConfigError, match="allowed: none"):
        parse_policy("[models]\nhosts = []").check_host("api.openai.com")


@pytest.mark.parametrize("rule", ["process bash", "process /usr/bin/python3", "process env", "process sudo"])
def test_rule_for_a_program_that_runs_any_code_has_a_warning(rule: str) -> None:
    assert parse(rule).warning
    assert not parse(f"{rule} --version").warning
