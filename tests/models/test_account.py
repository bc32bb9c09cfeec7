import pytest

from autogen_nb.errors import ConfigError
from autogen_nb.models.config.account import Account, checked_key


def test_openai_itself_gets_the_key_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")

    account = Account("openai", None, None).complete("m")

    assert (account.url, account.key) == ("https://api.openai.com/v1", "sk-of-the-environment")


def test_account_does_not_show_its_key() -> None:
    assert "verysecret" not in repr(Account("openai", None, "sk-verysecretkey"))


@pytest.mark.parametrize("key", ["Bearer sk-one", "sk-one\nsk-two", "sk-\u2026"])
def test_what_no_key_can_be_is_told_without_it(key: str) -> None:
    with pytest.raises(ConfigError, match="API key holds characters that no key has") as caught:
        checked_key(key, "API key")

    assert "sk-" not in str(caught.value)
    assert checked_key(" sk-one\n", "API key") == "sk-one"
