import pytest

from autogen_nb.models.config.account import Account, is_loopback


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://localhost:11434/v1", True),
        ("http://LOCALHOST/v1", True),
        ("http://models.localhost/v1", True),
        ("http://127.0.0.1:8000", True),
        ("http://127.9.9.9", True),
        ("http://[::1]:8000/v1", True),
        ("http://192.168.0.7:8000/v1", False),
        ("https://api.openai.com/v1", False),
        ("https://localhost.example.com/v1", False),
    ],
)
def test_loopback_is_this_machine_only(url: str, expected: bool) -> None:
    """Names and addresses of this machine are told from all others."""
    assert is_loopback(url) is expected


def test_openai_itself_gets_the_key_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """With nothing given, the key goes to OpenAI."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")

    account = Account("openai", None, None).complete("m")

    assert (account.url, account.key) == ("https://api.openai.com/v1", "sk-of-the-environment")


def test_account_does_not_show_its_key() -> None:
    """A representation in a log or a traceback gives nothing away."""
    assert "verysecret" not in repr(Account("openai", None, "sk-verysecretkey"))
