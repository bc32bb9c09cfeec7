import pytest

from autogen_nb.models.config.account import Account


def test_openai_itself_gets_the_key_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """With nothing given, the key goes to OpenAI."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")

    account = Account("openai", None, None).complete("m")

    assert (account.url, account.key) == ("https://api.openai.com/v1", "sk-of-the-environment")


def test_account_does_not_show_its_key() -> None:
    """A representation in a log or a traceback gives nothing away."""
    assert "verysecret" not in repr(Account("openai", None, "sk-verysecretkey"))
